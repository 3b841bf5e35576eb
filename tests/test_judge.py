"""The judge: grades, needs, safety, and how a scenario's grade is made."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from harness.checks import registered
from harness.checks.base import Finding, broken, check, held, note, unclear
from harness.clauses import CLAUSES
from harness.evidence import Run
from harness.history import Finished
from harness.judge import UNBOUND, CheckResult, Verdict, judge
from tests.checks.histories import Story, assistant, call, result, text, user
from tests.every import every

HI = user("Hi")


def simple(**story: object) -> Story:
    told = Story(**story)
    told.turn()
    told.ask([HI])
    told.reply([text("Hello there.")])
    return told.end(shown=["Hello there."])


def judged(finding: Finding | None, *, clauses: tuple[str, ...] = (), clause: str = "PAUSE-1") -> Verdict:
    def function(run: Run) -> Iterator[Finding]:
        if finding:
            yield finding

    return judge(simple(clauses=clauses).finish(), checks={clause: function})


def only(verdict: Verdict) -> CheckResult:
    [result] = verdict.checks
    return result


BROKEN = broken(expected="This.", happened="That.")


@pytest.mark.parametrize(
    ("finding", "grade", "scenario"),
    [
        (held(), "pass", "pass"),
        (BROKEN, "fail", "fail"),
        (broken(expected="This.", happened="That.", level="SHOULD"), "warn", "warn"),
        (broken(expected="This.", happened="That.", level="MAY"), "info", "unsupported"),
        (unclear("too late"), "inconclusive", "unsupported"),
    ],
)
def test_a_finding_has_its_grade(finding: Finding, grade: str, scenario: str) -> None:
    verdict = judged(finding)

    assert only(verdict).grade == grade
    assert verdict.grade == scenario


def test_what_is_inconclusive_counts_where_the_scenario_names_the_clause() -> None:
    assert judged(unclear("too late"), clauses=("PAUSE-1",)).grade == "inconclusive"


def test_a_named_clause_that_never_applied_is_inconclusive() -> None:
    verdict = judged(None, clauses=("PAUSE-1",))

    assert only(verdict).grade == "inconclusive"
    assert "never got" in only(verdict).message


def test_a_clause_nobody_named_that_never_applied_is_no_result() -> None:
    assert judged(None).checks == []


def test_the_worst_finding_of_a_clause_is_its_result() -> None:
    def function(run: Run) -> Iterator[Finding]:
        yield held()
        yield unclear("too late")
        yield BROKEN

    assert only(judge(simple().finish(), checks={"PAUSE-1": function})).grade == "fail"


def test_a_note_is_told_and_never_counts() -> None:
    verdict = judged(note("by the way"))

    assert only(verdict).grade == "info"
    assert verdict.grade == "unsupported"


def test_a_clause_whose_needs_are_not_exposed_is_not_run() -> None:
    def function(run: Run) -> Iterator[Finding]:
        raise AssertionError("must not run")
        yield

    verdict = judge(simple(exposes=("shown",)).finish(), checks={"TRUNC-3": function})

    assert only(verdict).grade == "unsupported"
    assert "turn.report" in only(verdict).message


def test_one_of_several_needs_is_enough() -> None:
    verdict = judge(
        simple(exposes=("publish",)).finish(), checks={"TRUNC-1": lambda run: iter([held("hook")])}
    )

    assert only(verdict).grade == "pass"


def test_a_check_that_raises_is_an_error_that_names_it() -> None:
    def wrong(run: Run) -> Iterator[Finding]:
        raise KeyError("nope")
        yield

    verdict = judge(simple().finish(), checks={"PAUSE-1": wrong})

    assert verdict.grade == "error"
    assert "wrong" in verdict.reason
    assert "KeyError" in verdict.reason


def test_a_check_without_a_clause_is_an_error() -> None:
    assert judged(held(), clause="NOPE-1").grade == "error"


def test_a_clause_has_one_check() -> None:
    registered()

    with pytest.raises(ValueError, match="PAUSE-1 has a check already"):
        check("PAUSE-1")(lambda run: iter(()))


def test_every_check_has_its_clause_in_the_catalogue() -> None:
    assert registered().keys() - CLAUSES.keys() == set()


@every(sorted(registered()))
def test_no_check_passes_on_an_empty_history(clause: str) -> None:
    empty = Story()
    assert list(registered()[clause](empty.run())) == []

    began = Story()
    began.turn()
    assert [one.kind for one in registered()[clause](began.run()) if one.kind != "note"] == []


def test_a_history_without_its_end_is_an_error() -> None:
    verdict = judge(simple().events)

    assert verdict.grade == "error"
    assert "incomplete" in verdict.reason


def test_a_history_without_its_beginning_is_an_error() -> None:
    assert judge([]).grade == "error"
    assert judge([Finished()]).grade == "error"


def test_a_loop_that_was_lost_is_an_error_with_its_reason() -> None:
    story = Story()
    story.turn()
    verdict = judge(story.lost("killed by signal 9").finish())

    assert verdict.grade == "error"
    assert verdict.reason == "killed by signal 9"


def test_a_script_that_cannot_be_bound_is_unsupported() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.answer("unbound")
    verdict = judge(story.end().finish())

    assert verdict.grade == "unsupported"
    assert verdict.reason == UNBOUND


def test_a_right_loop_passes() -> None:
    verdict = judge(simple(exposes=("status", "shown", "history")).finish())

    assert {one.clause: one.message for one in verdict.checks if one.grade in ("fail", "error")} == {}


def test_a_broken_clause_says_what_a_reader_needs() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("Looking.")], "pause_turn")
    verdict = judge(story.returns("Looking.").finish())

    assert verdict.grade == "fail"
    found = next(one for one in verdict.checks if one.clause == "PAUSE-1")
    assert (found.grade, found.level, found.request) == ("fail", "MUST", 1)
    assert found.ground == "documented"
    assert found.expected
    assert found.message == found.happened
    assert found.advice


def test_judging_a_long_turn_stays_quick() -> None:
    story = Story()
    story.turn()
    messages = [HI]
    for number in range(500):
        story.ask(messages, tools=[{"name": "look", "input_schema": {"type": "object"}}])
        reply = [text(f"Step {number}."), call(f"toolu_{number}", value={"n": number})]
        story.reply(reply, "tool_use")
        story.tool(value={"n": number})
        messages = [*messages, assistant(reply), user([result(f"toolu_{number}")])]
    story.ask(messages)
    story.reply([text("Done.")])
    events = story.end(shown=["Done."]).finish()

    # Of the processor, not of the clock: how busy the machine is is no matter. A second, where it is right.
    began = time.process_time()
    judge(events)
    assert time.process_time() - began < 5


def test_a_failure_of_the_provider_is_an_error_and_not_the_loops_fault() -> None:
    story = simple().noted("error", "Traceback …\nKeyError: 'step'")

    verdict = judge(story.finish())

    assert verdict.grade == "error"
    assert verdict.reason == "the provider failed, not the loop: KeyError: 'step'"


def test_tools_offered_once_and_then_lost_are_judged() -> None:
    story = Story()
    story.turn()
    story.ask([HI], tools=[{"name": "look", "input_schema": {"type": "object"}}])
    story.reply([text("One moment.")], "pause_turn")
    story.ask([HI, assistant(text("One moment."))])
    story.answer("unbound", 200)

    verdict = judge(story.end().finish())

    assert "PAUSE-3" in [result.clause for result in verdict.checks if result.grade == "fail"]
