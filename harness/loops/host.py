"""Python loops named by a string: played in a child process that can be stopped whatever the loop does."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path

from .. import declaration
from ..declaration import DeclarationError
from ..history import Census, Ended, Lost, Overran, decode_event
from ..store import Sink
from ..turn import Declaration, TurnSpec
from .channel import ACK, NO, Ask
from .driver import NOT_ASYNCHRONOUS, NOWHERE, DriverError, Reach
from .process import HostProcess

STAND_BOUND = 0.3
"""Seconds a host may take to tell where a loop stands that is to be stopped."""


class HostDriver:
    """Plays the loop `target` names (`pkg.mod:attr`) in a host process, replaced when it has to be."""

    def __init__(
        self,
        target: str,
        *,
        declaration: Declaration | None = None,
        base_url: str = NOWHERE,
        folder: Path | None = None,
    ) -> None:
        """`base_url`: for clients made while the loop is imported. `folder`: whose pyproject.toml counts."""
        self.name = target
        self.declaration = Declaration()
        self._options = declaration
        self._base_url = base_url
        self._folder = folder
        self._host: HostProcess | None = None
        self._stopping: set[asyncio.Future[None]] = set()
        self._playing: tuple[int, Sink] | None = None
        self._conversation = ""
        self._concluded = False
        self._busy = False
        self._killed = False
        self._failure: Exception | None = None
        self._gone: dict[str, str] = {}
        self._asynchronous = False

    async def start(self) -> None:
        """Load the loop in a host. Raises `DriverError`."""
        await self._running()

    async def play(self, spec: TurnSpec, sink: Sink) -> None:
        """Play one turn in the host; a host that overruns is stopped with all it started."""
        try:
            host = await self._for(spec.conversation)
        except DriverError as error:
            sink(Lost(reason=str(error)))
            return
        host.output.clear()
        self._concluded = self._killed = False
        number, done = host.ask(Ask(do="play", spec=spec))
        self._playing, self._conversation = (number, sink), spec.conversation
        self._busy = True
        try:
            await host.first(done, spec.deadline)
        except asyncio.CancelledError:
            await self._discard("the run was stopped")
            raise
        finally:
            self._busy = False
        if self._killed:
            await self._stop()
        elif done.done():
            self._conclude(sink, Lost(reason="the host did not say how the turn ended"))
        else:
            await self._give_up(host, spec, sink)
        if self._failure:
            failure, self._failure = self._failure, None
            raise failure

    async def _give_up(self, host: HostProcess, spec: TurnSpec, sink: Sink) -> None:
        """Record why the turn did not come to its end, and do without this host."""
        if host.died.done():
            await host.settle()
            self._conclude(sink, Lost(reason=host.how(), output=host.output.text))
            await self._discard(host.how())
        else:
            self._playing = None  # what it sends from now on came too late
            said = await host.ask_briefly(Ask(do="stand"), STAND_BOUND)
            self._conclude(sink, Overran(deadline=spec.deadline, stood=said.stood if said else ""))
            await self._discard(f"it had not returned after {spec.deadline:g} s and was stopped")

    def _conclude(self, sink: Sink, event: Lost | Overran) -> None:
        """Record how the turn ended, unless the loop said so before something else brought the host down."""
        if not self._concluded:
            sink(event)

    @property
    def reach(self) -> Reach:
        """It is handed the turn."""
        return "turn"

    def cannot_cancel(self, via: str) -> str:
        """A loop that is not asynchronous has no task."""
        return NOT_ASYNCHRONOUS if via == "asyncio" and not self._asynchronous else ""

    async def cancel(self, spec: TurnSpec, via: str = "flag") -> None:
        """Set the flag in the host, or interrupt what runs there, also while the loop works."""
        if self._busy and self._host and self._host.died.done():
            return
        try:
            host = await self._for(spec.conversation)
        except DriverError:  # playing the turn will tell
            return
        await host.ask_briefly(Ask(do="cancel", conversation=spec.conversation, key=spec.cancel_key, via=via))

    @property
    def watched(self) -> bool:
        """Whom else it asks is noted."""
        return True

    @property
    def killable(self) -> bool:
        """A host is a process of its own."""
        return True

    def kill(self) -> None:
        """Kill the host now; the next turn gets a new one."""
        self._killed = self._concluded = True
        self._playing = None
        if self._host:
            self._host.kill()

    def another(self, worker: str) -> HostDriver:
        """A second host for the same loop."""
        base_url = f"{self._base_url.rpartition('/')[0]}/{worker}"
        return HostDriver(self.name, declaration=self._options, base_url=base_url, folder=self._folder)

    async def census(self) -> Census:
        """Count in the host. Nothing is alive where there is none."""
        if self._host is None or self._host.died.done():
            return Census(when="after")
        answer = await self._host.ask_briefly(Ask(do="census"))
        return answer.census if answer and answer.census else Census(when="after")

    async def forget(self, conversation: str) -> None:
        """Drop the conversation here and in the host."""
        self._gone.pop(conversation, None)
        if conversation == self._conversation:
            self._playing = None
        if self._host and not self._host.died.done():
            await self._host.ask_briefly(Ask(do="forget", conversation=conversation))

    async def close(self) -> None:
        """End the host and all it started."""
        self._playing = None
        await self._stop(politely=True)
        await asyncio.gather(*self._stopping)

    async def _for(self, conversation: str) -> HostProcess:
        """A host that knows the conversation as far as it went. Raises `DriverError`."""
        if self._host and self._host.died.done():
            await self._discard(f"{self._host.how()} between two turns")
        if conversation in self._gone:
            raise DriverError(f"the conversation cannot go on: {self._gone[conversation]}")
        return await self._running()

    async def _running(self) -> HostProcess:
        if self._host:
            return self._host
        self._host = host = HostProcess()
        loaded = await host.start(self.name, self._base_url, functools.partial(self._received, host))
        if loaded.problem:
            await self._stop(politely=True)
            raise DriverError(loaded.problem)
        self._asynchronous = loaded.asynchronous
        try:
            self.declaration = declaration.collect(loaded.declared, self._options, self._folder)
        except DeclarationError as error:
            await self._stop(politely=True)
            raise DriverError(str(error)) from None
        return host

    async def _discard(self, reason: str) -> None:
        self._playing = None
        if self._conversation:
            self._gone[self._conversation] = reason
        await self._stop()

    async def _stop(self, *, politely: bool = False) -> None:
        """End the host; whoever waits for that may be cancelled, the stopping goes on."""
        if self._host:
            host, self._host = self._host, None
            stopping = asyncio.ensure_future(host.stop(politely=politely))
            self._stopping.add(stopping)
            stopping.add_done_callback(self._stopping.discard)
            await asyncio.shield(stopping)

    def _received(self, host: HostProcess, number: int, payload: bytes) -> None:
        """Record a hook's event, then let the loop go on.

        What a turn's threads send after it has ended is recorded until the next turn begins: then it would be
        taken for that turn's.
        """
        granted: bool | None = None
        if self._playing and self._playing[0] == number:
            event = decode_event(payload)
            self._concluded = self._concluded or isinstance(event, (Ended, Lost))
            try:
                granted = self._playing[1](event)
            except Exception as error:  # noqa: BLE001 - the harness's own; `play` raises it
                self._failure = error
        host.hooks.send(NO if granted is False else ACK)
