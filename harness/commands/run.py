"""`run`: play scenarios against one loop or several, show what is broken as it is found, write reports."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from ..case import Case
from ..report.lines import Line
from ..report.model import LoopReport, covered, report_of
from ..report.told import heading, loops_line, unplayed_lines
from ..runner import DEFAULT_SEED
from . import BROKEN, CANNOT_BE_DRIVEN, Stop
from .chosen import chosen_cases
from .judging import judge, undriven
from .known import Comparison
from .part import Part
from .profiled import profile_of
from .reports import view_of, wanted_reports, write_reports
from .target import Contender, contenders
from .terminal import show
from .verdict import worst


def run(options: Namespace) -> int:
    """Run, and return the exit code. Interrupted, it writes what it knows so far before it ends."""
    seed = DEFAULT_SEED if options.seed is None else options.seed
    view = view_of(options)
    loops = contenders(options, seed)
    wanted = wanted_reports(options.report)
    profile = profile_of(options)
    cases = chosen_cases(options.selectors, options.scenarios, seed, profile)
    part = Part(options, [loop.name for loop in loops], profile)
    everything = chosen_cases([], options.scenarios, seed, profile) if options.selectors else cases
    known = Comparison(options, everything, whole=part.whole)
    judged: list[LoopReport] = []
    interrupt: KeyboardInterrupt | None = None
    for loop in loops:
        found = _begun(options, loop, seed, part)
        judged.append(found)
        if interrupt:
            _not_played(found, part, loop, cases)
            continue
        if len(loops) > 1:
            show([*([Line("")] if len(judged) > 1 else []), *heading(found)])
        try:
            judge(found, loop, cases, options=options, view=view, known=known, part=part)
            if found.problem and len(loops) > 1:
                print(f"loop-harness: {undriven(found)}", file=sys.stderr)
        except KeyboardInterrupt as raised:
            interrupt = raised
            if not found.results:
                _not_played(found, part, loop, cases)
                show(unplayed_lines(found))
    report = report_of(judged)
    if len(loops) > 1:
        show([Line(""), loops_line(report)])
    if interrupt:
        write_reports(wanted, report, view)
        raise interrupt
    lines, red = known.end(judged)
    show(lines)
    write_reports(wanted, report, view)
    if len(loops) == 1 and judged[0].problem:
        raise Stop(undriven(judged[0]), CANNOT_BE_DRIVEN)
    if options.update_baseline:
        return BROKEN if red else 0
    return worst(judged, strict=options.strict, part=part.narrowed) or (BROKEN if red else 0)


def _begun(options: Namespace, loop: Contender, seed: int, part: Part) -> LoopReport:
    """The report of a loop of which nothing is known yet."""
    return LoopReport(
        name=loop.name,
        target=loop.told,
        seed=seed,
        command=loop.command,
        shard=part.shard_name,
        profile=options.profile or "",
    )


def _not_played(found: LoopReport, part: Part, loop: Contender, cases: Sequence[Case]) -> None:
    """Enter that none of the cases that were to be played to a loop was."""
    found.unplayed = [case.id for case in part.of_shard(part.of_loop(loop.name, cases))]
    found.coverage = covered([], found.profile)
