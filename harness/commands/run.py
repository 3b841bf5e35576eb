"""`run`: play scenarios against one loop or several, show what is broken as it is found, write reports."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from ..case import Case
from ..history import HistoryError
from ..report.clean import Cleaner
from ..report.kinds import View
from ..report.lines import Line, counted
from ..report.model import LoopReport, covered, report_of
from ..report.told import Teller, heading, loops_line
from ..runner import DEFAULT_SEED, CaseResult, Runner
from . import CANNOT_BE_DRIVEN, Stop
from .chosen import chosen_cases
from .known import Comparison
from .part import Part
from .profiled import profile_of
from .progress import progress
from .reports import view_of, wanted_reports, write_reports
from .services import port_of
from .target import Contender, contenders, declared_by
from .terminal import show
from .verdict import BROKEN, worst

MOST_JOBS = 4
"""Beyond this the loops of a large machine would wait for one provider."""
CASES_EACH = 8
"""So many are played in the time in which a further process is started and warmed up."""


def run(options: Namespace) -> int:
    """Run, and return the exit code."""
    seed = DEFAULT_SEED if options.seed is None else options.seed
    view = view_of(options)
    loops = contenders(options, seed)
    wanted = wanted_reports(options.report)
    profile = profile_of(options)
    cases = chosen_cases(options.selectors, options.scenarios, seed, profile)
    part = Part(options, [loop.name for loop in loops], profile)
    known = Comparison(options, whole=part.whole, part=part.narrowed)
    judged: list[LoopReport] = []
    for loop in loops:
        if len(loops) > 1:
            show([*([Line("")] if judged else []), *heading(LoopReport(name=loop.name, target=loop.told))])
        judged.append(_judged(options, loop, cases, view, known, part=part, several=len(loops) > 1))
    report = report_of(judged)
    if len(loops) > 1:
        show([Line(""), loops_line(report)])
    lines, red = known.end(judged)
    show(lines)
    write_reports(wanted, report, view)
    if len(loops) == 1 and judged[0].problem:
        raise Stop(_undriven(judged[0]), CANNOT_BE_DRIVEN)
    if options.update_baseline:
        return 0
    return worst(judged, strict=options.strict, part=part.narrowed) or (BROKEN if red else 0)


def _judged(
    options: Namespace,
    loop: Contender,
    cases: Sequence[Case],
    view: View,
    known: Comparison,
    *,
    part: Part,
    several: bool,
) -> LoopReport:
    """What became of one loop, told as it becomes known. Raises `Stop`."""
    seed = DEFAULT_SEED if options.seed is None else options.seed
    cleaner = Cleaner()
    found = LoopReport(
        name=loop.name, target=loop.told, seed=seed, command=loop.command, shard=part.shard_name
    )
    found.profile = options.profile or ""
    cases = part.of_loop(loop.name, cases)
    if not cases:
        show([Line(f"{loop.name}: nothing to play, for nothing failed in {options.last_failed}")])
        return found
    jobs = options.jobs or _jobs(options, len(part.of_shard(cases)))
    with Runner(
        loop.target,
        in_process=options.in_process,
        jobs=jobs,
        seed=seed,
        declaration=declared_by(options),
        history_dir=loop.history,
        port=port_of(options),
    ) as runner:
        probe = runner.probe()
        if probe.problem:
            found.problem = cleaner.text(probe.problem)
            if several:
                print(f"loop-harness: {_undriven(found)}", file=sys.stderr)
            return found
        runnable = [case for case in cases if case.variant in probe.variants]
        found.exposes, found.notes = probe.exposes, list(probe.notes)
        if not runnable:
            found.notes.append(f"{counted(len(cases), 'case')} not run: the loop has no such variant")
        if part.shard:
            found.cases = [case.id for case in runnable]
            runnable = part.of_shard(runnable)
        known.begin(loop.name, runnable)
        named = {case.id: case.scenario.clauses for case in runnable}
        teller = Teller(found, view)
        cleaned: dict[str, CaseResult] = {}
        with progress(len(runnable)) as step:

            def seen(result: CaseResult) -> None:
                cleaned[result.id] = known.enter(
                    loop.name, part.scored(cleaner.result(result), named[result.id])
                )
                show(teller.result(cleaned[result.id]))
                step(result)

            try:
                results = runner.run_all(runnable, seen)
            except HistoryError as error:
                raise Stop(f"--history {options.history}: {error}") from error
    found.results = [cleaned[result.id] for result in results]
    found.coverage = covered(found.results, found.profile)
    show(teller.rest(found.results))
    return found


def _undriven(loop: LoopReport) -> str:
    return f"the loop cannot be driven, so nothing was judged\n{loop.problem}"


def _jobs(options: Namespace, cases: int) -> int:
    # A service is one: who wants it asked for several things at once says so.
    return 1 if options.http else min(_processors(), MOST_JOBS, cases // CASES_EACH + 1)


def _processors() -> int:
    """How many this process may use, which in a container are often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
