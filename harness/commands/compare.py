"""`compare OLD.json NEW.json`: what got worse, better, is new or gone, from one stored report to another."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..report.compare import compared, compared_lines
from ..report.load import ReportError, load
from ..report.model import Report
from . import BROKEN, Stop
from .terminal import show


def run(options: Namespace) -> int:
    """Compare; exit code 1 where something got worse."""
    old, new = _read(options.old), _read(options.new)
    found = compared(old, new)
    show(compared_lines(found, verbose=options.verbose))
    return BROKEN if found.of("worse") else 0


def _read(path: str) -> Report:
    try:
        return load(Path(path))
    except ReportError as error:
        raise Stop(str(error)) from error
