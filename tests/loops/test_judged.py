"""The loops of this folder before the real provider and judge: a sample, small enough for every run."""

from __future__ import annotations

import pytest

from harness.chosen import find_cases
from harness.runner import Runner
from tests.loops.mutants import MUTANTS
from tests.loops.variants import VARIANTS

SAMPLE = [
    "pause/twice",
    "tool/parallel",
    "tool/raises",
    "refuse/partial",
    "truncate/tool-partial",
    "cap/iterations",
]
RIGHT = {"loop": "harness.loops.reference:loop"} | {
    name: variant.target for name, variant in VARIANTS.items()
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_loop_breaks_nothing(name):
    with Runner(RIGHT[name]) as runner:
        probe = runner.probe()
        assert probe.problem is None
        variants = set(probe.variants)
        cases = [case for case in find_cases(SAMPLE) if case.variant in variants]
        broken = [
            (result.id, check.clause, check.message)
            for result in runner.run_all(cases)
            for check in result.checks
            if check.grade in ("fail", "error")
        ]
    assert broken == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "form"),
    [("exits_on_no_tool_call", "sync"), ("swaps_results", "async"), ("keeps_a_cut_call", "async")],
)
def test_a_mutant_breaks_its_clauses(name, form):
    mutant = MUTANTS[name]
    with Runner(mutant.target(form)) as runner:
        results = runner.run_all(find_cases(list(mutant.scenarios)))
    for result in results:
        assert result.grade == "fail", result.id
        broken = {check.clause for check in result.checks if check.grade == "fail"}
        assert set(mutant.clauses) <= broken, result.id
