"""CAP on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, call, result, server_call, text, user

HI = user("Hi")
ENDLESS = [{"prompt": "Hi", "script": [{"reply": {"stop_reason": "tool_use"}, "repeat": "forever"}]}]


def endless(count: int, *, wait: float = 0.0, story: Story | None = None, **limits: float) -> Story:
    """A turn of `count` requests, each answered with a tool call."""
    story = story or Story(turns=ENDLESS)
    story.turn(**limits)
    messages = [HI]
    for number in range(count):
        story.ask(messages)
        story.wait(wait)
        story.reply([call(f"toolu_{number}")], "tool_use")
        messages = [*messages, assistant([call(f"toolu_{number}")]), user([result(f"toolu_{number}")])]
    return story


def without(*names: str) -> Story:
    every = {"status", "shown", "report", "iterations", "wall_clock"}
    return Story(turns=ENDLESS, exposes=tuple(every - set(names)))


@pytest.mark.parametrize("number", range(1, 8))
def test_a_run_in_which_nothing_happened_says_nothing(number: int) -> None:
    assert Story().check(f"CAP-{number}") == []


def test_as_many_requests_as_the_cap_allows_hold() -> None:
    assert endless(3, max_iterations=3).end("capped").kinds("CAP-1") == ["held"]


def test_one_request_more_breaks_the_clause() -> None:
    [finding] = endless(4, max_iterations=3).end("capped").check("CAP-1")

    assert finding.kind == "broken"
    assert finding.request == 4


def test_retries_and_rejected_requests_are_no_iterations() -> None:
    story = endless(2, max_iterations=3)
    story.ask([HI, assistant("One.")])
    story.answer("rejected", rule="prefill")
    story.ask([HI, user("Go on")])
    story.answer("fault", 529)
    story.ask([HI, user("Go on")], retry=1)

    assert story.reply([text("Done.")]).end().kinds("CAP-1") == ["held"]


def test_a_turn_that_ends_before_the_cap_says_nothing() -> None:
    assert endless(2, max_iterations=3).end().kinds("CAP-1") != ["broken"]


def test_a_limit_the_loop_does_not_take_is_not_held_against_it() -> None:
    story = endless(10, story=without("iterations"), max_iterations=3)

    assert story.end("capped").kinds("CAP-1") == ["held"]


def test_without_a_known_cap_an_endless_script_has_to_end_all_the_same() -> None:
    assert endless(61, story=without("iterations")).overran().kinds("CAP-1") == ["broken"]


def test_a_declared_cap_counts() -> None:
    story = Story(turns=ENDLESS, exposes=("status", "iterations"), caps={"iterations": 5})

    assert endless(6, story=story, max_iterations=3).end("capped").kinds("CAP-1") == ["broken"]
    story = Story(turns=ENDLESS, exposes=("status", "iterations"), caps={"iterations": 5})
    assert endless(5, story=story, max_iterations=3).end("capped").kinds("CAP-1") == ["held"]


def test_a_report_alone_tells_of_a_cap() -> None:
    story = endless(3, max_iterations=3).report("stopped after 3 requests").end("completed", shown=[])

    assert story.kinds("CAP-2") == ["held"]


@pytest.mark.parametrize("status", ["capped", "failed"])
def test_a_status_tells_of_a_cap(status: str) -> None:
    assert endless(3, max_iterations=3).end(status).kinds("CAP-2") == ["held"]


def test_a_string_that_says_so_tells_of_a_cap() -> None:
    story = endless(3, story=without("status", "report"), max_iterations=3)

    assert story.returns("Stopped after three steps.").kinds("CAP-2") == ["held"]


@pytest.mark.parametrize("shown", [[], [""]])
def test_a_silent_cap_is_found(shown: list[str]) -> None:
    assert endless(3, max_iterations=3).end("completed", shown=shown).kinds("CAP-2") == ["broken"]


def test_an_exception_tells_of_a_cap() -> None:
    assert endless(3, max_iterations=3).raises("TooManySteps").kinds("CAP-2") == ["held"]


def test_an_answer_in_the_last_request_allowed_is_a_finished_answer() -> None:
    story = endless(2, max_iterations=3)
    story.ask([HI])

    assert story.reply([text("Done.")]).end("completed").check("CAP-2") == []


def test_a_cancelled_turn_was_not_ended_by_its_cap() -> None:
    assert endless(3, max_iterations=3).cancel().end("cancelled").check("CAP-2") == []


def test_a_request_after_the_deadline_breaks_the_clause() -> None:
    [finding] = endless(4, wait=0.5, wall_clock=1.0).end("capped").check("CAP-3")

    assert finding.kind == "broken"
    assert finding.request == 4


def test_a_request_within_the_slack_and_the_lateness_holds() -> None:
    assert endless(3, wait=0.55, wall_clock=1.0).end("capped").kinds("CAP-3") == ["held"]


def test_the_first_request_is_made_whatever_the_budget() -> None:
    story = Story(turns=ENDLESS)
    story.turn(wall_clock=0.1)
    story.wait(1.0)
    story.ask([HI])
    story.reply([call("toolu_1")], "tool_use")

    assert story.end("capped").kinds("CAP-3") == ["held"]


def test_a_budget_the_loop_does_not_take_is_not_judged() -> None:
    assert endless(4, wait=0.5, story=without("wall_clock"), wall_clock=1.0).end().check("CAP-3") == []


def test_running_out_of_time_is_told() -> None:
    assert endless(2, wait=0.6, wall_clock=1.0).report("out of time").end().kinds("CAP-4") == ["held"]
    assert endless(2, wait=0.6, wall_clock=1.0).end("capped").kinds("CAP-4") == ["held"]


def test_running_out_of_time_in_silence_is_found() -> None:
    assert endless(2, wait=0.6, wall_clock=1.0).end("completed", shown=[]).kinds("CAP-4") == ["broken"]


def test_an_answer_given_up_on_counts_as_out_of_time() -> None:
    story = Story(turns=ENDLESS)
    story.turn(wall_clock=1.0)
    story.ask([HI])
    story.wait(1.1)
    story.reply([text("Done.")], whole=False, by="client")

    assert story.end("completed", shown=[]).kinds("CAP-4") == ["broken"]


def test_a_slow_turn_that_came_to_its_end_says_nothing() -> None:
    story = endless(1, wait=0.6, wall_clock=1.0)
    story.ask([HI])
    story.wait(0.6)

    assert story.reply([text("Done.")]).end("completed").check("CAP-4") == []


def test_time_that_is_up_first_wins_over_iterations_left() -> None:
    [finding] = endless(4, wait=0.5, wall_clock=1.0, max_iterations=10).end("capped").check("CAP-5")

    assert finding.kind == "broken"
    assert "1 s come first" in finding.expected


def test_iterations_used_up_first_win_over_time_left() -> None:
    [finding] = endless(4, wall_clock=10.0, max_iterations=3).end("capped").check("CAP-5")

    assert finding.kind == "broken"
    assert "3 requests come first" in finding.expected


@pytest.mark.parametrize(("count", "wait", "seconds"), [(3, 0.0, 10.0), (2, 0.6, 1.0)])
def test_whichever_cap_comes_first_ends_the_turn(count: int, wait: float, seconds: float) -> None:
    story = endless(count, wait=wait, wall_clock=seconds, max_iterations=3)

    assert story.end("capped").kinds("CAP-5") == ["held"]


def test_one_cap_alone_says_nothing_about_both() -> None:
    assert endless(4, max_iterations=3).end("capped").check("CAP-5") == []


def test_paused_turns_count_as_well() -> None:
    story = Story(turns=ENDLESS)
    story.turn(max_iterations=2)
    for number in range(3):
        story.ask([HI, assistant(f"Part {number}.")])
        story.reply([text(f"Part {number + 1}."), server_call(f"srvtoolu_{number}")], "pause_turn")

    assert story.end("completed", shown=[]).kinds("CAP-1") == ["broken"]
    assert story.kinds("CAP-2") == ["broken"]


def mixed(*reasons: str, **limits: float) -> Story:
    story = Story(turns=ENDLESS)
    story.turn(**limits)
    for number, reason in enumerate(reasons):
        story.ask([HI, assistant(f"Part {number}.")])
        call_of = server_call if reason == "pause_turn" else call
        story.reply([call_of(f"toolu_{number}")], reason)
    return story.end("capped")


def test_a_pause_that_is_not_counted_is_found() -> None:
    [finding] = mixed("pause_turn", "tool_use", "tool_use", max_iterations=2).check("CAP-7")

    assert finding.kind == "broken"
    assert finding.request == 3
    assert "1 had paused" in finding.happened
    [finding] = mixed("pause_turn", *["tool_use"] * 3, max_iterations=3).check("CAP-7")
    assert "1 had paused" in finding.happened


def test_pauses_and_tools_that_make_up_the_cap_hold() -> None:
    assert mixed("tool_use", "pause_turn", max_iterations=2).kinds("CAP-7") == ["held"]
    [finding] = mixed("tool_use", "pause_turn", "tool_use", max_iterations=3).check("CAP-7")
    assert (finding.kind, finding.request) == ("held", 3)


def test_turns_of_one_kind_or_below_the_cap_say_nothing_of_both() -> None:
    assert mixed("tool_use", "tool_use", "tool_use", max_iterations=2).check("CAP-7") == []
    assert mixed("tool_use", "pause_turn", max_iterations=3).check("CAP-7") == []
    assert mixed("tool_use", "pause_turn", "tool_use").check("CAP-7") == []


def test_a_loop_that_shows_and_tells_nothing_leaves_open_whether_it_said_so() -> None:
    def story() -> Story:
        return endless(3, story=without("status", "shown", "report"), max_iterations=3)

    assert story().end(None).kinds("CAP-2") == ["unclear"]
    assert story().end("completed").kinds("CAP-2") == ["broken"]


def test_the_second_request_may_be_late_already() -> None:
    [finding] = endless(2, wait=1.6, wall_clock=1.0).end("capped").check("CAP-3")

    assert (finding.kind, finding.request) == ("broken", 2)
