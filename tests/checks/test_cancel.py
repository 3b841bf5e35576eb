"""CANCEL on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.histories import Story, assistant, call, result, text, user

HI = user("Hi")
CALLS = [call("toolu_1", "slow"), call("toolu_2", "write")]
BACK = [HI, assistant(CALLS), user([result("toolu_1"), result("toolu_2", "not run", is_error=True)])]


def cancelled_at_request() -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    story.cancel("request 1")
    return story.reply(CALLS, "tool_use")


def cancelled_in_tool(*, ends_after: float = 0.1) -> Story:
    """Cancelled while `slow` runs, which it does for `ends_after` more seconds."""
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLS, "tool_use")
    story.tool("slow", ends=False)
    story.cancel("tool slow")
    story.wait(ends_after)
    return story.ends_tool()


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_run_in_which_nothing_happened_says_nothing(number: int) -> None:
    assert Story().check(f"CANCEL-{number}") == []


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_turn_that_nobody_cancelled_says_nothing(number: int) -> None:
    story = Story()
    story.turn()
    story.ask([HI])

    assert story.reply([text("Done.")]).end().check(f"CANCEL-{number}") == []


def test_the_request_at_which_it_is_cancelled_came_before() -> None:
    assert cancelled_at_request().end("cancelled").kinds("CANCEL-1") == ["held"]


@pytest.mark.parametrize(("seconds", "kind"), [(0.05, "held"), (0.6, "broken")])
def test_that_a_client_has_left_takes_a_moment_to_be_known(seconds: float, kind: str) -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.cancel("request 1", via="hangup")
    story.reply(CALLS, "tool_use")
    story.wait(seconds)
    story.ask(BACK)

    assert story.reply([text("Done.")]).end(None).kinds("CANCEL-1") == [kind]


def test_one_more_request_breaks_the_clause() -> None:
    story = cancelled_at_request()
    story.ask(BACK)
    [finding] = story.reply([text("Done.")]).end("cancelled").check("CANCEL-1")

    assert finding.kind == "broken"
    assert finding.request == 2


@pytest.mark.parametrize(("via", "kind"), [("flag", "broken"), ("asyncio", "broken"), ("signal", "unclear")])
def test_a_request_made_while_a_signal_is_on_its_way_tells_nothing(via: str, kind: str) -> None:
    def story(later: float) -> Story:
        told = Story()
        told.turn()
        told.ask([HI])
        told.cancel("request 1", via)
        told.reply(CALLS, "tool_use").wait(later)
        told.ask(BACK)
        return told.reply([text("Done.")]).end("cancelled")

    assert story(0.0).kinds("CANCEL-1") == [kind]
    assert story(1.0).kinds("CANCEL-1") == ["broken"]


@pytest.mark.parametrize(("ends", "kind"), [(True, "unclear"), (False, "broken")])
def test_a_tool_that_was_cut_off_shows_that_the_signal_was_there(ends: bool, kind: str) -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLS, "tool_use").tool("look", ends=False).cancel("tool look", "interrupt")
    if ends:
        story.ends_tool()
    story.ask(BACK)

    assert story.reply([text("Done.")]).end("completed").kinds("CANCEL-1") == [kind]


def test_a_turn_cancelled_at_its_start_makes_no_request() -> None:
    story = Story()
    story.turn()
    story.cancel("start")
    assert story.end("cancelled").kinds("CANCEL-1") == ["held"]

    story = Story()
    story.turn()
    story.cancel("start")
    story.ask([HI])
    assert story.reply([text("Done.")]).end().kinds("CANCEL-1") == ["broken"]


def test_a_retry_of_the_client_and_a_side_call_are_no_new_request() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.cancel("request 1")
    story.answer("fault", 529)
    story.ask([HI], retry=1)
    story.reply([text("Done.")])
    story.ask([user("A title, please")], lane="side")
    story.answer("side", 200)

    assert story.end("cancelled").kinds("CANCEL-1") == ["held"]


def test_tools_that_are_skipped_hold() -> None:
    assert cancelled_in_tool().end("cancelled").kinds("CANCEL-3") == ["held"]


def test_a_tool_started_after_the_cancellation_breaks_the_clause() -> None:
    [finding] = cancelled_in_tool().tool("write").end("cancelled").check("CANCEL-3")

    assert (finding.kind, finding.evidence) == ("broken", "hook")
    assert "write" in finding.happened


def test_tools_that_run_side_by_side_start_together() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLS, "tool_use")
    story.tool("slow", ends=False).cancel("tool slow").tool("write").wait(0.1).ends_tool(1)

    assert story.end("cancelled").kinds("CANCEL-3") == ["held"]


def test_a_running_tool_may_finish_before_the_outcome() -> None:
    assert cancelled_in_tool(ends_after=3.0).end("cancelled").kinds("CANCEL-3") == ["held"]


def test_an_outcome_that_takes_its_time_is_found() -> None:
    assert cancelled_in_tool().wait(2.0).end("cancelled").kinds("CANCEL-3") == ["broken"]


def test_a_tool_that_never_returns_says_nothing_about_the_loop() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLS, "tool_use")
    story.tool("slow", ends=False)
    story.cancel("tool slow").wait(10)

    assert story.overran().kinds("CANCEL-3") == ["unclear"]


def test_the_status_cancelled_holds() -> None:
    assert cancelled_at_request().end("cancelled").kinds("CANCEL-4") == ["held"]


@pytest.mark.parametrize("status", ["completed", "failed", "capped"])
def test_another_status_is_found(status: str) -> None:
    assert cancelled_at_request().end(status).kinds("CANCEL-4") == ["broken"]


def test_an_exception_has_to_stand_for_it() -> None:
    [finding] = cancelled_at_request().raises("Stopped").check("CANCEL-4")

    assert finding.kind == "broken"
    assert "raises: {Stopped: cancelled}" in finding.advice

    story = Story(raises={"Stopped": "cancelled"})
    story.turn()
    story.ask([HI])
    story.cancel().reply(CALLS, "tool_use").raises("Stopped")
    assert story.kinds("CANCEL-4") == ["held"]


def test_a_turn_that_ended_by_itself_meanwhile_cannot_be_told() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.cancel().reply([text("Done.")])

    assert story.end("completed").kinds("CANCEL-4") == ["unclear"]


def next_turn() -> Story:
    return cancelled_in_tool().end("cancelled").turn("More")


def test_a_next_turn_that_is_answered_holds() -> None:
    story = next_turn()
    story.ask([*BACK, user("More")])

    assert story.reply([text("Right.")]).end().kinds("CANCEL-5") == ["held"]


def test_a_next_turn_that_is_rejected_is_found() -> None:
    story = next_turn()
    story.ask([HI, assistant(CALLS), user("More")])
    story.answer("rejected", rule="unanswered", body={"error": {"message": "`tool_use` ids"}})
    [finding] = story.end("failed").check("CANCEL-5")

    assert finding.kind == "broken"
    assert "`tool_use` ids" in finding.happened


def test_a_next_turn_that_is_cancelled_before_it_begins_is_found() -> None:
    assert next_turn().end("cancelled").kinds("CANCEL-5") == ["broken"]


def test_without_a_next_turn_there_is_nothing_to_say() -> None:
    assert cancelled_in_tool().end("cancelled").check("CANCEL-5") == []


def cancelled_in_stream(via: str = "flag", **declaration: Any) -> Story:
    story = Story(**declaration)
    story.turn()
    story.ask([HI])
    story.answered([text("A long")])
    return story.cancel("event 3", via)


def test_a_stream_that_is_left_at_once_is_let_go() -> None:
    story = cancelled_in_stream().breaks("client")
    assert story.end("cancelled").kinds("CANCEL-2") == ["held"]


def test_a_stream_that_is_read_to_its_end_is_not() -> None:
    story = cancelled_in_stream().wait(2)
    [finding] = story.delivered().end("cancelled").check("CANCEL-2")

    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert "let it come to its end" in finding.happened


def test_it_is_a_must_where_the_loop_says_at_once() -> None:
    story = cancelled_in_stream(policies={"cancel": "at_once"}).wait(2)
    [finding] = story.delivered().end("cancelled").check("CANCEL-2")

    assert finding.level == "MUST"


def test_a_stream_that_was_over_anyway_tells_nothing() -> None:
    assert cancelled_in_stream().delivered().end("cancelled").kinds("CANCEL-2") == ["unclear"]


def test_who_waits_for_a_whole_reply_cannot_see_a_flag() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.cancel("first byte 1")
    story.wait(2)

    assert story.reply([text("Done.")]).end("cancelled").check("CANCEL-2") == []


def test_an_exception_reaches_who_waits_for_a_whole_reply() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.cancel("first byte 1", "interrupt")
    story.wait(2)

    assert story.reply([text("Done.")]).end("cancelled").kinds("CANCEL-2") == ["broken"]


def failed_and_cancelled() -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    story.answer("fault", 529)
    return story.cancel("retry")


def test_a_failed_request_is_given_up_when_the_turn_is_cancelled() -> None:
    assert failed_and_cancelled().end("cancelled").kinds("CANCEL-2") == ["held"]


def test_a_failed_request_that_is_sent_again_was_not_given_up() -> None:
    story = failed_and_cancelled()
    story.ask([HI], retry=1)
    [finding] = story.reply([text("Done.")]).end("cancelled").check("CANCEL-2")

    assert finding.kind == "broken"
    assert "sent again" in finding.happened


def test_a_wait_that_is_slept_to_its_end_was_not_given_up() -> None:
    story = failed_and_cancelled().wait(3)
    assert story.end("cancelled").kinds("CANCEL-2") == ["broken"]


def test_a_tool_that_starts_when_another_has_returned_and_the_turn_was_cancelled_breaks_the_clause() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLS, "tool_use")
    story.tool("slow")
    story.cancel("after tool slow")
    assert story.tool("write").end("cancelled").kinds("CANCEL-3") == ["broken"]


def test_python_s_own_exceptions_say_cancelled() -> None:
    for kind in ("KeyboardInterrupt", "CancelledError"):
        story = cancelled_in_stream("interrupt").breaks("client").raises(kind)
        assert story.kinds("CANCEL-4") == ["held"]


def test_a_tool_started_while_a_signal_is_on_its_way_tells_nothing() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLS, "tool_use").tool("slow", ends=False).cancel("tool slow", "signal").ends_tool()

    assert story.tool("write").end("cancelled").kinds("CANCEL-3") == ["unclear"]


def test_a_turn_without_an_outcome_leaves_open_how_long_it_took() -> None:
    assert cancelled_in_tool().kinds("CANCEL-3") == ["unclear"]
    assert cancelled_in_tool().check("CANCEL-4") == []


def test_an_outcome_without_a_status_does_not_say_cancelled_or_anything_else() -> None:
    assert cancelled_in_tool().end(None).kinds("CANCEL-4") == ["unclear"]


def test_what_a_cancelled_turn_ended_as_is_compared_with_its_last_reply() -> None:
    def ended(status: str, reason: str, *, more: bool = False) -> list[str]:
        story = Story()
        story.turn()
        story.ask([HI])
        story.cancel().reply([text("Done.")], reason)
        if more:
            story.ask([HI, user("More")])
        return story.end(status).kinds("CANCEL-4")

    assert ended("failed", "end_turn") == ["broken"]
    assert ended("failed", "max_tokens") == ["unclear"]
    assert ended("completed", "tool_use") == ["broken"]
    assert ended("completed", "end_turn", more=True) == ["broken"]


def test_a_next_turn_that_asks_and_is_cancelled_all_the_same_is_found() -> None:
    story = next_turn()
    story.ask([*BACK, user("More")])
    [finding] = story.reply([text("Right.")]).end("cancelled").check("CANCEL-5")

    assert (finding.kind, finding.happened) == ("broken", "It ended as cancelled.")


def test_a_next_turn_that_is_cancelled_by_its_user_or_never_ended_says_nothing() -> None:
    assert next_turn().cancel("start").end("cancelled").check("CANCEL-5") == []
    assert next_turn().check("CANCEL-5") == []


def test_what_happens_when_the_turn_is_over_is_no_cancellation() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("Done.")]).end().cancel("end")

    assert [story.check(f"CANCEL-{number}") for number in range(1, 6)] == [[]] * 5


def test_of_two_tools_that_never_return_the_first_is_named() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLS, "tool_use").tool("slow", ends=False).tool("write", ends=False)
    [finding] = story.cancel("tool slow").wait(10).overran().check("CANCEL-3")

    assert finding.happened == "slow was still running at the deadline"
