"""`explain NAME`: what a clause asks for, why, how to fix a breach; or what a scenario plays and expects."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from ..clauses import CLAUSES, FAMILIES, Clause
from ..report.lines import Line, labelled
from ..scenario.discover import find_scenarios
from ..scenario.model import Scenario
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
    """Print the clause or the scenario, or name the nearest one."""
    clause = CLAUSES.get(options.name.upper())
    scenarios = {scenario.id: scenario for scenario in find_scenarios()}
    scenario = scenarios.get(options.name.partition("[")[0])
    if clause is not None:
        show(_clause_lines(clause, [each.id for each in scenarios.values() if clause.id in each.clauses]))
    elif scenario is not None:
        show(_scenario_lines(scenario))
    else:
        hint = nearest(options.name, [*CLAUSES, *scenarios], listed=0)
        raise Stop(f"there is no clause and no scenario {options.name}{hint}")
    return 0


def _clause_lines(clause: Clause, scenarios: list[str]) -> Iterator[Line]:
    family = FAMILIES.get(clause.id.partition("-")[0], "")
    yield Line(f"{clause.id}  {clause.level}  {family}".rstrip(), "head")
    yield Line("")
    yield from labelled("asks", clause.sentence, column=11)
    yield from labelled("because", clause.reason, column=11)
    yield from labelled("ground", _GROUNDS[clause.ground], column=11)
    yield Line(f"  {'source':<11}{clause.source}")
    yield from labelled("advice", clause.advice, column=11)
    for need in clause.needs:
        ways = "; or ".join(EXPOSABLE.get(name, name) for name in need.split("|"))
        yield from labelled("needs", ways, column=11)
    yield from labelled("scenarios", ", ".join(scenarios) or "judged wherever it applies", column=11)


def _scenario_lines(scenario: Scenario) -> Iterator[Line]:
    yield Line(f"{scenario.id}  {scenario.title}", "head")
    yield Line("")
    yield from labelled("why", scenario.why, column=11)
    yield from labelled("clauses", ", ".join(scenario.clauses), column=11)
    yield from labelled("variants", ", ".join(scenario.variants), column=11)
    yield Line(f"  {'file':<11}{scenario.path}")
    yield Line("")
    for line in Path(scenario.path).read_text(encoding="utf-8").splitlines():
        yield Line(f"    {line}".rstrip())
