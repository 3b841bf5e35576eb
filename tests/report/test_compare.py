"""What changed from one report to another."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from harness.judge import CheckResult
from harness.report.compare import Change, compared, compared_lines
from harness.report.model import Report
from tests.report.samples import loop, report, result, right, undriven


def graded(grade: str, clause: str = "PAUSE-1") -> CheckResult:
    return CheckResult(clause=clause, level="MUST", grade=grade, message="the message")


def one(*checks: CheckResult, **more: object) -> Report:
    return report(loop("mine", result("pause/twice", "json", *checks, **more)))


def told(changes: Sequence[Change]) -> list[tuple[str, str, str, str]]:
    return [
        (change.kind, change.clause or change.case or change.loop, change.was, change.now)
        for change in changes
    ]


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        ("pass", "fail", "worse"),
        ("pass", "warn", "worse"),
        ("warn", "fail", "worse"),
        ("known", "fail", "worse"),
        ("inconclusive", "fail", "worse"),
        ("fail", "pass", "better"),
        ("fail", "known", "better"),
        ("error", "fail", "better"),
        ("inconclusive", "pass", "new"),
        ("unsupported", "warn", "new"),
        ("pass", "inconclusive", "gone"),
        ("fail", "unsupported", "gone"),
    ],
)  # fmt: skip
def test_a_clause_goes_from_one_grade_to_another(was: str, now: str, kind: str) -> None:
    found = compared(one(graded(was)), one(graded(now)))

    assert told(found.changes) == [(kind, "PAUSE-1", was, now)]
    assert found.same == 0


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("pass", "pass"),
        ("fail", "fail"),
        ("pass", "known"),
        ("unsupported", "inconclusive"),
        ("info", "fail-info"),
    ],
)
def test_what_counts_the_same_is_no_change(was: str, now: str) -> None:
    now = "info" if now == "fail-info" else now

    assert compared(one(graded(was)), one(graded(now))).changes == []


def test_a_breach_is_worse_also_where_the_clause_did_not_apply_before() -> None:
    found = compared(one(graded("pass", "END-1")), one(graded("pass", "END-1"), graded("fail")))

    assert told(found.changes) == [("worse", "PAUSE-1", "-", "fail")]
    assert found.same == 1


def test_a_clause_the_old_run_did_not_know_is_new_and_not_worse() -> None:
    old, new = one(graded("pass", "END-1")), one(graded("pass", "END-1"), graded("fail", "PAUSE-9"))

    assert told(compared(old, new).changes) == [("new", "PAUSE-9", "-", "fail")]


def test_whether_a_clause_that_is_kept_applies_is_no_news() -> None:
    some, more = one(graded("pass", "END-1")), one(graded("pass", "END-1"), graded("pass"))

    assert compared(some, more).changes == []
    assert compared(more, some).changes == []


def test_cases_come_and_go() -> None:
    old = report(
        loop("mine", result("a/gone", "json", graded("fail")), result("a/stays", "json", graded("pass")))
    )
    new = report(
        loop("mine", result("a/stays", "json", graded("pass")), result("a/new", "sse", graded("fail")))
    )

    assert told(compared(old, new).changes) == [
        ("new", "a/new[sse]", "-", "fail"),
        ("gone", "a/gone[json]", "fail", "-"),
    ]


def test_a_case_that_breaks_is_one_change_whatever_its_clauses_were() -> None:
    whole = one(graded("pass"), graded("pass", "END-1"))
    broken = one(grade="error", reason="the host died\nits last words")

    [worse] = compared(whole, broken).changes
    assert worse == Change("worse", "mine", "pause/twice[json]", "", "pass", "error", "the host died")
    assert told(compared(broken, whole).changes) == [("better", "pause/twice[json]", "error", "pass")]
    assert compared(broken, broken).changes == []


def test_loops_are_the_same_by_their_name_or_where_there_is_but_one() -> None:
    renamed = compared(report(right("old")), report(right("new")))
    assert (renamed.changes, renamed.same) == ([], 2)

    found = compared(report(right("a"), right("b")), report(right("b"), right("c")))
    assert told(found.changes) == [("new", "c", "-", "judged"), ("gone", "a", "judged", "-")]
    assert found.same == 2


def test_a_loop_that_cannot_be_driven_any_more_is_worse() -> None:
    found = compared(report(right()), report(undriven()))

    assert told(found.changes) == [("worse", "gone", "-", "cannot be driven")]
    assert told(compared(report(undriven()), report(right())).changes) == [("better", "right", "-", "judged")]
    assert compared(report(undriven()), report(undriven())).changes == []


def test_the_worst_is_told_first_and_the_same_change_once() -> None:
    def cases(*grades: str) -> Report:
        clauses = ("END-1", "PAUSE-1")
        checks = [graded(grade, clause) for grade, clause in zip(grades, clauses, strict=True)]
        return report(loop("mine", *(result("pause/twice", each, *checks) for each in ("json", "sse"))))

    found = compared(cases("fail", "pass"), cases("pass", "fail"))

    assert [line.text for line in compared_lines(found)] == [
        "WORSE   PAUSE-1  pause/twice[json]: pass -> fail: the message (and in 1 more)",
        "BETTER  END-1  pause/twice[json]: fail -> pass (and in 1 more)",
        "2 worse, 2 better, 0 new, 0 gone; 0 verdicts as before",
    ]
    assert sum("WORSE" in line.text for line in compared_lines(found, verbose=True)) == 2


def test_what_is_not_the_loops_doing_is_said() -> None:
    other = msgspec.structs.replace(report(right(), msgspec.structs.replace(right("b"), seed=8)), version="9")

    notes = compared(report(right(), right("b")), other).notes

    assert [note.partition(":")[0] for note in notes] == [
        f"judged by loop-harness {Report().version}, then by 9",
        "the seeds are not the same, so the texts differ",
    ]
