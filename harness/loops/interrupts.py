"""How a turn is interrupted from outside: its task cancelled, Ctrl-C in its thread, or a signal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, Self


class Interrupts:
    """Reaches the loop while it is being called, and never the harness around it.

    Entered and left by the thread that calls the loop; `send` may be called from any.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._thread: int | None = None
        self._task: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    def __enter__(self) -> Self:
        self._thread = threading.get_ident()
        return self

    def __exit__(self, *_: object) -> None:
        # An interrupt sent just before is raised here, still within the call of the loop.
        with self._lock:
            self._thread = None

    @contextlib.contextmanager
    def reaching(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> Iterator[None]:
        """For an asynchronous loop: Ctrl-C cancels its task first, as it does under `asyncio.run`."""
        self._task = loop, task
        before = signal.getsignal(signal.SIGINT)
        takes = threading.current_thread() is threading.main_thread() and before is signal.default_int_handler

        def cancel(_: int, __: FrameType | None) -> None:
            signal.signal(signal.SIGINT, before)
            loop.call_soon_threadsafe(task.cancel)

        if takes:
            signal.signal(signal.SIGINT, cancel)
        try:
            yield
        finally:
            self._task = None
            if takes and signal.getsignal(signal.SIGINT) is cancel:
                signal.signal(signal.SIGINT, before)

    def send(self, via: str) -> None:
        """Interrupt the turn in one of the ways of `INTERRUPTS`; nothing happens where none is played."""
        with self._lock:
            if self._thread is None:
                return
            if via == "asyncio" and self._task:
                loop, task = self._task
                with contextlib.suppress(RuntimeError):  # the event loop is closed
                    loop.call_soon_threadsafe(task.cancel)
            elif via == "interrupt":
                # To the thread, so that a call that blocks it is woken up.
                signal.pthread_kill(self._thread, signal.SIGINT)
            elif via == "signal":
                handled = signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.SIG_IGN)
                os.kill(os.getpid(), signal.SIGTERM if handled else signal.SIGINT)
