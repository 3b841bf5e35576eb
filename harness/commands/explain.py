"""`explain CLAUSE`: what a clause asks for, why, where that is from, and how to fix a breach."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from ..clauses import CLAUSES, FAMILIES, Clause
from ..report.lines import Line, labelled
from ..scenario.discover import find_scenarios
from ..scenario.problems import nearest
from ..turn import EXPOSABLE
from . import Stop
from .terminal import show

_GROUNDS = {
    "recorded": "recorded: a real exchange shows it",
    "documented": "documented",
    "construction": "by construction: the loop loses what it was given",
}


def run(options: Namespace) -> int:
    """Print the clause, or name the nearest one."""
    clause = CLAUSES.get(options.clause.upper())
    if clause is None:
        raise Stop(f"there is no clause {options.clause}{nearest(options.clause.upper(), CLAUSES)}")
    show(_lines(clause))
    return 0


def _lines(clause: Clause) -> Iterator[Line]:
    family = FAMILIES.get(clause.id.partition("-")[0], "")
    yield Line(f"{clause.id}  {clause.level}  {family}".rstrip(), "head")
    yield Line("")
    yield from labelled("asks", clause.sentence)
    yield from labelled("because", clause.reason)
    yield from labelled("ground", f"{_GROUNDS[clause.ground]}")
    yield Line(f"  {'source':<10}{clause.source}")
    yield from labelled("advice", clause.advice)
    for need in clause.needs:
        ways = "; or ".join(EXPOSABLE.get(name, name) for name in need.split("|"))
        yield from labelled("needs", ways)
    about = [scenario.id for scenario in find_scenarios() if clause.id in scenario.clauses]
    yield from labelled("scenarios", ", ".join(about) or "judged wherever it applies", column=11)
