"""What a run says about a baseline, as the next version of its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple, cast

from ..judge import CheckResult
from ..report.text import OWN
from ..runner import CaseResult
from .ledger import Ledger, Stale
from .load import Baseline
from .model import Entry, Grade

WRITTEN = ("fail", "error")
"""The grades for which entries are made; with `strict` all that a run can be red for."""
MANY = 3
"""Scenarios of which one entry is made, where a clause is broken in each that comes to it."""
_ANY = "*"


class Pattern(NamedTuple):
    """What an entry may say in place of one scenario."""

    scenario: str
    variant: str | None


def new_entries(ledgers: Mapping[str, Ledger], *, reason: str, strict: bool = False) -> list[Entry]:
    """Entries for what was unexpected, one for each clause of a scenario where it shows in all variants.

    Where a clause was kept nowhere in a family, or nowhere at all, one entry stands for all of it. `ledgers`
    are the loops' by their names.
    """
    entries: list[Entry] = []
    for loop, ledger in ledgers.items():
        found = [each for each in ledger.unexpected if strict or _grade(*each) in WRITTEN]
        entries += _of_loop(ledger, found, reason, loop if len(ledgers) > 1 else None)
    return entries


def stale_entries(ledgers: Iterable[Ledger]) -> list[Stale]:
    """Entries that say too much: some loop is better than they say, and none needs them as they stand."""
    every = list(ledgers)
    stale = {each.entry: each for ledger in every for each in ledger.stale()}
    needed = {index for index in stale if any(ledger.needs(index) for ledger in every)}
    return [
        each if len(every) == 1 else each._replace(still=None)
        for index, each in sorted(stale.items())
        if index not in needed
    ]


def told_stale(baseline: Baseline, stale: Stale) -> str:
    """What is told of an entry that says too much."""
    entry = baseline.entries[stale.entry]
    what = f"{entry.clause} in {entry.scenario}" if entry.clause else entry.scenario
    do = f"narrow it to [{stale.still}]" if stale.still else "remove the entry"
    return (
        f"STALE  {baseline.place(stale.entry)}: {what} is no longer `{entry.grade}`, "
        f"as {stale.now} shows; {do}, or let --update-baseline do it"
    )


def _of_loop(
    ledger: Ledger, found: Iterable[tuple[CaseResult, CheckResult | None]], reason: str, loop: str | None
) -> Iterator[Entry]:
    shown: dict[tuple[str, str | None, str], list[str]] = {}
    for result, check in found:
        key = (result.scenario, check.clause if check else None, _grade(result, check))
        shown.setdefault(key, []).append(result.variant)
    patterns = {
        (clause, grade): list(_patterns(ledger, clause, grade)) for _, clause, grade in shown if clause
    }
    written: set[tuple[str | None, str, Pattern]] = set()
    for (scenario, clause, grade), variants in shown.items():
        everywhere = set(variants) >= ledger.variants(scenario)
        known = patterns.get((clause or "", grade), [])
        wide = next((each for each in known if _covers(each, scenario, variants)), None)
        for variant in (None,) if everywhere or wide else variants:
            said = wide or Pattern(scenario, variant)
            if (clause, grade, said) not in written:
                written.add((clause, grade, said))
                yield Entry(
                    scenario=said.scenario,
                    clause=clause,
                    loop=loop,
                    variant=None if said.variant is None else ("sse" if said.variant == "sse" else "json"),
                    grade=cast("Grade", grade),
                    reason=reason,
                )


def _patterns(ledger: Ledger, clause: str, grade: str) -> Iterator[Pattern]:
    """The widest first. What only a scenario itself expects is another thing in each."""
    decided = {} if clause == OWN else ledger.decided.get(clause, {})
    broken = [case.scenario for case, now in decided.items() if now == grade]
    families = dict.fromkeys(f"{scenario.partition('/')[0]}/{_ANY}" for scenario in broken)
    for variant in (None, "json", "sse"):
        for scenario in [*([_ANY] if len(families) > 1 else []), *families]:
            inside = {
                case: now
                for case, now in decided.items()
                if variant in (None, case.variant) and fnmatchcase(case.scenario, scenario)
            }
            many = len({case.scenario for case in inside}) >= MANY
            if many and set(inside.values()) == {grade} and ledger.played_all(scenario, variant):
                yield Pattern(scenario, variant)


def _covers(pattern: Pattern, scenario: str, variants: Iterable[str]) -> bool:
    inside = all(pattern.variant in (None, variant) for variant in variants)
    return inside and fnmatchcase(scenario, pattern.scenario)


def _grade(result: CaseResult, check: CheckResult | None) -> str:
    return check.grade if check else result.grade
