"""Loops handed over as objects: played in a thread of this process, where debuggers and patches see them.

A task can be cancelled, a thread cannot be stopped: a turn that overruns and goes on all the same is left to
itself, and no further turn is played.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from .. import census, declaration
from ..declaration import DeclarationError
from ..history import AnyEvent, Census, Lost, Overran, storable
from ..store import Sink
from ..turn import Declaration, TurnSpec
from .borrowed import borrowed_environment, environment
from .driver import NOT_ASYNCHRONOUS, Driver, DriverError, Reach
from .play import Stage, is_async
from .resolve import resolve
from .standing import standing

GRACE = 0.5
"""Seconds the thread may take to end when the driver is closed, and a turn that is cancelled."""


class Gate:
    """A sink that can be shut: what a turn's threads send later is not taken for another turn's."""

    def __init__(self, sink: Sink) -> None:
        self._sink: Sink | None = sink
        self._lock = threading.Lock()

    def __call__(self, event: AnyEvent) -> bool | None:
        """Record `event` while the gate is open."""
        event = storable(event)
        with self._lock:
            return self._sink(event) if self._sink else None

    def shut(self) -> None:
        """Drop everything from now on."""
        with self._lock:
            self._sink = None


class InProcessDriver:
    """Plays a callable in one daemon thread with one event loop, both as long-lived as the driver."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str = "",
        *,
        declaration: Declaration | None = None,
        folder: Path | None = None,
    ) -> None:
        """`folder`: whose pyproject.toml counts."""
        self.name = name or _name_of(function)
        self.declaration = Declaration()
        self._function = function
        self._options = declaration
        self._folder = folder
        self._plays: queue.SimpleQueue[Callable[[Stage], None] | None] = queue.SimpleQueue()
        self._stage: Stage | None = None
        self._thread: threading.Thread | None = None
        self._gate: Gate | None = None
        self._conversation = ""
        self._stuck = ""

    @classmethod
    def load(
        cls, target: str, *, declaration: Declaration | None = None, folder: Path | None = None
    ) -> InProcessDriver:
        """The driver of the loop `target` names. Raises `DriverError`."""
        return cls(resolve(target), target, declaration=declaration, folder=folder)

    async def start(self) -> None:
        """Start the thread. Raises `DriverError` where the declaration cannot be meant."""
        try:
            self.declaration = declaration.collect(
                declaration.attributes(self._function), self._options, self._folder
            )
        except DeclarationError as error:
            raise DriverError(str(error)) from None
        self._stage = Stage(self._function)
        self._thread = threading.Thread(
            target=self._work, args=(self._stage,), name=f"{census.OURS} in-process", daemon=True
        )
        self._thread.start()

    async def play(self, spec: TurnSpec, sink: Sink) -> None:
        """Play one turn in the thread. `sink` is called from there, and wherever the loop calls a hook."""
        if self._stuck or self._stage is None:
            sink(Lost(reason=f"not run: {self._stuck or 'the driver is not started'}"))
            return
        if self._gate:
            self._gate.shut()
        gate = self._gate = Gate(sink)
        self._conversation = spec.conversation
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def turn(stage: Stage) -> None:
            stage.play(spec, gate)
            with contextlib.suppress(RuntimeError):  # the event loop is closed: nobody waits any more
                loop.call_soon_threadsafe(done.set)

        with borrowed_environment(environment(spec.base_url, spec.api_key)):
            self._plays.put(turn)
            try:
                await asyncio.wait_for(done.wait(), spec.deadline)
            except TimeoutError:
                gate.shut()
                sink(Overran(deadline=spec.deadline, stood=standing(self._playing)))
                self._stage.cancel(spec.conversation, spec.cancel_key, "asyncio")
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(done.wait(), GRACE)
                if not done.is_set():
                    self._give_up(
                        f"a turn had not returned after {spec.deadline:g} s and still runs in this process; "
                        "name the loop as `package.module:attribute` to have it run where it can be stopped"
                    )
            except asyncio.CancelledError:
                gate.shut()
                self._stage.cancel(spec.conversation, spec.cancel_key, "asyncio")
                self._give_up("the run was stopped within a turn, which still runs in this process")
                raise

    @property
    def _playing(self) -> int:
        """The thread in which turns are played."""
        return (self._thread and self._thread.ident) or 0

    def _give_up(self, why: str) -> None:
        """Let the thread go on by itself: no further turn is played."""
        self._stuck = why
        if self._stage:
            self._stage.give_up(self._playing)

    @property
    def reach(self) -> Reach:
        """It is handed the turn."""
        return "turn"

    def cannot_cancel(self, via: str) -> str:
        """Only a process of its own can be interrupted, and only an asynchronous loop has a task."""
        if via in ("interrupt", "signal"):
            return "the loop runs in a thread; name it as `package.module:attribute` to have it interrupted"
        return NOT_ASYNCHRONOUS if via == "asyncio" and not is_async(self._function) else ""

    async def cancel(self, spec: TurnSpec, via: str = "flag") -> None:
        """Set the flag in the conversation's store, or cancel the loop's task."""
        if self._stage:
            self._stage.cancel(spec.conversation, spec.cancel_key, via)

    @property
    def watched(self) -> bool:
        """Whom else it asks is noted."""
        return True

    @property
    def killable(self) -> bool:
        """A thread cannot be killed, and this process must not be."""
        return False

    def kill(self) -> None:
        """Raises `RuntimeError`: there is no process of the loop's own."""
        raise RuntimeError("a loop that runs in this process cannot be killed")

    def another(self, worker: str) -> Driver:  # noqa: ARG002 - as in the protocol
        """Raises `RuntimeError`: what a loop keeps in its module is the same for all who play it here."""
        raise RuntimeError("a loop that runs in this process has no second worker")

    async def census(self) -> Census:
        """Count in this process; temporary files could be anybody's and are not listed."""
        alive = census.take(self._stage.loop if self._stage else None)
        # The provider's ends of the connections, and whatever else this process does, are open here too.
        return msgspec.structs.replace(alive, sockets=0)

    async def forget(self, conversation: str) -> None:
        """Drop the conversation's store, and what its turns still send."""
        if self._gate and conversation == self._conversation:
            self._gate.shut()
        if self._stage:
            self._stage.forget(conversation)

    async def close(self) -> None:
        """End the thread, unless a turn still holds it."""
        if self._gate:
            self._gate.shut()
        self._plays.put(None)
        if self._thread and not self._stuck:
            await asyncio.to_thread(self._thread.join, GRACE)

    def _work(self, stage: Stage) -> None:
        while play := self._plays.get():
            play(stage)
        stage.close()


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', None) or '?'}:{name}"
