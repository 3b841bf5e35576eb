"""Running cases of a loop that cannot be run."""

from __future__ import annotations

from harness.chosen import find_cases
from harness.runner import CaseResult, Runner


def test_a_loop_that_is_not_there_gets_an_error_for_each_case_and_nobody_waits() -> None:
    told: list[CaseResult] = []
    with Runner("harness.loops.reference:nothing") as runner:
        results = runner.run_all(find_cases(["tool/one"]), told.append)

    assert [result.grade for result in results] == ["error", "error"]
    assert all(result.reason.startswith("not run: harness.loops.reference:nothing") for result in results)
    assert told == results
