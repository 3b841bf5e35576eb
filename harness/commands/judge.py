"""`judge PATH…`: judge recordings and stored histories, without running anything."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from ..cassettes.find import find
from ..cassettes.problems import CassetteError
from ..cassettes.verdicts import Judged, judge_cassette
from ..history import AnyEvent, Began, Finished, HistoryError, read_history
from ..judge import judge
from ..report import json as json_report
from ..report.lines import Line
from ..report.summary import digest, summary_lines
from ..report.text import case_lines
from ..report.traffic import traffic_json, traffic_lines
from ..runner import DEFAULT_SEED, CaseResult
from . import Stop
from .reports import report_path, write_report
from .terminal import show
from .verdict import exit_code

_HISTORY = ".ndjson"


def run(options: Namespace) -> int:
    """Judge each path; the exit code is that of a run with these results."""
    reports = [report_path(written) for written in options.report]
    paths = [Path(path) for path in options.paths]
    stored = [path for path in paths if path.suffix == _HISTORY]
    others = [path for path in paths if path not in stored]
    stored += [file for path in others for file in sorted(path.rglob(f"*{_HISTORY}"))]
    histories = [_judged(path, _read(path)) for path in stored]
    recordings = _recordings(others)
    if others and not recordings and not histories:
        raise Stop(f"no recording in {', '.join(map(str, others))}: they end in .yaml, .yml or .json")
    if histories:
        show(_history_lines(histories))
    if recordings:
        show(traffic_lines(recordings))
    results = [*histories, *map(_as_case, recordings)]
    for path in reports:
        report = json_report.report("", DEFAULT_SEED, results)
        report["results"] = report["results"][: len(histories)]
        write_report(path, report | {"recordings": [traffic_json(judged) for judged in recordings]})
    return exit_code(results, strict=options.strict)


def _recordings(paths: list[Path]) -> list[Judged]:
    try:
        return [judge_cassette(cassette) for cassette in find(paths).read()]
    except CassetteError as error:
        raise Stop(f"a recording cannot be used:\n{error}") from error


def _as_case(judged: Judged) -> CaseResult:
    return CaseResult(
        scenario=str(judged.cassette.path), variant="", grade=judged.grade, checks=judged.checks
    )


def _history_lines(results: list[CaseResult]) -> Iterator[Line]:
    digests = []
    for result in results:
        began = result.events[0]
        if isinstance(began, Began):
            digests.append(digest(began.loop, began.exposes, result))
        if result.grade in ("fail", "error"):
            yield from case_lines(result, f"loop-harness judge {result.history}")
            yield Line("")
    yield from summary_lines(digests)


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
