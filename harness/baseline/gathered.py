"""What the cases of a session, each a test of its own, say together about a baseline.

One test cannot tell whether anything is left of a pattern, or how many clauses are decided. All of them can,
as far as none is left out. What they found travels as plain data between the processes of pytest-xdist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from ..chosen import find_cases
from ..judge import CheckResult
from ..profiles.score import asked_cases
from ..report.model import covered
from ..runner import DEFAULT_SEED, CaseResult
from ..scenario.problems import ScenarioError
from .asserted import known_results
from .ledger import Ledger, Played, is_pattern
from .renew import stale_entries, told_stale


class Suite(msgspec.Struct, kw_only=True, frozen=True):
    """What the cases of a test function are held against."""

    baseline: str
    folder: str
    """Of further scenarios; empty where there is none."""
    loop: str
    profile: str


class Found(msgspec.Struct, kw_only=True, frozen=True):
    """What became of one case, before the baseline had a say."""

    suite: Suite
    case: Played
    named: list[str]
    """The clauses that its scenario is about."""
    result: CaseResult | None = None
    """None where it was not played, for the loop sends the same in the other variant."""


def told(found: Found) -> str:
    """As plain data, with nothing in it that a ledger does not look at."""
    if found.result is not None:
        checks = [
            CheckResult(clause=each.clause, level=each.level, grade=each.grade, evidence=each.evidence)
            for each in found.result.checks
        ]
        small = msgspec.structs.replace(found.result, events=[], checks=checks)
        found = msgspec.structs.replace(found, result=small)
    return msgspec.json.encode(found).decode()


def problems(told: Iterable[str]) -> list[str]:
    """Which patterns are stale, and for which loops less is decided than there was."""
    suites: dict[Suite, dict[Played, Found]] = {}
    for data in told:
        found = msgspec.json.decode(data, type=Found)
        suites.setdefault(found.suite, {})[found.case] = found
    baselines: dict[tuple[str, str], list[list[Found]]] = {}
    for suite, cases in suites.items():
        baselines.setdefault((suite.baseline, suite.folder), []).append([*cases.values()])
    try:
        return [line for same in baselines.values() for line in _of_one(same)]
    except ScenarioError as error:  # it was changed meanwhile
        return [str(error)]


def _of_one(suites: Sequence[Sequence[Found]]) -> Iterator[str]:
    """What is to be told of one baseline; its other entries were held against each case."""
    first = suites[0][0].suite
    baseline = known_results(Path(first.baseline), Path(first.folder) if first.folder else None)
    ledgers: list[Ledger] = []
    for cases in suites:
        suite = cases[0].suite
        ledger = Ledger(baseline, suite.loop, _everything(suite, cases))
        results = [ledger.enter(each.result, frozenset(each.named)) for each in cases if each.result]
        if ledger.played_all("*", None) and (lost := ledger.lost(covered(results, suite.profile))):
            yield lost
        ledgers.append(ledger)
    for stale in stale_entries(ledgers):
        if is_pattern(baseline.entries[stale.entry]):
            yield told_stale(baseline, stale)


def _everything(suite: Suite, cases: Sequence[Found]) -> list[Played]:
    """All that the loop could be played, whatever was chosen of it."""
    folder = Path(suite.folder) if suite.folder else None
    every = asked_cases(suite.profile, (), folder, DEFAULT_SEED) if suite.profile else find_cases((), folder)
    spared = {each.case.variant for each in cases if each.result is None}
    return [Played(case.scenario.id, case.variant) for case in every if case.variant not in spared]
