from __future__ import annotations

from pathlib import Path

import pytest

from harness.report.coverage import Coverage
from tests.baseline.holding import ledger, result

NAMED = frozenset({"PAUSE-1"})


def test_what_is_known_counts_as_little_as_a_pass_and_says_why(tmp_path: Path) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-1, grade: fail, issue: 'x/1'")

    entered = book.enter(result(PAUSE_1="fail", PAUSE_5="pass"), NAMED)

    assert entered.grade == "known"
    assert entered.checks[0].message == "known to fail: because (x/1): the message"
    assert book.unexpected == []
    assert book.stale() == []


def test_what_else_is_broken_in_the_case_is_not_known(tmp_path: Path) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-1, grade: fail")

    entered = book.enter(result(PAUSE_1="fail", PAUSE_5="fail"), NAMED)

    assert entered.grade == "fail"
    assert [(each.id, check and check.clause) for each, check in book.unexpected] == [
        ("pause/twice[json]", "PAUSE-5")
    ]


def test_without_a_clause_whatever_is_broken_there_is_known(tmp_path: Path) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, grade: fail")

    assert book.enter(result(PAUSE_1="fail", PAUSE_5="fail"), NAMED).grade == "known"


def test_what_the_known_fault_kept_a_run_from_is_no_finding(tmp_path: Path) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-5, grade: fail")

    assert book.enter(result(PAUSE_5="fail", PAUSE_1="inconclusive"), NAMED).grade == "known"


def test_worse_than_known_is_unexpected(tmp_path: Path) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-1, grade: warn")

    assert book.enter(result(PAUSE_1="fail"), NAMED).grade == "fail"
    assert book.stale() == []


@pytest.mark.parametrize("grade", ["pass", "warn"])
def test_better_than_known_is_stale(tmp_path: Path, grade: str) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-1, grade: fail")

    book.enter(result(PAUSE_1=grade), NAMED)

    assert [(stale.entry, stale.now, stale.still) for stale in book.stale()] == [
        (0, "pause/twice[json]", None)
    ]


@pytest.mark.parametrize("grade", ["inconclusive", "unsupported"])
def test_what_could_not_be_told_makes_nothing_stale(tmp_path: Path, grade: str) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-1, grade: fail")

    book.enter(result(PAUSE_1=grade, PAUSE_5="pass"), NAMED)

    assert book.stale() == []


def test_what_was_not_run_is_not_stale(tmp_path: Path) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-1, grade: fail")

    book.enter(result("pause/no-tools[json]", PAUSE_1="pass"), NAMED)

    assert book.stale() == []


def test_an_entry_that_holds_in_one_variant_is_to_be_narrowed(tmp_path: Path) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-1, grade: fail")

    book.enter(result("pause/twice[json]", PAUSE_1="pass"), NAMED)
    book.enter(result("pause/twice[sse]", PAUSE_1="fail"), NAMED)

    assert [stale.still for stale in book.stale()] == ["sse"]


def test_of_a_pattern_something_has_to_be_left(tmp_path: Path) -> None:
    book = ledger(tmp_path, "scenario: pause/*, clause: PAUSE-1, grade: fail")
    book.enter(result("pause/twice[json]", PAUSE_1="pass"), NAMED)
    assert [stale.entry for stale in book.stale()] == [0]

    book.enter(result("pause/no-tools[json]", PAUSE_1="fail"), NAMED)
    assert book.stale() == []


def test_what_an_entry_may_be_needed_for_is_played_before_it_is_stale(tmp_path: Path) -> None:
    whole = ["pause/twice[json]", "pause/twice[sse]", "pause/no-tools[json]"]
    entries = ("scenario: pause/*, clause: PAUSE-1, grade: fail", "scenario: pause/twice, grade: fail")
    book = ledger(tmp_path, *entries, whole=whole)

    def stale() -> list[int]:
        return [stale.entry for stale in book.stale()]

    book.enter(result("pause/twice[json]", PAUSE_1="pass"), NAMED)
    assert stale() == []
    book.enter(result("pause/twice[sse]", PAUSE_1="pass"), NAMED)
    assert stale() == [1]
    book.enter(result("pause/no-tools[json]", PAUSE_1="pass"), NAMED)
    assert stale() == [0, 1]


def test_what_is_flaky_may_go_either_way_but_not_get_worse(tmp_path: Path) -> None:
    book = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-1, grade: fail, flaky: true")
    assert book.enter(result(PAUSE_1="pass"), NAMED).grade == "pass"
    assert book.stale() == []
    assert list(book.flaky()) == [(0, False)]

    assert book.enter(result(PAUSE_1="warn"), NAMED).grade == "known"
    assert list(book.flaky()) == [(0, True)]
    assert book.enter(result(PAUSE_1="error"), NAMED).grade == "error"


def test_an_entry_of_another_loop_or_version_says_nothing(tmp_path: Path) -> None:
    book = ledger(
        tmp_path,
        "scenario: pause/twice, clause: PAUSE-1, grade: fail, loop: other",
        "scenario: pause/twice, clause: PAUSE-1, grade: fail, when: {python: '<3'}",
    )

    assert book.enter(result(PAUSE_1="fail"), NAMED).grade == "fail"
    book.enter(result(PAUSE_1="pass"), NAMED)
    assert book.stale() == []


def test_a_case_that_broke_is_known_only_by_an_entry_for_it(tmp_path: Path) -> None:
    broken = result()
    broken.grade, broken.reason = "error", "the loop's process died"
    with_it = ledger(tmp_path, "scenario: pause/twice, grade: error")
    without = ledger(tmp_path, "scenario: pause/twice, clause: PAUSE-1, grade: fail")

    assert with_it.enter(broken, NAMED).grade == "known"
    assert without.enter(broken, NAMED).grade == "error"
    assert without.stale() == []


def test_less_coverage_than_the_baseline_recorded_is_told(tmp_path: Path) -> None:
    book = ledger(tmp_path, coverage="{mine: 2}")

    def covered(*decided: str) -> Coverage:
        return Coverage(clauses=9, decided=[*decided], by_word=[], undecided=[])

    assert book.lost(covered("PAUSE-1")) == (
        f"LESS   mine: 1 clause decided, and 2 when {tmp_path}/conformance.yaml was written"
    )
    assert book.lost(covered("PAUSE-1", "PAUSE-5")) == ""
