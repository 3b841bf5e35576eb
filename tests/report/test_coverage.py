"""What a run decided, and what it could not."""

from __future__ import annotations

from harness.clauses import Clause
from harness.history import Began
from harness.judge import CheckResult
from harness.report.coverage import Judged, coverage_of, unexposed
from harness.report.summary import digest, summary_lines, tally
from harness.runner import CaseResult


def clause(name: str, *needs: str) -> Clause:
    return Clause(
        id=name, level="MUST", sentence="It holds.", reason="or else", ground="construction",
        source="by construction", advice="do it", needs=needs,
    )  # fmt: skip


CATALOGUE = {
    each.id: each
    for each in (
        clause("A-1"),
        clause("A-2", "report|status"),
        clause("A-3", "usage"),
        clause("A-4", "usage"),
    )
}


def test_a_clause_is_decided_by_pass_warn_or_fail_alone() -> None:
    judged = [
        Judged("A-1", "pass", "wire"),
        Judged("A-2", "inconclusive", "wire"),
        Judged("A-3", "warn", "hook"),
        Judged("A-4", "unsupported", "wire"),
    ]

    coverage = coverage_of(judged, CATALOGUE)

    assert coverage.decided == ["A-1", "A-3"]
    assert coverage.undecided == ["A-2", "A-4"]
    assert str(coverage) == "2 of 4 clauses decided, 1 by the adapter's word"


def test_what_the_wire_showed_once_is_not_the_adapters_word() -> None:
    judged = [
        Judged("A-1", "pass", "outcome"),
        Judged("A-1", "pass", "wire"),
        Judged("A-2", "fail", "outcome"),
    ]

    assert coverage_of(judged, CATALOGUE).by_word == ["A-2"]


def test_a_check_of_no_clause_of_the_catalogue_is_no_coverage() -> None:
    assert str(coverage_of([Judged("Z-9", "pass", "wire")], CATALOGUE)) == "0 of 4 clauses decided"


def test_what_is_not_exposed_is_listed_with_the_clauses_that_need_it() -> None:
    assert unexposed([], CATALOGUE) == {"usage": ["A-3", "A-4"], "report": ["A-2"]}
    assert unexposed(["status", "usage"], CATALOGUE) == {}


def test_the_summary_says_remarks_then_what_was_not_judged_then_the_coverage() -> None:
    checks = [
        CheckResult(clause="END-1", level="MUST", grade="pass"),
        CheckResult(clause="HIST-7", level="SHOULD", grade="warn", message="The model changed."),
    ]
    result = CaseResult(
        scenario="text/one", variant="sse", grade="warn", checks=checks,
        events=[Began(scenario_id="text/one", variant="sse", scenario={})],
    )  # fmt: skip

    said = [line.text for line in summary_lines([digest("mine:loop", ["shown"], result)])]

    assert said[0] == "warn          HIST-7  text/one[sse]: The model changed."
    assert any(line.startswith("not judged") and "turn.publish" in " ".join(said) for line in said)
    assert said[-1].startswith("2 of ")
    assert said[-1].endswith("clauses decided; 1 case: 1 warn")


def test_what_could_not_be_played_is_told_once_with_its_reason() -> None:
    why = "a loop that runs in this process cannot be killed"
    checks = [
        CheckResult(clause=name, level="MUST", grade="unsupported", message=why)
        for name in ("RESUME-1", "RESUME-2")
    ]
    results = [
        CaseResult(scenario=name, variant="json", grade="unsupported", checks=checks) for name in ("a", "b")
    ]

    exposes = ["checkpoint", "tools"]
    said = "\n".join(line.text for line in summary_lines([digest("l", exposes, one) for one in results]))

    assert said.count(why) == 1
    assert f"RESUME-1, RESUME-2: {why}" in said


def test_grades_are_tallied_the_strongest_first() -> None:
    assert tally(iter(["pass", "fail", "pass"])) == "3 cases: 1 fail, 2 pass"
