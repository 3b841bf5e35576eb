"""`validate PATH…`: every problem of every file, with its place, or that there is none."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..report.lines import counted
from ..scenario.load import load_folder, load_scenario
from ..scenario.problems import Problem, ScenarioError
from . import USAGE


def run(options: Namespace) -> int:
    """Check the files; exit code 2 where one has a problem."""
    good = 0
    problems: list[Problem] = []
    for path in map(Path, options.paths):
        try:
            good += len(load_folder(path)) if path.is_dir() else bool(load_scenario(path))
        except ScenarioError as error:
            problems += error.problems
    for problem in problems:
        print(problem)
    files = len({problem.path for problem in problems})
    if problems:
        print(f"{counted(len(problems), 'problem')} in {counted(files, 'file')}")
        return USAGE
    print(f"{counted(good, 'scenario')}, no problem")
    return 0
