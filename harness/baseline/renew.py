"""What a run says about a baseline, as the next version of its file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

from ..judge import CheckResult
from ..runner import CaseResult
from .ledger import Ledger, Stale
from .model import Entry, Grade

WRITTEN = ("fail", "error")
"""The grades for which entries are made; with `strict` all that a run can be red for."""


def new_entries(
    ledgers: Mapping[str, Ledger],
    played: Mapping[str, Collection[str]],
    *,
    reason: str,
    strict: bool = False,
) -> list[Entry]:
    """Entries for what was unexpected, one for each clause of a scenario where all variants that ran show it.

    `ledgers` are the loops' by their names, `played` the variants of each scenario that ran.
    """
    entries: list[Entry] = []
    for loop, ledger in ledgers.items():
        found = [each for each in ledger.unexpected if strict or _grade(*each) in WRITTEN]
        entries += _of_loop(found, played, reason, loop if len(ledgers) > 1 else None)
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


def _of_loop(
    found: Sequence[tuple[CaseResult, CheckResult | None]],
    played: Mapping[str, Collection[str]],
    reason: str,
    loop: str | None,
) -> Iterable[Entry]:
    shown: dict[tuple[str, str | None, str], list[str]] = {}
    for result, check in found:
        key = (result.scenario, check.clause if check else None, _grade(result, check))
        shown.setdefault(key, []).append(result.variant)
    for (scenario, clause, grade), variants in shown.items():
        everywhere = set(variants) >= set(played.get(scenario, ()))
        for variant in (None,) if everywhere else variants:
            yield Entry(
                scenario=scenario,
                clause=clause,
                loop=loop,
                variant=None if variant is None else ("sse" if variant == "sse" else "json"),
                grade=cast("Grade", grade),
                reason=reason,
            )


def _grade(result: CaseResult, check: CheckResult | None) -> str:
    return check.grade if check else result.grade
