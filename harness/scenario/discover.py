"""Where scenarios come from: those that travel with the package, and folders of one's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, partial
from pathlib import Path

from . import exits, stops
from .load import load_folder, load_scenario, scenario_files
from .model import Scenario
from .problems import Problem, ScenarioError, Spot


def bundled_folder() -> Path:
    """The folder of the bundled scenarios: inside an installed package, beside it in a checkout."""
    installed = Path(__file__).parents[1] / "bundled"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "scenarios"


def find_scenarios(
    folders: Sequence[Path] = (),
    *,
    bundled: bool = True,
    clauses: Collection[str] | None = None,
    seed: int = 0,
) -> list[Scenario]:
    """The scenarios of all folders, the bundled ones first, and with them the made ones.

    Raises `ScenarioError` with the problems of all files, and where two files have one id.
    """
    found: list[Scenario] = []
    problems: list[Problem] = []
    loads: list[Callable[..., list[Scenario]]] = [partial(load_folder, folder) for folder in folders]
    for load in [_bundled, *loads] if bundled else loads:
        try:
            found += load(clauses=clauses, seed=seed)
        except ScenarioError as error:
            problems += error.problems
    problems += _doubles(found)
    if problems:
        raise ScenarioError(problems)
    return found


def _bundled(*, clauses: Collection[str] | None, seed: int) -> list[Scenario]:
    known = None if clauses is None else frozenset(clauses)
    return [*_bundled_files(bundled_folder(), known, seed), *exits.scenarios(), *stops.scenarios()]


@cache
def _bundled_files(folder: Path, clauses: frozenset[str] | None, seed: int) -> tuple[Scenario, ...]:
    """Read once in a process: nobody edits them meanwhile, and they are frozen."""
    return tuple(load_folder(folder, clauses=clauses, seed=seed))


def validate_paths(paths: Iterable[Path], *, clauses: Collection[str] | None = None) -> list[str]:
    """What is wrong with the scenario files, and all below the folders, at `paths`; one line a problem."""
    problems: list[Problem] = []
    for path in paths:
        try:
            files = scenario_files(path) if path.is_dir() else [path]
        except ScenarioError as error:
            problems += error.problems
            continue
        for file in files:
            try:
                load_scenario(file, clauses=clauses)
            except ScenarioError as error:
                problems += error.problems
    return [str(problem) for problem in dict.fromkeys(problems)]


def _doubles(scenarios: list[Scenario]) -> list[Problem]:
    first: dict[str, Scenario] = {}
    problems: list[Problem] = []
    for scenario in scenarios:
        other = first.setdefault(scenario.id, scenario)
        if other is not scenario:
            whose = other.path or "a made one"
            message = f"the id `{scenario.id}` is that of {whose} too; rename one of the files"
            problems.append(Problem(scenario.path, Spot(1, 1), message))
    return problems
