"""Results held against a baseline: what is known, what is unexpected, and which entries say too much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from ..judge import CheckResult, scenario_grade
from ..report.coverage import DECIDING, Coverage
from ..report.lines import counted
from ..runner import CaseResult
from .load import Baseline
from .model import BETTER, Entry
from .versions import applies

KNOWN = "known"
"""The grade in a report of a result the baseline names; it counts as little as a pass."""
_UNTOLD = ("inconclusive", "unsupported", "error")
"""Grades that do not tell whether an entry still holds."""


class Stale(NamedTuple):
    """An entry that expects what is better by now."""

    entry: int
    now: str
    """A case that shows it."""
    still: str | None = None
    """The variant in which it still holds; None: in none, and it can go."""


class Played(NamedTuple):
    """A case, by its scenario and its variant."""

    scenario: str
    variant: str


class Ledger:
    """One loop's results, entered one by one."""

    def __init__(self, baseline: Baseline, loop: str, whole: Iterable[Played] = ()) -> None:
        """`whole`: the cases of a run of everything, of which this one may be a part."""
        self._baseline = baseline
        self._loop = loop
        self._whole = list(whole)
        self._played: set[Played] = set()
        self.decided: dict[str, dict[Played, str]] = {}
        """What a clause was graded in each case in which that was decided, but where it is known."""
        self._entries = [
            (index, entry)
            for index, entry in enumerate(baseline.entries)
            if fnmatchcase(loop, entry.loop or "*") and applies(entry.when)
        ]
        self._held: dict[int, list[CaseResult]] = {}
        self._untold: set[int] = set()
        self._better: dict[int, list[CaseResult]] = {}
        self.unexpected: list[tuple[CaseResult, CheckResult | None]] = []
        """What is broken and not known: the clause, or None where the case itself broke."""

    def enter(self, result: CaseResult, named: frozenset[str]) -> CaseResult:
        """The result as it counts: what is known has the grade `known`.

        `named` are the clauses its scenario is about.
        """
        case = Played(result.scenario, result.variant)
        self._played.add(case)
        concerned = [(index, entry) for index, entry in self._entries if _concerns(entry, case)]
        if result.grade == "error" and not any(check.grade == "error" for check in result.checks):
            return self._broken(result, concerned)
        held: set[int] = set()
        checks = [self._check(check, concerned, held) for check in result.checks]
        for index, entry in concerned:
            if index not in held:
                self._not_held(index, entry, result)
        for index in held:
            self._held.setdefault(index, []).append(result)
        rest = [check for check in checks if check.grade != KNOWN]
        for check in rest:
            if check.grade in DECIDING:
                self.decided.setdefault(check.clause, {})[case] = check.grade
        grade = scenario_grade(rest, named)
        self.unexpected += [(result, check) for check in rest if _counts(check, named)]
        if len(rest) < len(checks) and grade in ("pass", "unsupported", "inconclusive"):
            # What a run did not get to is what comes of the known fault.
            grade = KNOWN
        return msgspec.structs.replace(result, checks=checks, grade=grade)

    def stale(self) -> list[Stale]:
        """Entries that say too much: of a pattern something has to be left, any other holds throughout.

        What an entry is about and was not played may be what it is needed for.
        """
        found = []
        for index, entry in self._entries:
            held, better = self._held.get(index, []), self._better.get(index, [])
            if not better or entry.flaky or index in self._untold or (held and is_pattern(entry)):
                continue
            if not self.played_all(entry.scenario, entry.variant):
                continue
            still = {result.variant for result in held}
            found.append(Stale(index, better[0].id, still.pop() if len(still) == 1 else None))
        return found

    def played_all(self, pattern: str, variant: str | None) -> bool:
        """Whether no case that this is about is left out of a run of everything."""
        return all(case in self._played for case in self._whole if _names(pattern, variant, case))

    def variants(self, scenario: str) -> set[str]:
        """Those in which a run of everything plays it."""
        return {case.variant for case in [*self._whole, *self._played] if case.scenario == scenario}

    def needs(self, index: int) -> bool:
        """Whether the entry holds here as it stands, or whether it does could not be told."""
        mine = dict(self._entries).get(index)
        if mine is None:
            return False
        if index in self._untold or not self.played_all(mine.scenario, mine.variant):
            return True
        return index in self._held and index not in {stale.entry for stale in self.stale()}

    def flaky(self) -> Iterator[tuple[int, bool]]:
        """Entries that may go either way and were tried, and whether they held."""
        for index, entry in self._entries:
            if entry.flaky and (index in self._held or index in self._better):
                yield index, index in self._held

    def lost(self, coverage: Coverage) -> str:
        """What is decided less than the baseline says, empty where nothing is."""
        wanted = self._baseline.coverage.get(self._loop, 0)
        if len(coverage.decided) >= wanted:
            return ""
        decided = counted(len(coverage.decided), "clause")
        return f"LESS   {self._loop}: {decided} decided, and {wanted} when {self._baseline.path} was written"

    def _check(self, check: CheckResult, concerned: list[tuple[int, Entry]], held: set[int]) -> CheckResult:
        fitting = [(index, entry) for index, entry in concerned if _expects(entry, check)]
        if not fitting:
            return check
        held |= {index for index, _ in fitting}
        return msgspec.structs.replace(check, grade=KNOWN, message=_told(fitting[0][1], check.message))

    def _broken(self, result: CaseResult, concerned: list[tuple[int, Entry]]) -> CaseResult:
        fitting = [
            (index, entry) for index, entry in concerned if entry.grade == "error" and not entry.clause
        ]
        for index, _ in fitting:
            self._held.setdefault(index, []).append(result)
        self._untold |= {index for index, _ in concerned}
        if not fitting:
            self.unexpected.append((result, None))
            return result
        return msgspec.structs.replace(result, grade=KNOWN, reason=_told(fitting[0][1], result.reason))

    def _not_held(self, index: int, entry: Entry, result: CaseResult) -> None:
        asked = [check for check in result.checks if fnmatchcase(check.clause, entry.clause or "*")]
        worse = any(BETTER.get(check.grade, 9) < BETTER[entry.grade] for check in asked)
        untold = entry.clause is not None and any(check.grade in _UNTOLD for check in asked)
        if worse or untold or result.grade == "unsupported":
            self._untold.add(index)
        else:
            self._better.setdefault(index, []).append(result)


def is_pattern(entry: Entry) -> bool:
    """Whether it stands for whatever matches it, so that not all of it has to hold."""
    return any(sign in entry.scenario + (entry.clause or "") for sign in "*?[")


def _counts(check: CheckResult, named: frozenset[str]) -> bool:
    """Whether the check could be an entry: it is not as it should be."""
    return check.grade in ("error", "fail", "warn") or (
        check.grade == "inconclusive" and check.clause in named
    )


def _concerns(entry: Entry, case: Played) -> bool:
    return _names(entry.scenario, entry.variant, case)


def _names(pattern: str, variant: str | None, case: Played) -> bool:
    return variant in (None, case.variant) and fnmatchcase(case.scenario, pattern)


def _expects(entry: Entry, check: CheckResult) -> bool:
    """Whether the check's grade is what the entry says, or what it may be now and then."""
    if check.grade not in BETTER or check.grade == "pass":
        return False
    if not fnmatchcase(check.clause, entry.clause or "*"):
        return False
    return check.grade == entry.grade or (entry.flaky and BETTER[check.grade] > BETTER[entry.grade])


def _told(entry: Entry, message: str) -> str:
    where = f" ({entry.issue})" if entry.issue else ""
    return f"known to {entry.grade}: {' '.join(entry.reason.split())}{where}: {message}"
