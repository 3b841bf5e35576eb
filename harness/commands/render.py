"""`render REPORT.json KIND:PATH…`: write a stored JSON report as any other kind, without running anything."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..report.kinds import rendered
from ..report.load import ReportError, load
from . import Stop
from .reports import view_of, wanted_reports, write_reports
from .terminal import write


def run(options: Namespace) -> int:
    """Write the reports; without any, print the text. The exit code says only whether that could be done."""
    view = view_of(options)
    wanted = wanted_reports(options.reports, "")
    try:
        report = load(Path(options.file))
    except ReportError as error:
        raise Stop(str(error)) from error
    if not wanted:
        write(str(rendered("text", report, view)))
    write_reports(wanted, report, view, "")
    return 0
