"""Printing lines: plain where the output is a file or a pipe, in colour where it is a terminal.

Where the output goes has no say in the verdict: a reader that has gone, a closed output or an encoding that
lacks a character change neither what a command does nor its exit code.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from . import Stop

if TYPE_CHECKING:
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

_PLAIN = {"…": "...", "“": '"', "”": '"'}
"""What stands for our own characters in an encoding that lacks them; others are escaped."""


def prepare() -> None:
    """Make both outputs take whatever is printed."""
    codecs.register_error("loop-harness", _in_other_words)
    _shown.name = "stdout"
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the shell: `>&-`
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="loop-harness")


def _in_other_words(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeEncodeError) and (plain := _PLAIN.get(error.object[error.start])):
        return plain, error.start + 1
    return codecs.backslashreplace_errors(error)


def to_stderr() -> None:
    """From now on show lines on the standard error: the standard output is for a report."""
    _shown.name = "stderr"


class _Shown:
    name = "stdout"


_shown = _Shown()


def write(text: str, out: TextIO | None = None) -> None:
    """Print a text. Raises `Stop` where that cannot be done; a reader that has gone is no problem."""
    out = out or sys.stdout
    try:
        out.write(text)
        out.flush()
    except OSError as error:
        # What is still in the buffer would be tried, and fail, once more at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        if not isinstance(error, BrokenPipeError):
            raise Stop(f"the output cannot be written: {error.strerror}") from error


def show(lines: Iterable[Line]) -> None:
    """Print the lines, in one piece: a progress bar below them is drawn once, and not for each."""
    from ..report.lines import visible

    out = getattr(sys, _shown.name)
    codes = _CODES if in_colour(out) else {}
    text = [_coloured(visible(line.text), codes.get(line.style)) for line in lines]
    if text:
        write("\n".join(text) + "\n", out)


def _coloured(text: str, code: str | None) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code else text


def in_colour(out: TextIO) -> bool:
    """Whether to colour what goes there: a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
