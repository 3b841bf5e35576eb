"""`judge HISTORY…`: judge what was stored, without running anything."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..history import AnyEvent, Began, Finished, HistoryError, read_history
from ..judge import judge
from ..report.lines import Line
from ..report.summary import digest, summary_lines
from ..report.text import case_lines
from ..runner import CaseResult
from . import Stop
from .terminal import show
from .verdict import exit_code


def run(options: Namespace) -> int:
    """Judge each history; the exit code is that of a run with these results."""
    results: list[CaseResult] = []
    digests = []
    for path in map(Path, options.histories):
        events = _read(path)
        results.append(_judged(path, events))
        began = events[0]
        if isinstance(began, Began):
            digests.append(digest(began.loop, began.exposes, results[-1]))
        if results[-1].grade in ("fail", "error"):
            show([*case_lines(results[-1], f"loop-harness judge {path}"), Line("")])
    show(summary_lines(digests))
    return exit_code(results, strict=options.strict)


def _read(path: Path) -> list[AnyEvent]:
    try:
        return read_history(path)
    except HistoryError as error:
        raise Stop(str(error)) from error


def _judged(path: Path, events: list[AnyEvent]) -> CaseResult:
    began = events[0]
    verdict = judge(events)
    complete = isinstance(events[-1], Finished)
    return CaseResult(
        scenario=began.scenario_id if isinstance(began, Began) else path.stem,
        variant=began.variant if isinstance(began, Began) else "json",
        grade=verdict.grade,
        seconds=events[-1].at,
        checks=verdict.checks,
        reason=verdict.reason or ("" if complete else f"{path}: the run did not come to its end"),
        events=events,
        history=str(path),
    )
