"""One loop of a `run`: its cases played, and each verdict told and entered as soon as it is known."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence

from ..case import Case
from ..history import HistoryError
from ..report.kinds import View
from ..report.lines import Line, counted
from ..report.model import LoopReport, covered
from ..report.told import Teller
from ..runner import CaseResult, Runner
from . import Stop
from .known import Comparison
from .part import Part
from .progress import progress
from .services import port_of
from .target import Contender, cleaner_of, declared_by
from .terminal import show

MOST_JOBS = 4
"""Beyond this the loops of a large machine would wait for one provider."""
CASES_EACH = 8
"""So many are played in the time in which a further process is started and warmed up."""


def judge(
    found: LoopReport,
    loop: Contender,
    cases: Sequence[Case],
    *,
    options: Namespace,
    view: View,
    known: Comparison,
    part: Part,
) -> None:
    """Play the cases to the loop, and enter what becomes of it in `found`.

    Raises `Stop`, and `KeyboardInterrupt`: then `found` has what was judged until then, and what was not.
    """
    cleaner = cleaner_of(options)
    cases = part.of_loop(loop.name, cases)
    if not cases:
        show([Line(f"{loop.name}: nothing to play, for nothing failed in {options.last_failed}")])
        return
    with Runner(
        loop.target,
        in_process=options.in_process,
        jobs=options.jobs or _jobs(options, len(part.of_shard(cases))),
        seed=found.seed,
        declaration=declared_by(options),
        history_dir=loop.history,
        port=port_of(options),
    ) as runner:
        probe = runner.probe()
        if probe.problem:
            found.problem = cleaner.text(probe.problem)
            return
        runnable = [case for case in cases if case.variant in probe.variants]
        found.exposes, found.notes = probe.exposes, list(probe.notes)
        if not runnable:
            found.notes.append(f"{counted(len(cases), 'case')} not run: the loop has no such variant")
        if part.shard:
            found.cases = [case.id for case in runnable]
            runnable = part.of_shard(runnable)
        known.begin(loop.name, probe.variants)
        named = {case.id: case.scenario.clauses for case in runnable}
        teller = Teller(found, view)
        cleaned: dict[str, CaseResult] = {}

        def seen(result: CaseResult) -> None:
            cleaned[result.id] = known.enter(loop.name, part.scored(cleaner.result(result), named[result.id]))
            show(teller.result(cleaned[result.id]))
            step(result)

        try:
            with progress(len(runnable)) as step:
                runner.run_all(runnable, seen)
        except HistoryError as error:
            raise Stop(f"--history {options.history}: {error}") from error
        finally:
            found.results = [cleaned[case.id] for case in runnable if case.id in cleaned]
            found.unplayed = [case.id for case in runnable if case.id not in cleaned]
            found.coverage = covered(found.results, found.profile)
            if cleaned or not runnable:
                show(teller.rest(found.results))


def undriven(loop: LoopReport) -> str:
    """Why there is no verdict on a loop."""
    return f"the loop cannot be driven, so nothing was judged\n{loop.problem}"


def _jobs(options: Namespace, cases: int) -> int:
    # A service is one: who wants it asked for several things at once says so.
    return 1 if options.http else min(_processors(), MOST_JOBS, cases // CASES_EACH + 1)


def _processors() -> int:
    """How many this process may use, which in a container are often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
