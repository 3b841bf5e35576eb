"""A process that was started by a command: fed a line, listened to, interrupted and stopped."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..history import Exited
from .guard import Guard
from .printed import HEAD, Printed, Spoken
from .spawned import Spawned

DRAIN = 0.2
"""Seconds in which what a dead process has printed comes in, where something else holds its output open."""

SMALLEST_PIPE = 4096
"""Bytes that are in a pipe at least before anybody has read."""
UNSEEN = "a process that holds its output open, and was not there where it was looked for"
LEAVING = 0.1
"""Seconds in which what it started may be gone after it."""


class CommandProcess(Spawned):
    """A process of any language. Started by `start`; what it says in lines of its own goes to `hear`."""

    def __init__(self, guard: Guard, hear: Callable[[dict[str, Any]], None], most: int = HEAD) -> None:
        """`most`: bytes that are kept of the beginning of what it prints."""
        super().__init__(guard.mark, guard.folder)
        self.stdout = Spoken(hear, most)
        self.stderr = Printed()
        self.left: dict[int, str] = {}
        """What it had started and left running when it ended, by process id."""
        self._input: asyncio.WriteTransport | None = None
        self._alone = False
        self._told = 0
        self._unread = -1

    async def start(self, words: Sequence[str], env: Mapping[str, str], cwd: Path | None) -> None:
        """Start it, in its own folder unless `cwd` is another. Raises `OSError` where that cannot be done."""
        work, temporary = Path(self.folder, "work"), Path(self.folder, "tmp")
        work.mkdir()
        temporary.mkdir()
        (stdin, told), (said, stdout), (complained, stderr) = os.pipe(), os.pipe(), os.pipe()
        self._unread = os.dup(stdin)  # what nobody reads stays in the pipe, and can be measured
        ours = [
            os.fdopen(fd, mode, buffering=0) for fd, mode in ((said, "rb"), (complained, "rb"), (told, "wb"))
        ]
        self._closers += ours
        pipes = stdin, stdout, stderr
        try:
            env = {**env, "TMPDIR": str(temporary)}
            self.spawn(words, env, cwd=cwd or work, pipes=pipes)
        finally:
            for fd in pipes:
                os.close(fd)
        await self._connect(ours)

    async def _connect(self, pipes: Sequence[Any]) -> None:
        out, _ = await self._loop.connect_read_pipe(lambda: self.stdout, pipes[0])
        err, _ = await self._loop.connect_read_pipe(lambda: self.stderr, pipes[1])
        self._closers = [out, err]
        self._input, _ = await self._loop.connect_write_pipe(asyncio.BaseProtocol, pipes[2])
        self._closers.append(self._input)

    @property
    def temporary(self) -> Path:
        """The folder its temporary files go to."""
        return Path(self.folder, "tmp")

    def say(self, line: bytes, *, last: bool = False) -> None:
        """Write a line to its input; with `last`, nothing comes after it."""
        if self._input is None or self._input.is_closing():
            return
        if line:
            self._input.write(line + b"\n")
            self._told += len(line)
        if last:
            self._input.write_eof()

    async def settle(self) -> None:
        """Take in what a dead process has printed, and look for what it left running."""
        either = {self.stdout.closed, self.stderr.closed}
        await asyncio.wait(either, timeout=DRAIN)
        self.stdout.finish()
        if left := await self.family():
            await asyncio.sleep(LEAVING)
            self.left = await self.family(left)
        if self.died.done() and not self.left:
            self.left = await self._unseen()
        self._alone = self.died.done() and not self.left

    async def _unseen(self) -> dict[int, str]:
        """End what nobody saw: a process that forks and ends all the time is gone wherever one looks.

        It is of the group, or at least its output is still open.
        """
        self._kill([])
        either = {self.stdout.closed, self.stderr.closed}
        return {} if all(each.done() for each in either) else {0: UNSEEN}

    async def end(self, *, politely: bool = False) -> None:
        """End it and all it started. Looking for that takes a while, and `settle` may have found nothing."""
        if not self._alone:
            await super().end(politely=politely)

    @property
    def unread(self) -> bool:
        """Whether what it was told is still there, all of it."""
        if self._unread < 0 or not self._told:
            return False
        size = fcntl.ioctl(self._unread, termios.FIONREAD, b"\0" * 4)
        return int.from_bytes(size, sys.byteorder) >= min(self._told, SMALLEST_PIPE)

    async def _clean_up(self) -> None:
        if self._unread >= 0:
            os.close(self._unread)
            self._unread = -1
        await super()._clean_up()

    def exited(self) -> Exited:
        """What became of it."""
        code = self.died.result() if self.died.done() else None
        ended = code is not None and code >= 0
        return Exited(
            code=code if ended else None,
            signal=None if ended or code is None else -code,
            stdout=self.stdout.text,
            stderr=self.stderr.text,
            sizes=(self.stdout.size, self.stderr.size),
            unread=self.unread,
            left=sorted(self.left.values()),
        )
