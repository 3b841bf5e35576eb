"""`merge A.json B.json… -o OUT.json`: shards, and the reports of several loops, as one report."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..report.lines import Line, counted
from ..report.load import ReportError, load
from ..report.merge import MergeError, Stored, merged
from ..report.summary import tally
from . import Stop
from .reports import view_of, wanted_reports, write_reports
from .terminal import show


def run(options: Namespace) -> int:
    """Write the one report. The exit code says only whether that could be done: each run had its own."""
    view = view_of(options)
    wanted = [*wanted_reports([f"json:{options.output}"], "-o "), *wanted_reports(options.report)]
    try:
        report = merged([Stored(path, load(Path(path))) for path in options.files])
    except (ReportError, MergeError) as error:
        raise Stop(str(error)) from error
    write_reports(wanted, report, view)
    for loop in report.loops:
        told = loop.problem.partition("\n")[0] or tally(result.grade for result in loop.results)
        show([Line(f"{loop.name}: {told}")])
    show([Line(f"{counted(len(options.files), 'report')} merged", "dim")])
    return 0
