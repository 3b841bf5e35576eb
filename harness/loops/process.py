"""One host process: started, talked to, and stopped together with all it started."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import uuid
from pathlib import Path
from typing import Any

import msgspec

from .. import census
from .channel import Answer, Ask, Channel, Receive, frame
from .driver import CANCEL_BOUND
from .play import environment

TAIL = 16_384
"""Bytes of a process's output that are kept."""
GRACE = 0.5
"""Seconds a host may take to end by itself."""
ROUNDS = 5
"""How often what is left is looked for: something may be started while the rest is being stopped."""


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


class HostProcess:
    """A child in a session of its own. Made by `start`, ended by `stop`; `died` is done when it is dead."""

    def __init__(self) -> None:
        self.output = Output()
        self._mark = uuid.uuid4().hex
        self._folder = tempfile.mkdtemp(prefix="loop-harness-")
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._number = 0
        self._warden = 0
        self._closers: list[Any] = []
        self._popen: subprocess.Popen[bytes] | None = None
        self._watcher: threading.Thread | None = None
        self._loop = asyncio.get_running_loop()
        self.hooks = self._control = Channel(_ignore)
        self.died: asyncio.Future[int] = self._loop.create_future()
        """Done with the exit code when the process is dead; a signal is negative."""

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
            self._popen = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", _bootstrap(target, *fds)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, pass_fds=fds,
                start_new_session=True, env=self._environment(base_url),
            )  # fmt: skip
        self._watcher = threading.Thread(target=self._watch, name=f"{census.OURS} watch", daemon=True)
        self._watcher.start()
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

    async def ask_briefly(self, ask: Ask) -> Answer | None:
        """The answer, or None where it does not come: something in there lets no other thread run."""
        number, answer = self.ask(ask)
        await self.first(answer, CANCEL_BOUND)
        self._answers.pop(number, None)
        return answer.result() if answer.done() else None

    async def first(self, answer: asyncio.Future[Answer], timeout: float | None = None) -> None:
        """Wait until the answer is there, the process is dead, or `timeout` seconds are over."""
        either: set[asyncio.Future[Any]] = {answer, self.died}
        await asyncio.wait(either, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)

    async def settle(self) -> None:
        """Let what a dead process wrote come in."""
        for _ in range(3):
            await asyncio.sleep(0.005)

    def how(self) -> str:
        """How the process ended, in words."""
        if not self.died.done():
            return "the loop's process still runs"
        code = self.died.result()
        if code >= 0:
            return f"the loop's process ended: exit {code}"
        with contextlib.suppress(ValueError):
            return f"the loop's process ended: signal {-code} ({signal.Signals(-code).name})"
        return f"the loop's process ended: signal {-code}"

    def kill(self) -> None:
        """Kill the process and its group now; what it started elsewhere is left to `stop`."""
        self._kill([])

    async def stop(self, *, politely: bool = False) -> None:
        """End the process and all it started. Safe to call more than once."""
        if self._popen is None:
            await self._clean_up()
            return
        left = await self._family({})
        if politely and not self.died.done():
            self.ask(Ask(do="bye"))
            await asyncio.wait({self.died}, timeout=GRACE)
        for _ in range(ROUNDS):
            if self.died.done() and not left:
                break
            self._kill(list(left))
            await asyncio.wait({self.died}, timeout=GRACE)
            await asyncio.sleep(0.002)  # what else was killed needs a moment as well
            left = await self._family(left)
        if self._warden:  # it would do all this again
            with contextlib.suppress(OSError):
                os.kill(self._warden, signal.SIGKILL)
        await self._clean_up()

    async def _family(self, known: dict[int, str]) -> dict[int, str]:
        """What it started and still lives; looked up in a thread, since that takes milliseconds."""
        pid = self._popen.pid if self._popen else 0
        found = await asyncio.to_thread(census.family, pid, self._mark, known)
        if found.pop(self._warden, None) is None:
            self._warden = 0  # the loop ended it
        return found

    def _kill(self, others: list[int]) -> None:
        """The group, also when its leader is dead: it is not reaped yet, so the number is still its."""
        if self._popen and self._popen.returncode is None:
            with contextlib.suppress(OSError):
                os.killpg(self._popen.pid, signal.SIGKILL)
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
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

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

    def _answered(self, number: int, payload: bytes) -> None:
        answer = self._answers.pop(number, None)
        if answer and not answer.done():
            answer.set_result(msgspec.json.decode(payload, type=Answer))

    def _environment(self, base_url: str) -> dict[str, str]:
        ours = {census.MARK: self._mark, "TMPDIR": self._folder, "PYTHONUNBUFFERED": "1"}
        values = {**os.environ, **environment(base_url, "sk-ant-import"), **ours}
        return {name: value for name, value in values.items() if value is not None}


@functools.cache
def _package() -> str:
    """What this package is called in a host.

    Where there is a choice, by the name nobody else uses: the loop may belong to a repository that has a
    package of the other name.
    """
    ours = Path(__file__).resolve().parents[1]
    spec = importlib.util.find_spec("loop_harness")
    if spec is None or spec.origin is None:
        return str(__package__)
    found = Path(spec.origin).resolve().parent
    return "loop_harness.loops" if found in (ours, ours.parent, ours / "alias") else str(__package__)


def _ignore(number: int, payload: bytes) -> None:
    """What a channel does before it is one."""


def _bootstrap(target: str, hooks: int, control: int) -> str:
    """Code instead of `-m`: modules are to be found where the parent finds them, ours before any other."""
    path = [str(entry) for entry in sys.path]
    run = f"from {_package()}.child import main; main({target!r}, {hooks}, {control})"
    return f"import sys; sys.path[:] = {path!r}; {run}"
