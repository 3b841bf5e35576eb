"""Scenario files to scenarios. Every problem of every file is reported at once."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from .. import clauses as catalogue
from .crashes import each_crash
from .expand import expand
from .file import ScenarioFile
from .meaning import check_meaning
from .model import Scenario
from .nodes import compose, read_bytes
from .problems import Problem, ScenarioError, Spot, missing
from .shape import Reader

SUFFIXES = (".yaml", ".yml")
_ID = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")


@cache
def known_clauses() -> frozenset[str]:
    """The ids of the catalogue."""
    found: dict[str, Any] = catalogue.CLAUSES
    return frozenset(found)


def parse_scenario(
    data: bytes,
    *,
    scenario_id: str,
    path: str = "<text>",
    clauses: Collection[str] | None = None,
    seed: int = 0,
) -> Scenario:
    """The scenario in a file's bytes.

    `clauses` are the known ids (by default the catalogue's), `seed` decides the text that was left out.
    Raises `ScenarioError` with all that is wrong.
    """
    root = compose(data, path)
    reader = Reader(path)
    values = reader.read(root, ScenarioFile)
    if values or not reader.problems:
        check_meaning(values, reader, known_clauses() if clauses is None else clauses)
    if reader.problems:
        raise ScenarioError(reader.problems)
    return expand(values, scenario_id=scenario_id, path=path, seed=seed)


def load_scenario(
    path: Path, root: Path | None = None, *, clauses: Collection[str] | None = None, seed: int = 0
) -> Scenario:
    """The scenario in a file. Its id is the path below `root` (by default its folder) without the ending.

    Raises `ScenarioError`.
    """
    inside = path.relative_to(root) if root else Path(path.name)
    scenario_id = inside.with_suffix("").as_posix()
    if not _ID.fullmatch(scenario_id):
        message = f"`{scenario_id}` is no id of a scenario; name files with letters, digits, `-`, `_` and `.`"
        raise ScenarioError([Problem(shown_path(path), Spot(1, 1), message)])
    return parse_scenario(
        read_bytes(path), scenario_id=scenario_id, path=shown_path(path), clauses=clauses, seed=seed
    )


def load_folder(root: Path, *, clauses: Collection[str] | None = None, seed: int = 0) -> list[Scenario]:
    """All scenarios below a folder, ordered by id. Raises `ScenarioError` with the problems of all files."""
    scenarios: list[Scenario] = []
    problems: list[Problem] = []
    for path in scenario_files(root):
        try:
            scenarios += each_crash(load_scenario(path, root, clauses=clauses, seed=seed))
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return sorted(scenarios, key=lambda scenario: scenario.id)


def scenario_files(root: Path) -> list[Path]:
    """The scenario files below a folder, hidden ones left out. Raises `ScenarioError` where there is none."""
    if not root.is_dir():
        not_one = Problem(str(root), Spot(1, 1), "the folder of scenarios is not a folder")
        raise ScenarioError([not_one if root.exists() else missing(root, "folder of scenarios")])
    files = sorted(
        path
        for path in root.rglob("*")
        if path.suffix in SUFFIXES and not any(part.startswith(".") for part in path.relative_to(root).parts)
    )
    if not files:
        raise ScenarioError([Problem(str(root), Spot(1, 1), "holds no scenario; they end in .yaml")])
    return files


def shown_path(path: Path) -> str:
    """The path as a user would write it: from the working directory where it lies below it."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)
