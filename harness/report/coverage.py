"""What a run decided, what rests on the adapter's word alone, and how to have the rest judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from ..clauses import CLAUSES, Clause
from ..turn import EXPOSABLE

DECIDING = ("pass", "warn", "fail", "known")


class Judged(NamedTuple):
    """One check's verdict, as far as coverage needs it."""

    clause: str
    grade: str
    evidence: str


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """Clauses by what the run could say about them, in the order of the catalogue."""

    clauses: int
    decided: list[str]
    by_word: list[str]
    """Decided by what the adapter returned or called, with nothing on the wire to compare it with."""
    undecided: list[str]

    def __str__(self) -> str:
        said = f"{len(self.decided)} of {self.clauses} clauses decided"
        return said + (f", {len(self.by_word)} by the adapter's word" if self.by_word else "")


def coverage_of(judged: Iterable[Judged], catalogue: Mapping[str, Clause] = CLAUSES) -> Coverage:
    """What all the checks of a run decided together."""
    evidence: dict[str, set[str]] = {}
    for check in judged:
        if check.grade in DECIDING:
            evidence.setdefault(check.clause, set()).add(check.evidence)
    decided = [clause for clause in catalogue if clause in evidence]
    return Coverage(
        clauses=len(catalogue),
        decided=decided,
        by_word=[clause for clause in decided if "wire" not in evidence[clause]],
        undecided=[clause for clause in catalogue if clause not in evidence],
    )


def unexposed(exposes: Iterable[str], catalogue: Mapping[str, Clause] = CLAUSES) -> dict[str, list[str]]:
    """For each thing the loop does not expose, the clauses that need it: `{"report": ["TRUNC-3"]}`.

    Where a clause takes one of several, it is listed under the first.
    """
    has = set(exposes)
    missing: dict[str, list[str]] = {}
    for clause in catalogue.values():
        for need in clause.needs:
            choices = need.split("|")
            if not has.intersection(choices):
                missing.setdefault(choices[0], []).append(clause.id)
    return {name: missing[name] for name in EXPOSABLE if name in missing}
