"""Where a loop stands that does not return: the line of its own code, seen from another thread."""

from __future__ import annotations

import asyncio
import functools
import linecache
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

MOST_TASKS = 3
"""Tasks of one event loop that are told of."""
MOST_TEXT = 100
"""Characters of a line of code."""
_HERE = Path(__file__).parent


def standing(thread: int) -> str:
    """The innermost line that is neither a library's nor ours, of what `thread` does or its tasks wait for.

    Empty where there is none. The thread goes on meanwhile: what is told was so a moment ago.
    """
    frames = [*_outwards(sys._current_frames().get(thread))]
    running = next((at for at, frame in enumerate(frames) if _event_loop(frame)), len(frames))
    return (
        _innermost(frames[:running])
        or _waiting(_event_loop(frames[running]) if frames[running:] else None)
        or _innermost(frames[running:])
    )


def _waiting(loop: asyncio.AbstractEventLoop | None) -> str:
    """What the tasks of an event loop wait for that is at rest."""
    waiting = [_innermost(_awaited(task.get_coro())) for task in _tasks(loop)]
    return "; ".join([*dict.fromkeys(filter(None, waiting))][:MOST_TASKS])


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _event_loop(frame: FrameType) -> asyncio.AbstractEventLoop | None:
    """The one that this frame runs."""
    found = frame.f_locals.get("self") if frame.f_code.co_name == "run_forever" else None
    return found if isinstance(found, asyncio.AbstractEventLoop) else None


def _tasks(loop: asyncio.AbstractEventLoop | None) -> list[asyncio.Task[Any]]:
    """Those that are not done, the one that was made first in front."""
    if loop is None:
        return []
    try:
        tasks = asyncio.all_tasks(loop)
    except RuntimeError:  # others were made while they were counted
        return []
    # A name of its own says nothing of the order; `Task-9` comes before `Task-10`.
    return sorted(tasks, key=lambda task: (len(task.get_name()), task.get_name()))


def _awaited(work: Any) -> list[FrameType]:
    """The frames of a coroutine and of what it awaits, innermost first."""
    frames: list[FrameType] = []
    while work is not None:
        frame = getattr(work, "cr_frame", None) or getattr(work, "gi_frame", None)
        frames += [frame] if frame is not None else []
        work = getattr(work, "cr_await", None) or getattr(work, "gi_yieldfrom", None)
    return frames[::-1]


def _innermost(frames: list[FrameType]) -> str:
    frame = next((frame for frame in frames if _is_own(frame.f_code.co_filename)), None)
    if frame is None:
        return ""
    file, line = frame.f_code.co_filename, frame.f_lineno
    code = linecache.getline(file, line).strip()
    told = f"{Path(file).name}:{line}, in {frame.f_code.co_name}"
    return f"{told}: {code[:MOST_TEXT]}" if code else told


@functools.lru_cache(maxsize=1024)
def _is_own(file: str) -> bool:
    """Whether code of this file is the loop's, as far as one can tell from where it lies."""
    path = Path(file)
    if file.startswith("<") or path.parent == _HERE or path == _HERE.parent / "turn.py":
        return False
    return not any(path.is_relative_to(place) for place in _libraries())


@functools.cache
def _libraries() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({sysconfig.get_path(name) for name in names})
