"""`list`: the scenarios, each with its variants, the clauses it is about, and what a right loop does."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..report.lines import Line, counted, shortened
from ..scenario.model import Scenario
from .chosen import chosen_scenarios
from .profiled import asks_for_names, name_lines, profile_lines, profile_of
from .terminal import show


def run(options: Namespace) -> int:
    """Print the chosen scenarios by family; of a profile also what it scores."""
    if asks_for_names(options):
        show(name_lines())
        return 0
    profile = profile_of(options)
    show(_lines(chosen_scenarios(options.selectors, options.scenarios, profile)))
    if profile:
        show(profile_lines(profile))
    return 0


def _lines(scenarios: Sequence[Scenario]) -> Iterator[Line]:
    width = max(len(_name(scenario)) for scenario in scenarios)
    for family, members in groupby(scenarios, key=lambda scenario: scenario.id.partition("/")[0]):
        yield Line(family, "head")
        for scenario in members:
            about = ", ".join(scenario.clauses)
            yield Line(f"  {_name(scenario):<{width}}  {shortened(scenario.title, 72)}  ({about})")
    cases = sum(len(scenario.variants) for scenario in scenarios)
    yield Line(f"{counted(len(scenarios), 'scenario')}, {counted(cases, 'case')}", "dim")


def _name(scenario: Scenario) -> str:
    return f"{scenario.id}[{','.join(scenario.variants)}]"
