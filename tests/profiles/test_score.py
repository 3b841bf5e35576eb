"""What a result counts for in a profile."""

from __future__ import annotations

import pytest

from harness.judge import CheckResult
from harness.profiles.model import NotScored, Profile
from harness.profiles.score import asked_cases, newer, profile_cases, scored
from harness.scenario.select import SelectorError
from tests.report.samples import result

SMALL = Profile(
    name="small-1",
    title="t",
    clauses={"END-1": "MUST", "TOOL-1": "SHOULD", "TOOL-2": "MAY"},
    scenarios={"text/one": ["sse"], "tool/one": ["json", "sse"]},
    not_scored=[NotScored(clauses=["CAP-1"], why="w")],
)


def check(clause: str, grade: str, level: str = "MUST") -> CheckResult:
    return CheckResult(clause=clause, level=level, grade=grade, message="m")


def test_what_is_left_out_does_not_count() -> None:
    found = scored(
        result("tool/one", "json", check("END-1", "pass"), check("CAP-1", "fail")), SMALL, ["CAP-1"]
    )

    assert found.grade == "pass"
    assert [each.clause for each in found.checks] == ["END-1"]


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        (check("END-1", "fail"), "fail"),
        (check("END-1", "warn", "SHOULD"), "warn"),
        (check("TOOL-1", "fail"), "warn"),
        (check("TOOL-1", "warn", "SHOULD"), "warn"),
        (check("TOOL-2", "fail"), "info"),
        (check("TOOL-2", "pass"), "pass"),
    ],
)
def test_a_breach_counts_for_no_more_than_when_the_profile_was_made(given: CheckResult, counts: str) -> None:
    [found] = scored(result("tool/one", "json", given), SMALL, []).checks

    assert found.grade == counts


def test_a_case_that_broke_is_broken_in_every_profile() -> None:
    assert scored(result(grade="error", reason="the host died"), SMALL, []).grade == "error"


def test_a_case_of_which_nothing_counts_is_unsupported() -> None:
    found = scored(result("tool/one", "json", check("CAP-1", "fail")), SMALL, [])

    assert (found.grade, found.reason) == ("unsupported", "no clause of small-1 could be judged")


def test_what_was_never_reached_counts_only_where_the_scenario_is_about_it() -> None:
    unclear = result("tool/one", "json", check("END-1", "inconclusive"), check("TOOL-1", "pass"))

    assert scored(unclear, SMALL, ["END-1"]).grade == "inconclusive"
    assert scored(unclear, SMALL, ["TOOL-1"]).grade == "pass"


def test_cases_are_those_of_the_profile() -> None:
    assert [case.id for case in profile_cases(SMALL)] == ["text/one[sse]", "tool/one[json]", "tool/one[sse]"]
    assert [case.id for case in profile_cases(SMALL, ["text"])] == ["text/one[sse]"]
    with pytest.raises(SelectorError, match="pause: not in small-1"):
        profile_cases(SMALL, ["pause"])


def test_a_name_that_is_none_is_an_error_with_the_nearest() -> None:
    with pytest.raises(SelectorError, match="there is no profile core-l; did you mean `core-1`"):
        asked_cases("core-l", [], None, 1)


def test_clauses_that_came_later_are_known() -> None:
    assert newer(SMALL, ["END-1", "CAP-1", "CAP-99"]) == ["CAP-99"]
