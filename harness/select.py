"""Which scenarios a run is about: the bundled ones and a folder of one's own, narrowed by selectors.

A selector is a family (`pause`), an id or a pattern of ids (`pause/no-tools`, `*/two-*`), or a clause
(`PAUSE-1`, `PAUSE`); an id or a pattern may name a variant: `pause/no-tools[sse]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from .case import Case
from .scenario.load import load_folder
from .scenario.model import Scenario
from .scenario.problems import Problem, ScenarioError, Spot, nearest

_SELECTOR = re.compile(r"(?P<name>[^\[\]]+)(\[(?P<variant>[^\[\]]*)\])?")


class SelectorError(Exception):
    """A selector that cannot be read, or matches nothing; the message names the nearest that would."""


def bundled_folder() -> Path:
    """Where the scenarios that come with the suite are: inside a wheel, beside the package in a checkout."""
    inside = Path(__file__).parent / "bundled"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "scenarios"


def find_scenarios(folder: Path | None = None, seed: int = 1) -> list[Scenario]:
    """The bundled scenarios and those of `folder`, ordered by id. Raises `ScenarioError`."""
    scenarios = load_folder(bundled_folder(), seed=seed)
    if folder is None:
        return scenarios
    known = {scenario.id: scenario for scenario in scenarios}
    own = load_folder(folder, seed=seed)
    twice = [scenario for scenario in own if scenario.id in known]
    if twice:
        raise ScenarioError(
            [
                Problem(
                    scenario.path,
                    Spot(1, 1),
                    f"{scenario.id} is a bundled scenario's id; give it another name",
                )
                for scenario in twice
            ]
        )
    return sorted([*scenarios, *own], key=lambda scenario: scenario.id)


def find_cases(selectors: Sequence[str] = (), folder: Path | None = None, seed: int = 1) -> list[Case]:
    """The chosen cases in order, each once. Raises `ScenarioError` and `SelectorError`."""
    cases = [Case(each, variant) for each in find_scenarios(folder, seed) for variant in each.variants]
    if not selectors:
        return cases
    chosen: set[str] = set()
    for selector in selectors:
        found = {case.id for case in cases if _matches(case, *_parsed(selector))}
        if not found:
            raise SelectorError(f"no scenario matches {selector}{_hint(selector, cases)}")
        chosen |= found
    return [case for case in cases if case.id in chosen]


def scenarios_about(clause: str) -> list[str]:
    """Ids of the bundled scenarios that name this clause."""
    return [scenario.id for scenario in find_scenarios() if clause in scenario.clauses]


def _parsed(selector: str) -> tuple[str, str | None]:
    match = _SELECTOR.fullmatch(selector)
    if match is None:
        raise SelectorError(f"{selector} is no selector: write pause, 'pause/*' or 'pause/no-tools[sse]'")
    variant = match["variant"]
    if variant not in (None, "json", "sse"):
        raise SelectorError(f"{selector}: there is no variant [{variant}]; known: json, sse")
    return match["name"], variant


def _matches(case: Case, name: str, variant: str | None) -> bool:
    if variant is not None and variant != case.variant:
        return False
    if name.isupper():
        return any(clause == name or clause.partition("-")[0] == name for clause in case.scenario.clauses)
    name = name.rstrip("/")
    return fnmatchcase(case.scenario.id, name) or case.scenario.id.startswith(f"{name}/")


def _hint(selector: str, cases: Sequence[Case]) -> str:
    name, variant = _parsed(selector)
    if variant is not None and any(_matches(case, name, None) for case in cases):
        return "; it has the other variant only"
    if name.isupper():
        return nearest(name, {clause for case in cases for clause in case.scenario.clauses})
    ids = {case.scenario.id for case in cases}
    return nearest(name, ids | {each.partition("/")[0] for each in ids})
