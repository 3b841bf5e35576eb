"""The cases a run is about: the bundled scenarios and a folder of one's own, narrowed by selectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
