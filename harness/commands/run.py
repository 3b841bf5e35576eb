"""`run`: play scenarios against a loop, show what is broken as it is found, sum up, write reports."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from ..history import HistoryError
from ..probe import Probe
from ..report import json as json_report
from ..report.lines import Line, counted
from ..report.summary import digest, summary_lines
from ..runner import DEFAULT_SEED, CaseResult, Runner
from . import CANNOT_BE_DRIVEN, Stop
from .chosen import chosen_cases
from .progress import progress
from .reports import report_path, write_report
from .screen import Screen
from .target import target_of
from .terminal import show
from .verdict import exit_code

MOST_JOBS = 4
"""Beyond this the loops of a large machine would wait for one provider."""
CASES_EACH = 8
"""So many are played in the time in which a further process is started and warmed up."""


def run(options: Namespace) -> int:
    """Run, and return the exit code."""
    seed = DEFAULT_SEED if options.seed is None else options.seed
    reports = [report_path(written) for written in options.report]
    cases = chosen_cases(options.selectors, options.scenarios, seed)
    screen = Screen(options, seed)
    jobs = options.jobs or min(_processors(), MOST_JOBS, len(cases) // CASES_EACH + 1)
    with _runner(options, seed, jobs) as runner:
        probe = _driven(runner)
        runnable = [case for case in cases if case.variant in probe.variants]
        with progress(len(runnable)) as step:

            def seen(result: CaseResult) -> None:
                screen.add(result)
                step(result)

            try:
                results = runner.run_all(runnable, seen)
            except HistoryError as error:
                raise Stop(f"--history {options.history}: {error}") from error
    show(screen.rest())
    show(Line(note, "dim") for note in probe.notes)
    if len(runnable) < len(cases) and not runnable:
        show([Line(f"{counted(len(cases), 'case')} not run: the loop has no such variant")])
    show(summary_lines([digest(runner.name, probe.exposes, result) for result in results]))
    for path in reports:
        write_report(path, json_report.report(runner.name, seed, results))
    return exit_code(results, strict=options.strict)


def _runner(options: Namespace, seed: int, jobs: int) -> Runner:
    target = target_of(options)
    history = Path(options.history) if options.history else None
    if history is not None:
        try:
            history.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Stop(f"--history {history}: {error.strerror}") from error
    return Runner(target, in_process=options.in_process, jobs=jobs, seed=seed, history_dir=history)


def _processors() -> int:
    """How many this process may use, which in a container are often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _driven(runner: Runner) -> Probe:
    probe = runner.probe()
    if probe.problem:
        raise Stop(f"the loop cannot be driven, so nothing was judged\n{probe.problem}", CANNOT_BE_DRIVEN)
    return probe
