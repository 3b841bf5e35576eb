"""Printing lines: plain where the output is a file or a pipe, in colour where it is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TextIO

from ..report.lines import Line

_CODES = {
    "bad": "1;31",
    "warn": "33",
    "good": "32",
    "dim": "2",
    "head": "1",
    "added": "32",
    "removed": "31",
}


def show(lines: Iterable[Line], to: TextIO | None = None) -> None:
    """Print the lines."""
    out = to or sys.stdout
    coloured = in_colour(out)
    for line in lines:
        code = _CODES.get(line.style) if coloured else None
        print(f"\x1b[{code}m{line.text}\x1b[0m" if code else line.text, file=out)


def in_colour(out: TextIO) -> bool:
    """Whether to colour what goes there: a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
