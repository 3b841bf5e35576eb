"""What Ctrl-C and SIGTERM do to the command: nothing but end it with one line, at whatever moment they come.

Python would raise in the middle of an import or of its own shutdown, and show where that was. So only while a
command works is an exception raised; before and after, there is nothing to clean up, and the process ends.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_HEARD = (signal.SIGINT, signal.SIGTERM)
_STATE = {"ours": False}
"""Whether the process is the command's own, or that of a program that calls `harness.cli.main`."""


class Interrupted(KeyboardInterrupt):
    """The process was asked to end, by the signal of this `number`."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.number = number

    @property
    def code(self) -> int:
        """The exit code, as shells have it: 130, or 143."""
        return 128 + self.number


def code_of(interrupt: KeyboardInterrupt) -> int:
    """The exit code of an interrupt, whoever raised it."""
    return (interrupt if isinstance(interrupt, Interrupted) else Interrupted()).code


def quietly() -> None:
    """From now on, this process being the command's own, a signal ends it without a traceback."""
    _STATE["ours"] = True
    _handle(_end)


@contextmanager
def heard() -> Iterator[None]:
    """Meanwhile a signal raises `Interrupted`, so that what was begun can be ended."""
    if not _STATE["ours"]:
        yield
        return
    _handle(_raise)
    try:
        yield
    finally:
        _handle(_end)


@contextmanager
def ignored_here_alone() -> Iterator[None]:
    """Meanwhile a signal that this process ignores is not ignored by the processes that it starts.

    A shell has what it runs in the background ignore SIGINT, and who is started by that ignores it as well:
    a loop could not be interrupted. Only the main thread can change that; elsewhere nothing happens.
    """
    import threading  # until `quietly` has run, whatever is imported here is on the user's time

    main = threading.current_thread() is threading.main_thread()
    ignored = [number for number in _HEARD if main and signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, _ignore)  # a handler is not inherited, and what is ignored is
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)


def _handle(handler: object) -> None:
    for number in _HEARD:
        # What runs in the background of a shell ignores SIGINT, and is to go on doing so.
        if signal.getsignal(number) not in (signal.SIG_IGN, _ignore):
            signal.signal(number, handler)  # type: ignore[arg-type]


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Nothing happens."""


def _end(number: int, _frame: FrameType | None) -> None:
    os.write(2, b"loop-harness: interrupted\n")
    os._exit(128 + number)


def _raise(number: int, _frame: FrameType | None) -> None:
    raise Interrupted(number)
