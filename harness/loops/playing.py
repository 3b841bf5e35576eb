"""One turn while a process plays it: its hooks, what was told of its outcome, and what is still heard."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

from ..history import AnyEvent, Ended, Lost, Overran, storable
from ..store import Sink, Store
from ..turn import Turn, TurnSpec
from .desk import Answer, Desk, unknown_run
from .place import Place
from .protocol import MalformedError, read_outcome


class Memory:
    """What lasts from turn to turn of one conversation."""

    def __init__(self) -> None:
        self.store = Store()
        self.carry: Any = None
        self.left: list[str] = []
        """What its turns left running: it was stopped, but would be there."""
        self.files: list[str] = []
        """Temporary files they left."""


class Playing:
    """A turn at work. Events go to its sink until it is shut."""

    def __init__(
        self, spec: TurnSpec, sink: Sink, memory: Memory, place: Place, interrupt: Callable[[str], None]
    ) -> None:
        self.spec = spec
        self.tell = sink
        """For what the driver itself has to say of the process."""
        self.outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the process has told how the turn ended."""
        self.interrupted = ""
        """How the scenario interrupted it."""
        self.malformed = ""
        """Why what it told last could not be meant."""
        self._open = True
        self._memory = memory
        self._place = place
        self._send = interrupt
        self._prefix = f"/h/{secrets.token_urlsafe(12)}"
        if spec.store is not None:
            memory.store.fill(spec.store)
        memory.store.attach(self.record)
        turn = Turn(spec, self.record, memory.store, memory.carry, self.interrupt)
        self._desk = Desk(turn, self.conclude)
        place.mount(self._prefix, self._answer)

    @property
    def url(self) -> str:
        """Where the process finds tools and hooks."""
        return self._place.url + self._prefix

    @property
    def asked(self) -> bool:
        """Whether the provider was asked for anything."""
        return self._place.asked(self.spec.api_key)

    def record(self, event: AnyEvent) -> bool | None:
        """Record what comes from the process, while it is heard."""
        return self.tell(storable(event)) if self._open else None

    def conclude(self, value: Any) -> None:
        """Record the outcome a process told. Raises `MalformedError`."""
        if self.outcome.done():
            raise MalformedError("outcome: this turn has one already")
        try:
            event, carry = read_outcome(value)
        except MalformedError as error:
            self.malformed = str(error)
            raise
        if event.shown is None and self._desk.shown:
            event.shown = list(self._desk.shown)
        self._memory.carry = carry
        self.end(event)

    def end(self, event: AnyEvent) -> None:
        """Record how the turn ended, unless that is known."""
        if not self.outcome.done():
            self.outcome.set_result(None)
            if isinstance(event, Ended):
                self._memory.store.end_turn(self.spec.cancel_key)
            self.record(event)

    def overran(self) -> None:
        """Record that it did not end in time."""
        if self.malformed:
            self.end(Lost(reason=self.malformed))
        self.end(Overran(deadline=self.spec.deadline))

    def interrupt(self, via: str) -> None:
        """Reach the process from outside, as the scenario has it."""
        self.interrupted = via
        self._send(via)

    def shut(self) -> None:
        """Hear nothing more."""
        self._open = False
        self._memory.store.attach(None)
        self._place.unmount(self._prefix)

    async def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        return await self._desk.answer(method, path, headers, body) if self._open else unknown_run()
