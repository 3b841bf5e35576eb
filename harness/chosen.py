"""The cases a run is about: the bundled scenarios and a folder of one's own, narrowed by selectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .case import Case
from .runner import DEFAULT_SEED
from .scenario.discover import find_scenarios
from .scenario.select import select


def find_cases(
    selectors: Sequence[str] = (), folder: Path | None = None, seed: int = DEFAULT_SEED
) -> list[Case]:
    """The chosen cases in order, each once. Raises `ScenarioError` and `SelectorError`."""
    scenarios = find_scenarios([folder] if folder else [], seed=seed)
    return [Case(scenario, variant) for scenario, variant in select(scenarios, selectors)]


class Shard(NamedTuple):
    """One part of a run that several machines share."""

    number: int
    """From 1."""
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, cases: Sequence[Case]) -> list[Case]:
        """The cases of this shard, whoever asks for it.

        Scenarios are dealt out in turn, since those that take their time stand together. The variants of one
        are in one shard, for a baseline has to see both.
        """
        places = {name: place for place, name in enumerate(dict.fromkeys(case.scenario.id for case in cases))}
        return [case for case in cases if places[case.scenario.id] % self.of == self.number - 1]
