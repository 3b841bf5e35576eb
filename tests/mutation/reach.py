"""Which lines of the checks are run by what is done here."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

from tests.mutation.changes import Change

CHECKS = Path(__file__).parent.parent.parent / "harness" / "checks"
Lines: TypeAlias = dict[str, int]
"""The lines that were run by module, each a bit: line 1 is 2."""


@contextmanager
def watched(*, calls: bool = False) -> Iterator[Lines]:
    """The lines that are run within, by this thread; with `calls`, only those of functions."""
    lines: Lines = defaultdict(int)
    folder = f"{CHECKS}/"

    def trace(frame: FrameType, _: str, __: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(folder) or (calls and frame.f_code.co_name == "<module>"):
            return None
        lines[name[len(folder) :]] |= 1 << frame.f_lineno
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(before)


def reaches(lines: Lines, change: Change, imported: Lines | None = None) -> bool:
    """Whether what ran these lines may notice the change.

    What is made at import touches all that runs the module; what a function does at import, whose lines are
    `imported`, touches everything.
    """
    run = lines.get(change.path.name, 0)
    if change.span is None:
        return bool(run)
    return at_import(change, imported or {}) or _within(change.span, run)


def at_import(change: Change, imported: Lines) -> bool:
    """Whether the change is in a function that is called while the checks are imported."""
    return change.span is not None and _within(change.span, imported.get(change.path.name, 0))


def _within(span: tuple[int, int], run: int) -> bool:
    first, last = span
    return bool(run & ((1 << (last + 1)) - (1 << first)))
