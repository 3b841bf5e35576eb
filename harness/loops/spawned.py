"""A process of the loop's: in a session of its own, watched, and stopped together with all it started."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import census
from .folders import remove

GRACE = 0.5
"""Seconds a process may take to end by itself when it is asked to."""
ROUNDS = 5
"""How often what is left is looked for: something may be started while the rest is being stopped."""


class Spawned:
    """A child and all it starts. Made by `spawn`, ended by `stop`; `died` is done when it is dead."""

    def __init__(self, mark: str = "", within: str | None = None) -> None:
        """`mark`: the value of `census.MARK` by which everything it starts is known; a new one if empty.

        `within`: where its folder is made.
        """
        self.mark = mark or uuid.uuid4().hex
        self.folder = tempfile.mkdtemp(prefix="loop-harness-", dir=within)
        self._warden = 0
        self._closers: list[Any] = []
        self._popen: subprocess.Popen[bytes] | None = None
        self._watcher: threading.Thread | None = None
        self._loop = asyncio.get_running_loop()
        self.died: asyncio.Future[int] = self._loop.create_future()
        """Done with the exit code when the process is dead; a signal is negative."""

    def spawn(
        self,
        words: Sequence[str],
        env: Mapping[str, str],
        *,
        cwd: Path | None = None,
        pipes: tuple[Any, Any, Any],
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start the process. `pipes`: its input, output and errors. Raises `OSError` where there is none."""
        try:
            self._popen = subprocess.Popen(  # noqa: S603
                list(words), env=dict(env), cwd=cwd, stdin=pipes[0], stdout=pipes[1], stderr=pipes[2],
                pass_fds=pass_fds, start_new_session=True,
            )  # fmt: skip
        except ValueError as error:  # a prompt may hold what stands in no command
            raise OSError(errno.EINVAL, f"its words or its environment cannot be written: {error}") from None
        self._watcher = threading.Thread(target=self._watch, name=f"{census.OURS} watch", daemon=True)
        self._watcher.start()

    @property
    def pid(self) -> int:
        """Its process id, and its group's; 0 before it is started."""
        return self._popen.pid if self._popen else 0

    async def first(self, answer: asyncio.Future[Any], timeout: float | None = None) -> None:
        """Wait until the answer is there, the process is dead, or `timeout` seconds are over."""
        either: set[asyncio.Future[Any]] = {answer, self.died}
        await asyncio.wait(either, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)

    def how(self) -> str:
        """How the process ended, in words."""
        if not self.died.done():
            return "the loop's process still runs"
        code = self.died.result()
        if code >= 0:
            return f"the loop's process ended: exit {code}"
        return f"the loop's process ended: {signal_name(-code)}"

    def kill(self) -> None:
        """Kill the process and its group now; what it started elsewhere is left to `stop`."""
        self._kill([])

    def signal(self, number: int) -> None:
        """Send a signal to the process and its group."""
        if self._popen and self._popen.returncode is None:
            with contextlib.suppress(OSError):
                os.killpg(self._popen.pid, number)

    async def stop(self, *, politely: bool = False) -> None:
        """End the process and all it started, and remove what it had. Safe to call more than once."""
        await self.end(politely=politely)
        if self._warden:  # it would do all this again
            with contextlib.suppress(OSError):
                os.kill(self._warden, signal.SIGKILL)
        await self._clean_up()

    async def end(self, *, politely: bool = False) -> None:
        """End the process and all it started."""
        if self._popen is None or self._popen.returncode is not None:
            return
        left = await self.family()
        if politely and not self.died.done():
            self.ask_to_leave()
            await asyncio.wait({self.died}, timeout=GRACE)
        for _ in range(ROUNDS):
            self._kill(list(left))  # also where nothing was found: of the group may be what is never seen
            if self.died.done() and not left:
                break
            await asyncio.wait({self.died}, timeout=GRACE)
            await asyncio.sleep(0.002)  # what else was killed needs a moment as well
            left = await self.family(left)

    def ask_to_leave(self) -> None:
        """Ask the process to end by itself."""
        self.signal(signal.SIGINT)

    async def family(self, known: dict[int, str] | None = None) -> dict[int, str]:
        """What it started and still lives; looked up in a thread, since that takes milliseconds."""
        found = await asyncio.to_thread(census.family, self.pid, self.mark, known or {})
        if found.pop(self._warden, None) is None:
            self._warden = 0  # the loop ended it
        return found

    def _kill(self, others: list[int]) -> None:
        """The group, also when its leader is dead: it is not reaped yet, so the number is still its."""
        self.signal(signal.SIGKILL)
        for pid in others:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    async def _clean_up(self) -> None:
        for closer in self._closers:
            closer.close()
        self._closers = []
        if self._watcher and self.died.done():
            self._watcher.join()
        if self._popen:
            self._popen.poll()
        await asyncio.to_thread(remove, self.folder)

    def _watch(self) -> None:
        """Wait for the death in a thread: a child watcher that works in any event loop, on any system."""
        assert self._popen  # noqa: S101 - for the types
        if hasattr(os, "waitid"):
            # Not reaped yet: its number stays its own, and its group's, until all of them are stopped.
            seen = os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
            code = (seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status) if seen else 0
        else:
            code = self._popen.wait()
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self.died.set_result, code)


def signal_name(number: int) -> str:
    """`signal 9 (SIGKILL)`."""
    with contextlib.suppress(ValueError):
        return f"signal {number} ({signal.Signals(number).name})"
    return f"signal {number}"
