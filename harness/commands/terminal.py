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


def show(lines: Iterable[Line]) -> None:
    """Print the lines, in one piece: a progress bar below them is drawn once, and not for each."""
    out = sys.stdout
    codes = _CODES if in_colour(out) else {}
    text = [_coloured(line.text, codes.get(line.style)) for line in lines]
    if text:
        print("\n".join(text), file=out)


def _coloured(text: str, code: str | None) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code else text


def in_colour(out: TextIO) -> bool:
    """Whether to colour what goes there: a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
