"""`judge PATH…`: judge recordings and stored histories, without running anything."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ..cassettes.find import find
from ..cassettes.problems import CassetteError
from ..cassettes.verdicts import Judged, judge_cassette
from ..history import AnyEvent, Began, Finished, HistoryError
from ..judge import judge
from ..reading import histories_among, read_history
from ..report.clean import Cleaner
from ..report.kinds import View
from ..report.model import LoopReport, covered, report_of
from ..report.told import Teller, heading
from ..report.traffic import recordings_report, traffic_lines
from ..runner import CaseResult
from . import Stop
from .reports import view_of, wanted_reports, write_reports
from .terminal import show
from .verdict import exit_code

_AGAIN = ["loop-harness", "judge", "{history}"]


def run(options: Namespace) -> int:
    """Judge each path; the exit code is that of a run with these results.

    What cannot be read keeps nothing else from being judged: it is told at the end, and then the code is 2.
    """
    view = view_of(options)
    wanted = wanted_reports(options.report)
    stored, others = histories_among([Path(path) for path in options.paths])
    cleaner = Cleaner()
    recordings, unread = _recordings(others, cleaner)
    histories, unreadable = _histories(stored)
    loops = _by_loop(histories, cleaner)
    unread += unreadable
    if others and not (recordings or loops or unread):
        raise Stop(f"no recording in {', '.join(map(str, others))}: they end in .yaml, .yml or .json")
    for loop in loops:
        _show(loop, view, several=len(loops) > 1)
    if recordings:
        loops.append(recordings_report(recordings))
        if view == View():
            show(traffic_lines(recordings))
        else:
            _show(loops[-1], view, several=False)
    if loops:
        loops[-1].notes += [f"cannot be read: {each}" for each in unread]
    write_reports(wanted, report_of(loops), view)
    if unread:
        raise Stop("\n".join(["what cannot be read was not judged:", *unread]))
    results = [result for loop in loops for result in loop.results]
    return exit_code(results, strict=options.strict, part=options.allow_undecided)


def _show(loop: LoopReport, view: View, *, several: bool) -> None:
    teller = Teller(loop, view)
    show(heading(loop) if several else ())
    for result in loop.results:
        show(teller.result(result))
    show(teller.rest(loop.results))


def _recordings(paths: list[Path], cleaner: Cleaner) -> tuple[list[Judged], list[str]]:
    """The recordings that can be read, judged, and what is wrong with the others. Raises `Stop`."""
    try:
        found = find(paths)
    except CassetteError as error:
        raise Stop(str(error)) from error
    recordings = [judge_cassette(cassette) for cassette in found.sound()]
    for judged in recordings:
        judged.checks = cleaner.checks(judged.checks)
    return recordings, [str(problem) for problem in found.problems]


def _by_loop(histories: Sequence[tuple[Path, list[AnyEvent]]], cleaner: Cleaner) -> list[LoopReport]:
    """The results of each loop that a history is of, in the order in which they come."""
    loops: dict[str, LoopReport] = {}
    for path, events in histories:
        began = events[0]
        assert isinstance(began, Began)  # noqa: S101 - or it could not be read
        fresh = LoopReport(
            name=began.loop, target=began.loop, seed=began.seed, exposes=began.exposes, command=_AGAIN
        )
        loops.setdefault(began.loop, fresh).results.append(cleaner.result(_judged(path, events)))
    for loop in loops.values():
        loop.coverage = covered(loop.results)
    return list(loops.values())


def _histories(paths: Sequence[Path]) -> tuple[list[tuple[Path, list[AnyEvent]]], list[str]]:
    """The histories that can be read, and what is wrong with the others."""
    found: list[tuple[Path, list[AnyEvent]]] = []
    problems: list[str] = []
    for path in paths:
        try:
            found.append((path, read_history(path)))
        except HistoryError as error:
            problems.append(str(error))
    return found, problems


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
