"""One case held against a baseline, where each case is a test of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ..case import Case
from ..clauses import CLAUSES
from ..runner import CaseResult
from ..scenario.discover import find_scenarios
from .ledger import Ledger, is_pattern
from .load import Baseline, Known, load


@cache
def known_results(path: Path, folder: Path | None) -> Baseline:
    """The baseline in a file, read once. Raises `ScenarioError`."""
    return load(path, Known.of(find_scenarios([folder] if folder else []), CLAUSES))


def held(baseline: Baseline, loop: str, case: Case, result: CaseResult) -> tuple[CaseResult, str]:
    """The result as it counts beside the baseline, and what is stale about that, empty where nothing is.

    Of a pattern one case cannot tell whether anything is left of it: that is told at the end (`gathered.py`).
    """
    ledger = Ledger(baseline, loop)
    entered = ledger.enter(result, frozenset(case.scenario.clauses))
    stale = [
        f"{baseline.place(each.entry)}: this is no longer `{entry.grade}`; remove the entry, or narrow it "
        f"to the variant it still holds in"
        for each in ledger.stale()
        if not is_pattern(entry := baseline.entries[each.entry])
    ]
    return entered, "\n".join(stale)


def reasons(result: CaseResult) -> str:
    """Why it is known, from the results that are."""
    told = [f"{check.clause}: {check.message}" for check in result.checks if check.grade == "known"]
    return "; ".join(told or [result.reason])
