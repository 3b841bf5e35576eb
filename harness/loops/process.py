"""One host process: started, talked to, and stopped together with all it started."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess

import msgspec

from .. import census
from .bootstrap import python
from .borrowed import environment
from .channel import Answer, Ask, Channel, Receive, frame
from .driver import CANCEL_BOUND
from .spawned import Spawned

TAIL = 16_384
"""Bytes of a process's output that are kept."""


class Output(asyncio.Protocol):
    """The end of what a process wrote: it is always read, so that nobody is blocked by writing much."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def data_received(self, data: bytes) -> None:
        """Keep the end."""
        self._kept += data
        if len(self._kept) > 2 * TAIL:
            del self._kept[:-TAIL]

    def clear(self) -> None:
        """Forget what was written up to now."""
        self._kept.clear()

    @property
    def text(self) -> str:
        """The last `TAIL` bytes."""
        return self._kept[-TAIL:].decode(errors="replace")


class HostProcess(Spawned):
    """A Python child that plays the turns of one loop. Made by `start`, ended by `stop`."""

    def __init__(self) -> None:
        super().__init__()
        self.output = Output()
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._number = 0
        self.hooks = self._control = Channel(_ignore)

    async def start(self, target: str, base_url: str, receive: Receive) -> Answer:
        """Spawn the process and wait until it has loaded `target`; hook frames will go to `receive`.

        The answer carries a problem where the loop could not be loaded; so does the process's death.
        """
        ready = self._answers[0] = self._loop.create_future()
        hooks, their_hooks = socket.socketpair()
        control, their_control = socket.socketpair()
        read, write = os.pipe()
        self._closers += [hooks, control, (output := os.fdopen(read, "rb", buffering=0))]
        with their_hooks, their_control, os.fdopen(write, "wb", buffering=0) as out:
            fds = their_hooks.fileno(), their_control.fileno()
            words = python("child", f"main({target!r}, {fds[0]}, {fds[1]})")
            pipes = subprocess.DEVNULL, out, out
            self.spawn(words, self._environment(base_url), pipes=pipes, pass_fds=fds)
        self.hooks = await Channel.open(hooks, receive)
        self._control = await Channel.open(control, self._answered)
        transport, _ = await self._loop.connect_read_pipe(lambda: self.output, output)
        self._closers = [self.hooks, self._control, transport]
        await self.first(ready)
        if ready.done():
            answer: Answer = ready.result()
            self._warden = answer.warden
            return answer
        await self.settle()
        return Answer(problem=f"{target}: {self.how()} while it was imported\n{self.output.text}".rstrip())

    def ask(self, ask: Ask) -> tuple[int, asyncio.Future[Answer]]:
        """Send a request; its number, and its answer to come."""
        self._number += 1
        number = self._number
        answer = self._answers[number] = self._loop.create_future()
        self._control.send(frame(number, msgspec.json.encode(ask)))
        return number, answer

    async def ask_briefly(self, ask: Ask, bound: float = CANCEL_BOUND) -> Answer | None:
        """The answer, or None where it does not come: something in there lets no other thread run."""
        number, answer = self.ask(ask)
        await self.first(answer, bound)
        self._answers.pop(number, None)
        return answer.result() if answer.done() else None

    async def settle(self) -> None:
        """Let what a dead process wrote come in."""
        for _ in range(3):
            await asyncio.sleep(0.005)

    def ask_to_leave(self) -> None:
        """Say goodbye."""
        self.ask(Ask(do="bye"))

    def _answered(self, number: int, payload: bytes) -> None:
        answer = self._answers.pop(number, None)
        if answer and not answer.done():
            answer.set_result(msgspec.json.decode(payload, type=Answer))

    def _environment(self, base_url: str) -> dict[str, str]:
        ours = {census.MARK: self.mark, "TMPDIR": self.folder, "PYTHONUNBUFFERED": "1"}
        values = {**os.environ, **environment(base_url, "sk-ant-import"), **ours}
        return {name: value for name, value in values.items() if value is not None}


def _ignore(number: int, payload: bytes) -> None:
    """What a channel does before it is one."""
