"""`validate PATH…`: every problem of every file, with its place, or that there is none."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..report.lines import counted
from ..scenario.discover import validate_paths
from ..scenario.load import scenario_files
from . import USAGE
from .terminal import write


def run(options: Namespace) -> int:
    """Check the files; exit code 2 where one has a problem."""
    paths = [Path(path) for path in options.paths]
    problems = validate_paths(paths)
    if problems:
        write("\n".join([*map(str, problems), counted(len(problems), "problem")]) + "\n")
        return USAGE
    files = sum(len(scenario_files(path)) if path.is_dir() else 1 for path in paths)
    write(f"{counted(files, 'scenario')}, no problem\n")
    return 0
