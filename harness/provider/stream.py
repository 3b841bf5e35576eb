"""Sending an answer: pacing, pings, and what happens when the client leaves in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from random import Random
from typing import Protocol

from .. import clock
from ..history import AnyEvent, Broken, Delivered
from ..wire.events import PING, encode
from .answer import Answer

BATCH = 64
"""Events written at once where nothing asks for a pause between them."""


class Channel(Protocol):
    """The way to one client, for one answer."""

    gone: asyncio.Future[None]
    """Done when the client has left."""

    def begin(self, status: int, headers: dict[str, str], length: int | None) -> None:
        """Write the head; `length` is None for a body of unknown length."""

    def write(self, pieces: Iterable[bytes]) -> None:
        """Write parts of the body, each on its own where the length is unknown."""

    def end(self) -> None:
        """Write what ends the body."""

    async def drain(self) -> None:
        """Wait until the client has taken most of what was written."""


class Pacer:
    """Waits, and measures how late the machine was."""

    def __init__(self) -> None:
        self.lateness = 0.0
        self._parent: Pacer | None = None

    def report_to(self, parent: Pacer) -> None:
        """Let `parent` know of every delay as well."""
        self._parent = parent

    def late(self, seconds: float) -> None:
        """A timer fired this much after its time."""
        self.lateness = max(self.lateness, seconds)
        if self._parent is not None:
            self._parent.late(seconds)

    async def wait(self, seconds: float, gone: asyncio.Future[None]) -> bool:
        """Wait; False as soon as the client has left."""
        if gone.done():
            return False
        if seconds > 0:
            due = clock.now() + seconds
            await asyncio.wait([gone], timeout=seconds)
            if gone.done():
                return False
            self.late(clock.now() - due)
        return True


class Sender:
    """Sends the answers of one session and records how each ended."""

    def __init__(
        self,
        record: Callable[[AnyEvent], None],
        pacer: Pacer,
        seed: int = 0,
        at_event: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._record = record
        self._pacer = pacer
        self._seed = seed
        self._at_event = at_event

    async def send(self, answer: Answer, channel: Channel) -> bool:
        """Send `answer`; False when the client left before its last byte."""
        written = [0]
        if not await self._send(answer, channel, written):
            answer.cut()
            self._record(Broken(request=answer.request, events=written[0]))
            return False
        answer.delivered()
        self._record(Delivered(request=answer.request, events=written[0]))
        return True

    async def _send(self, answer: Answer, channel: Channel, written: list[int]) -> bool:
        # The events of a whole body are never seen, but it takes as long as they would.
        if not await self._pacer.wait(answer.delay, channel.gone):
            return False
        self._record(answer.event())
        if answer.events is not None:
            return await self._stream(answer, channel, written)
        channel.begin(answer.status, answer.headers, len(answer.payload))
        channel.write([answer.payload])
        channel.end()
        await channel.drain()
        return not channel.gone.done()

    async def _stream(self, answer: Answer, channel: Channel, written: list[int]) -> bool:
        random = Random(f"{self._seed}/padding/{answer.request}")  # noqa: S311 - padding, not a secret
        channel.begin(answer.status, answer.headers, None)
        waiting: list[bytes] = []
        for event in answer.events or ():
            if written[0] and answer.gap and not await self._pause(answer, channel, waiting):
                return False
            if self._at_event is not None:
                flush(channel, waiting)
                await self._at_event()
            waiting.append(encode(event, random))
            written[0] += 1
            if len(waiting) >= BATCH:
                flush(channel, waiting)
                await channel.drain()
                if channel.gone.done():
                    return False
        flush(channel, waiting)
        channel.end()
        await channel.drain()
        return not channel.gone.done()

    async def _pause(self, answer: Answer, channel: Channel, waiting: list[bytes]) -> bool:
        """The gap between two events, with pings in it where they were asked for."""
        flush(channel, waiting)
        left = answer.gap
        while answer.pings and left > answer.pings:
            if not await self._pacer.wait(answer.pings, channel.gone):
                return False
            channel.write([encode(PING, Random(0))])  # noqa: S311 - a ping is never padded
            left -= answer.pings
        return await self._pacer.wait(left, channel.gone)


def flush(channel: Channel, waiting: list[bytes]) -> None:
    """Write what is waiting."""
    if waiting:
        channel.write(waiting)
        waiting.clear()
