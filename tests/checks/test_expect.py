"""EXPECT on histories written by hand: what the scenario says, never harsher than a loop's choices."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks.base import Finding
from tests.checks.histories import Story, assistant, call, result, text, user

HI = user("Hi")


def told(expect: dict[str, Any], *, limits: dict[str, float] | None = None, **story: Any) -> Story:
    written = Story(expect=expect, **story)
    written.turn(**(limits or {}))
    written.ask([HI])
    return written


def levels(findings: list[Finding]) -> list[tuple[str, str | None]]:
    return [(one.kind, one.level) for one in findings]


def test_a_scenario_that_expects_nothing_judges_nothing() -> None:
    assert told({}).reply([text("Hello.")]).end().check("EXPECT") == []


@pytest.mark.parametrize(("count", "kind"), [(1, "held"), (2, "broken")])
def test_requests_are_counted(count: int, kind: str) -> None:
    assert told({"requests": count}).reply([text("Hello.")]).end().kinds("EXPECT") == [kind]


def test_retries_and_side_calls_are_not_counted() -> None:
    story = told({"requests": 1})
    story.answer("fault", 529)
    story.ask([HI], retry=1)
    story.reply([text("Hello.")])
    story.ask([user("A title")], lane="side")

    assert story.answer("side", 200).end().kinds("EXPECT") == ["held"]


def test_the_status_is_one_of_those_expected() -> None:
    def status(told_status: str | None, expected: object, **story: Any) -> list[str]:
        return told({"status": expected}, **story).reply([text("A")]).end(told_status).kinds("EXPECT")

    assert status("completed", "completed") == ["held"]
    assert status("capped", ["failed", "capped"]) == ["held"]
    assert status("failed", "completed") == ["broken"]
    assert status(None, "completed") == ["broken"]
    assert status(None, "completed", exposes=("shown",)) == []


def test_an_exception_that_may_be_meant_leaves_open_whether_the_status_is_the_expected_one() -> None:
    story = told({"status": "truncated"}).reply([text("Half")], "max_tokens")
    [finding] = story.raises("MaxTokensReached").check("EXPECT")

    assert finding.kind == "unclear"
    assert "raises: {MaxTokensReached: truncated}" in finding.happened


def test_a_slip_where_another_status_is_expected_is_found() -> None:
    story = told({"status": "refused"}).reply([], "refusal")
    [finding] = story.raises("IndexError", bases=("LookupError", "Exception")).check("EXPECT")

    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert "raises: {IndexError: refused}" in finding.advice


def test_a_declared_exception_has_its_status() -> None:
    story = told({"status": "truncated"}, raises={"MaxTokensReached": "truncated"})
    story.reply([text("Half")], "max_tokens")

    assert story.raises("MaxTokensReached").kinds("EXPECT") == ["held"]


def test_an_exception_where_the_turn_should_have_completed_is_found() -> None:
    story = told({"status": "completed"}).reply([text("A")])

    assert levels(story.raises().check("EXPECT")) == [("broken", None)]


@pytest.mark.parametrize(
    "shown",
    [["First.", "Second."], ["First.Second."], ["Before. First.\n\nSecond."], ["First.", "...", "Second.\n"]],
)
def test_an_answer_may_have_any_separator_and_text_before_it(shown: list[str]) -> None:
    story = told({"answer": ["First.", "Second."]}).reply([text("First."), text("Second.")])

    assert story.end(shown=shown).kinds("EXPECT") == ["held"]


@pytest.mark.parametrize("shown", [["Second.", "First."], ["First."], [], ["First.", "Second.", "First."]])
def test_an_answer_out_of_order_incomplete_or_twice_is_found(shown: list[str]) -> None:
    story = told({"answer": ["First.", "Second."]}).reply([text("First."), text("Second.")])

    assert story.end(shown=shown).kinds("EXPECT") == ["broken"]


def test_an_answer_is_not_judged_where_nothing_is_shown_to_us() -> None:
    story = told({"answer": ["First."]}, exposes=("status",)).reply([text("First.")])

    assert story.end().check("EXPECT") == []


def test_what_is_shown_besides_is_found_in_a_list_only() -> None:
    def shown() -> Story:
        return told({"shown": ["First."]}).reply([text("First.")])

    assert shown().end(shown=["First."]).kinds("EXPECT") == ["held"]
    assert shown().end(shown=["First.", {"content": "Oops.", "is_error": True}]).kinds("EXPECT") == ["held"]
    assert shown().end(shown=["First.", "Bye."]).kinds("EXPECT") == ["broken"]
    assert shown().end(shown=[]).kinds("EXPECT") == ["broken"]
    assert shown().returns("First. Bye.").check("EXPECT") == []


def test_an_earlier_text_need_not_be_shown() -> None:
    story = told({"shown": ["Looking.", "Done."]}).reply([text("Done.")])

    assert story.end(shown=["Done."]).kinds("EXPECT") == ["held"]


def with_tool(expect: dict[str, Any], **story: Any) -> Story:
    written = told(expect, **story).reply([call("toolu_1")], "tool_use").tool()
    written.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])])
    return written.reply([text("Done.")])


def test_tool_runs_are_counted_where_the_tools_are_ours() -> None:
    assert with_tool({"tools": {"look": 1}}).end().kinds("EXPECT") == ["held"]
    assert with_tool({"tools": {"look": 2}}).end().kinds("EXPECT") == ["broken"]
    assert with_tool({"tools": {"look": 2}}, tools="own").end().check("EXPECT") == []
    assert with_tool({"tools": {"look": 2}}, exposes=()).end().check("EXPECT") == []


WRONG = {"requests": 9, "status": "refused"}


def test_limits_the_loop_does_not_take_change_its_course() -> None:
    def capped(exposes: tuple[str, ...]) -> list[str]:
        story = told(WRONG, limits={"max_iterations": 3}, exposes=exposes)
        return story.reply([text("A")]).end().kinds("EXPECT")

    assert capped(()) == ["note"]
    assert capped(("iterations", "status")) == ["broken"]


def test_a_cap_of_the_loops_own_changes_its_course() -> None:
    story = told(WRONG, exposes=("status", "iterations"), caps={"iterations": 1})

    assert story.reply([call("toolu_1")], "tool_use").end("capped").kinds("EXPECT") == ["note"]


def test_a_cap_of_the_loops_own_stands_in_place_of_the_scenarios() -> None:
    def story(**caps: float) -> Story:
        limits = {"wall_clock": 2.0}
        return (
            told(WRONG, limits=limits, exposes=("status", "wall_clock"), caps=caps).reply([text("A")]).end()
        )

    assert story(wall_clock=100).kinds("EXPECT") == ["note"]
    assert story(wall_clock=2).kinds("EXPECT") == ["broken"]
    assert story(iterations=8).kinds("EXPECT") == ["broken"]


def test_a_loop_that_cannot_be_cancelled_takes_its_own_course() -> None:
    story = told(WRONG, exposes=("status",)).reply([text("A")]).cancel()

    assert story.end().kinds("EXPECT") == ["note"]


@pytest.mark.parametrize(
    ("stop_reason", "content"), [("max_tokens", "Half"), ("refusal", "No"), ("end_turn", "")]
)
def test_a_loop_that_rightly_went_on_takes_its_own_course(stop_reason: str, content: str) -> None:
    story = told(WRONG).reply([text(content)] if content else [], stop_reason)
    story.ask([HI, user("Go on.")])

    assert story.reply([text("Done.")]).end().kinds("EXPECT") == ["note"]


def test_a_loop_that_fails_with_its_tool_takes_its_own_course() -> None:
    story = told(WRONG).reply([call("toolu_1")], "tool_use").tool(error="disk full")

    assert story.raises("ToolError").kinds("EXPECT") == ["note"]


def test_a_turn_whose_loop_was_not_killed_as_scripted_took_another_course() -> None:
    crash = {"after": ["tool look kept"], "then": "cancel"}
    turn = {"prompt": "Hi", "script": [], "crash": crash, "expect": {"status": "cancelled"}}
    story = Story(turns=[turn])
    story.turn()
    story.ask([HI])

    assert story.reply([text("A")]).end("completed").kinds("EXPECT") == ["note"]


ONCE = {"status": ["completed", "failed"]}


def failing(times: int, *, policy: str | None = "retry", status: int = 529, **limits: float) -> Story:
    declared = {"policies": {"on_fault": policy}} if policy else {}
    story = told(ONCE, limits=limits, **declared)
    story.answer("fault", status)
    for retry in range(1, times):
        story.ask([HI], retry=retry)
        story.answer("fault", status)
    return story.end("failed", shown=[])


def test_a_loop_that_declares_to_try_again_has_to() -> None:
    [finding] = failing(1).check("EXPECT")

    assert (finding.kind, finding.request) == ("broken", 1)
    assert "on_fault: retry" in finding.expected


def test_it_may_give_up_after_it_has_tried() -> None:
    assert failing(2).kinds("EXPECT") == ["held"]


def test_what_cannot_pass_by_itself_is_not_tried_again() -> None:
    assert failing(1, status=403).kinds("EXPECT") == ["held"]


def test_a_loop_that_declares_nothing_may_give_up_at_once() -> None:
    assert failing(1, policy=None).kinds("EXPECT") == ["held"]


def test_a_loop_without_time_left_need_not_try_again() -> None:
    assert failing(1, wall_clock=1).kinds("EXPECT") == ["held"]


def with_cancel(expect: dict[str, Any], **more: Any) -> Story:
    """A scenario that cancels the turn at its first request."""
    turn = {"prompt": "Hi", "script": [], "cancel": {"at": "request 1"}, "expect": expect}
    written = Story(turns=[turn], **more)
    written.turn()
    written.ask([HI])
    return written


def test_a_turn_that_was_over_before_its_cancellation_took_another_course() -> None:
    [finding] = with_cancel(WRONG).reply([text("A")]).end().check("EXPECT")

    assert finding.kind == "note"
    assert "request 1" in finding.happened


def test_a_cancelled_turn_is_judged_by_what_its_scenario_expects() -> None:
    def story() -> Story:
        return with_cancel({"status": "cancelled"}).cancel().reply([text("A")])

    assert story().end("cancelled").kinds("EXPECT") == ["held"]
    assert story().end("failed").kinds("EXPECT") == ["broken"]


def test_a_turn_that_looks_between_requests_may_come_to_its_own_end_when_it_is_cancelled() -> None:
    def story(**more: Any) -> Story:
        written = with_cancel({"status": "cancelled"}, **more)
        return written.cancel().reply([text("A")])

    assert story().end("completed").kinds("EXPECT") == []
    assert story(policies={"cancel": "at_once"}).end("completed").kinds("EXPECT") == ["broken"]
    later = with_cancel({"status": "cancelled"}).cancel().reply([call("toolu_1")], "tool_use").wait(0.1)
    later.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])])
    assert later.reply([text("A")]).end("completed").kinds("EXPECT") == ["broken"]


@pytest.mark.parametrize(("via", "wait", "kind"), [("hangup", 0.1, "note"), ("hangup", 0.5, "broken"),
                                                   ("flag", 0.1, "broken")])  # fmt: skip
def test_a_request_that_was_on_its_way_when_the_client_left_is_another_course(
    via: str, wait: float, kind: str
) -> None:
    story = with_cancel(WRONG).cancel("request 1", via).reply([call("toolu_1")], "tool_use").wait(wait)
    story.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])])

    assert story.reply([text("A")]).end("cancelled").kinds("EXPECT") == [kind]


def test_a_call_of_a_tool_that_was_not_offered_may_end_the_turn() -> None:
    def ended(name: str, status: str) -> list[str]:
        return told(WRONG).reply([call("toolu_1", name)], "tool_use").end(status).kinds("EXPECT")

    assert ended("nope", "failed") == ["note"]
    assert ended("nope", "completed") == ["broken"]
    assert ended("look", "failed") == ["broken"]


def test_a_tool_that_is_tried_again_after_a_failure_has_run_once() -> None:
    def runs(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
        story = told({"tools": {"look": 1}}).reply([call("toolu_1", value=first)], "tool_use")
        story.tool(value=first, error="busy").tool(value=second)
        story.ask([HI, assistant([call("toolu_1", value=first)]), user([result("toolu_1")])])
        return story.reply([text("Done.")]).end().kinds("EXPECT")

    assert runs({"n": 1}, {"n": 1}) == ["held"]
    assert runs({"n": 1}, {"n": 2}) == ["broken"]


def test_tool_runs_of_a_cancelled_turn_are_not_counted() -> None:
    assert with_cancel({"tools": {"look": 2}}).cancel().reply([text("A")]).end().check("EXPECT") == []


def test_what_is_shown_beside_an_expected_text_is_named_once_each() -> None:
    story = told({"shown": ["First."]}).reply([text("First.")])

    assert story.end(shown=["First.", "First."]).kinds("EXPECT") == ["broken"]


def test_of_several_right_statuses_the_first_is_proposed() -> None:
    def story() -> Story:
        return told({"status": ["refused", "truncated"]}).reply([text("No")], "refusal")

    [unclear] = story().raises("Stopped").check("EXPECT")
    [slip] = story().raises("IndexError", bases=("LookupError",)).check("EXPECT")
    assert "`raises: {Stopped: refused}`" in unclear.happened
    assert "`raises: {IndexError: refused}`" in slip.advice
    assert slip.expected == "An outcome with the status refused or truncated."
