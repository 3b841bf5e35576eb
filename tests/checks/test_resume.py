"""RESUME on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import ALL, Json, Story, assistant, call, result, text, user

KEY = "chat:checkpoint:"
CALL = call("toolu_1")
ASKED = [user("Hi")]
CALLED = [*ASKED, assistant([CALL])]
TOLD = [*CALLED, user([result("toolu_1")])]
USED: Json = {"input_tokens": 10, "output_tokens": 5}
NOTHING: list[str] = []


def called(**declaration: object) -> Story:
    """A turn whose first reply calls a tool, and is in the checkpoint."""
    story = Story(**declaration).turn()
    story.ask(ASKED)
    return story.reply([CALL], "tool_use", usage=USED).store(KEY)


def answered(story: Story, messages: list[Json] = TOLD) -> Story:
    """The rest of the turn."""
    story.ask(messages)
    return story.reply([text("Done.")], usage=USED)


def test_a_rerun_that_extends_what_was_answered_is_right() -> None:
    story = answered(called().crash().again().tool()).end()
    assert story.kinds("RESUME-1") == ["held"]


def test_a_rerun_that_asks_the_same_again_is_found() -> None:
    story = called().crash().again()
    story.ask(ASKED)
    finding = story.check("RESUME-1")[0]
    assert finding.kind == "broken"
    assert finding.request == 2


def test_what_no_checkpoint_was_written_after_may_be_asked_again() -> None:
    story = Story().turn().store(KEY)
    story.ask(ASKED)
    story.reply([CALL], "tool_use").crash().again()
    story.ask(ASKED)
    assert story.reply([CALL], "tool_use").kinds("RESUME-1") == NOTHING


def test_asking_after_the_last_reply_is_found() -> None:
    story = Story().turn()
    story.ask(ASKED)
    story.reply([text("Done.")]).store(KEY).crash().again()
    story.ask(ASKED)
    assert story.kinds("RESUME-1") == ["broken"]


def test_ending_with_the_last_reply_is_right() -> None:
    story = Story().turn()
    story.ask(ASKED)
    story.reply([text("Done.")]).store(KEY).crash().again().end()
    assert story.kinds("RESUME-1") == ["held"]


def test_a_tool_of_a_reply_nothing_remembers_is_a_warning() -> None:
    story = Story().turn().store(KEY)
    story.ask(ASKED)
    (finding,) = story.reply([CALL], "tool_use").tool().crash().again().check("RESUME-1")
    assert (finding.kind, finding.level) == ("broken", "SHOULD")


def test_a_checkpoint_that_was_there_before_the_tool_and_is_gone_is_no_warning() -> None:
    story = called().tool().forget(KEY).crash("done", keys=()).again()
    assert story.kinds("RESUME-1") == NOTHING


def test_a_turn_that_was_not_killed_is_not_judged() -> None:
    story = answered(called().tool()).end()
    for clause in ("RESUME-1", "RESUME-2", "RESUME-3", "RESUME-5", "RESUME-6"):
        assert story.check(clause) == []


def test_a_tool_whose_result_is_remembered_runs_once() -> None:
    done = called().tool().store(KEY).crash()
    assert answered(done.again()).end().kinds("RESUME-2") == ["held"]


def test_a_tool_that_runs_again_is_found() -> None:
    done = called().tool().store(KEY).crash()
    assert answered(done.again().tool()).end().kinds("RESUME-2") == ["broken"]


def test_a_call_the_model_makes_twice_may_run_twice() -> None:
    story = called().tool().store(KEY).crash().again()
    story.ask(TOLD)
    story.reply([call("toolu_2")], "tool_use").tool()
    again = [*TOLD, assistant([call("toolu_2")]), user([result("toolu_2")])]
    assert answered(story, again).end().kinds("RESUME-2") == ["held"]


ERROR = [*CALLED, user([result("toolu_1", "interrupted", is_error=True)])]


@pytest.mark.parametrize(
    ("policy", "repeats", "messages", "kind"),
    [
        (None, True, TOLD, "held"),
        (None, False, ERROR, "held"),
        (None, False, TOLD, "broken"),
        ("repeat", True, TOLD, "held"),
        ("repeat", False, ERROR, "broken"),
        ("answer", False, ERROR, "held"),
        ("answer", True, TOLD, "broken"),
    ],
)
def test_a_tool_that_was_running_is_dealt_with_as_declared(
    policy: str | None, repeats: bool, messages: list[Json], kind: str
) -> None:
    policies = {"on_crash": policy} if policy else {}
    story = called(policies=policies).tool(ends=False).crash().again()
    if repeats:
        story.tool()
    assert answered(story, messages).end().kinds("RESUME-2") == [kind]


def test_totals_of_both_runs_are_right() -> None:
    story = answered(called().tool().store(KEY).crash().again())
    story.usage(2, input_tokens=20, output_tokens=10).publish(done=True).end()
    assert story.kinds("RESUME-3") == ["held"]


@pytest.mark.parametrize("tokens", [10, 30])
def test_totals_of_half_a_turn_or_more_than_one_are_found(tokens: int) -> None:
    story = answered(called().tool().store(KEY).crash().again())
    assert story.usage(2, input_tokens=tokens, output_tokens=10).end().kinds("RESUME-3") == ["broken"]


def test_a_lost_reply_may_be_counted_or_not() -> None:
    for tokens in (10, 20):
        story = Story().turn().store(KEY)
        story.ask(ASKED)
        story.reply([text("Done.")], usage=USED).crash().again()
        story.ask(ASKED)
        story.reply([text("Done.")], usage=USED).usage(1, input_tokens=tokens).end()
        assert story.kinds("RESUME-3") == ["held"]


def test_done_in_both_runs_is_found_where_the_new_process_could_know() -> None:
    story = answered(called().tool()).publish(done=True).store(KEY).crash("done")
    assert story.again().publish(done=True).end().kinds("RESUME-3") == ["broken"]


def test_done_may_come_again_where_nothing_remembers_it() -> None:
    story = answered(called().tool()).store(KEY).publish(done=True).crash("done")
    story.again().publish(done=True).end()
    assert story.kinds("RESUME-3") == NOTHING
    assert story.kinds("CLEAN-4") == ["held"]


def test_a_new_message_that_is_asked_about_is_right() -> None:
    story = called().crash().turn("And now?")
    story.ask([*ASKED, user("And now?")])
    assert story.kinds("RESUME-5") == ["held"]


def test_a_new_message_that_is_answered_with_the_old_turn_is_found() -> None:
    story = called().crash().turn("And now?")
    story.ask(TOLD)
    assert story.kinds("RESUME-5") == ["broken"]


def test_a_new_message_nobody_asks_about_is_found() -> None:
    assert called().crash().turn("And now?").end().kinds("RESUME-5") == ["broken"]


def test_a_cancel_before_the_rerun_holds() -> None:
    story = called().crash().cancel("crash").again().end("cancelled")
    assert story.kinds("RESUME-6") == ["held"]


def test_a_rerun_that_asks_although_it_was_cancelled_is_found() -> None:
    story = answered(called().crash().cancel("crash").again())
    assert story.kinds("RESUME-6") == ["broken"]


def beside(*details: str) -> Story:
    """A second worker is given the turn."""
    story = Story(exposes=(*ALL, "claim"))
    story.turn()
    story.ask([user("Hi")])
    for detail in details:
        story.noted("rival", detail)
    return story.reply([text("Hello.")]).end()


def test_a_tool_that_was_tried_again_before_the_crash_ran_once_more_and_not_twice() -> None:
    story = called()
    story.tool(error="busy").tool(error="busy").store(KEY).crash("tool look kept").again()
    story.ask([*CALLED, user([result("toolu_1", "busy", is_error=True)])])

    assert story.reply([text("Busy.")]).end().kinds("RESUME-2") == ["held"]


def test_a_second_worker_that_leaves_the_turn_alone_holds() -> None:
    assert beside("began", "was told no", "ended", "stopped").kinds("RESUME-4") == ["held"]
    assert beside("began", "was told no", "stopped").kinds("RESUME-4") == ["held"]


def test_a_second_worker_that_asks_the_provider_is_found() -> None:
    [finding] = beside("began", "took the turn", "asked the provider", "stopped").check("RESUME-4")

    assert finding.kind == "broken"
    assert "0.02 s after it had begun" in finding.happened


def test_a_second_worker_that_could_not_start_leaves_it_open() -> None:
    assert beside("began", "lost: the process died", "stopped").kinds("RESUME-4") == ["unclear"]


def test_a_turn_with_one_worker_says_nothing() -> None:
    assert beside().check("RESUME-4") == []


def test_after_a_reply_that_was_cut_the_rerun_may_do_as_it_likes() -> None:
    story = Story().turn()
    story.ask(ASKED)
    story.reply([text("Half")], "max_tokens").store(KEY).crash().again()
    story.ask(ASKED)

    assert story.reply([text("Done.")]).end().kinds("RESUME-1") == NOTHING


def test_a_rerun_without_a_request_is_right_only_where_none_was_due() -> None:
    assert called().crash().again().end().kinds("RESUME-1") == NOTHING
    assert called().crash().cancel("crash").again().end("cancelled").kinds("RESUME-1") == ["held"]


def test_a_tool_that_was_running_for_a_reply_nothing_remembers_is_not_asked_after() -> None:
    story = Story().turn().store(KEY)
    story.ask(ASKED)
    story.reply([CALL], "tool_use").tool(ends=False).crash().again()
    story.ask(ASKED)

    assert story.reply([text("Done.")]).end().kinds("RESUME-2") == NOTHING


def test_a_call_that_is_never_answered_leaves_it_open() -> None:
    def story() -> Story:
        return called().tool(ends=False).crash().again()

    assert story().end("failed").kinds("RESUME-2") == ["unclear"]
    assert story().overran().kinds("RESUME-2") == NOTHING
    assert story().cancel().end("cancelled").kinds("RESUME-2") == NOTHING
    assert answered(story(), CALLED).end().kinds("RESUME-2") == NOTHING


def test_both_runs_are_counted_only_where_the_second_ended() -> None:
    assert answered(called().tool().store(KEY).crash().again()).kinds("RESUME-3") == NOTHING


def test_a_next_message_after_a_turn_that_was_played_again_is_not_about_its_checkpoint() -> None:
    story = answered(called().crash().again().tool()).end().turn("And now?")
    story.ask(TOLD)

    assert story.kinds("RESUME-5") == NOTHING


def test_a_next_turn_that_was_cancelled_or_never_ended_need_not_ask() -> None:
    assert called().crash().turn("And now?").cancel("start").end("cancelled").kinds("RESUME-5") == NOTHING
    assert called().crash().turn("And now?").kinds("RESUME-5") == NOTHING


def test_a_cancel_of_another_moment_is_none_of_a_rerun_that_was_cancelled_before() -> None:
    assert answered(called().crash().again().cancel("request 2")).kinds("RESUME-6") == NOTHING
    assert called().crash().cancel("crash").again().kinds("RESUME-6") == NOTHING


def test_a_later_reply_that_nothing_remembers_is_a_warning_beside_an_earlier_one_that_is_kept() -> None:
    story = called().tool()
    story.ask(TOLD)
    story.reply([call("toolu_2", "other")], "tool_use").tool("other").crash()
    findings = [one for one in story.check("RESUME-1") if one.kind == "broken"]

    assert [(one.level, one.request) for one in findings] == [("SHOULD", 2)]
