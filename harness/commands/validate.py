"""`validate PATH…`: every problem of every file, with its place, or that there is none."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..report.lines import counted
from ..scenario.discover import validate_paths
from ..scenario.load import scenario_files
from . import USAGE


def run(options: Namespace) -> int:
    """Check the files; exit code 2 where one has a problem."""
    paths = [Path(path) for path in options.paths]
    problems = validate_paths(paths)
    for problem in problems:
        print(problem)
    if problems:
        print(counted(len(problems), "problem"))
        return USAGE
    files = sum(len(scenario_files(path)) if path.is_dir() else 1 for path in paths)
    print(f"{counted(files, 'scenario')}, no problem")
    return 0
