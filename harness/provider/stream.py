"""Sending an answer: when it begins, how it ends, and what happens when the client leaves in the middle."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import chain, islice
from random import Random
from typing import TYPE_CHECKING, Protocol

from .. import clock
from ..history import AnyEvent, Broken, Delivered
from ..wire.events import Event, encode
from .answer import Answer

if TYPE_CHECKING:
    from .sending import Sending

BATCH = 64
"""Events written at once where nothing asks for a pause between them."""


class Channel(Protocol):
    """The way to one client, for one answer. What is written leaves with the next `flush` or `drain`."""

    gone: asyncio.Future[None]
    """Done when the client has left."""

    def begin(self, status: int, headers: dict[str, str], length: int | None) -> None:
        """Write the head; `length` is None for a body of unknown length."""

    def write(self, pieces: Iterable[bytes]) -> None:
        """Write parts of the body, each on its own where the length is unknown."""

    def end(self) -> None:
        """Write what ends the body."""

    def flush(self) -> None:
        """Send what was written."""

    async def drain(self) -> None:
        """Send what was written, and wait until the client has taken most of it."""

    async def close(self, *, reset: bool = False) -> None:
        """Send what was written, then close the connection, or tear it down."""


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
        self._padding_seed = seed << 40
        self._random = Random(0)  # noqa: S311 - padding, not a secret
        self._at_event = at_event

    async def send(self, answer: Answer, channel: Channel) -> bool:
        """Send `answer`; False when the client left before its last byte."""
        # The events of a whole body are never seen, but it takes as long as they would.
        if not await self._pacer.wait(answer.delay, channel.gone):
            return self._left(answer)
        self._record(answer.event())
        if (
            answer.breaks
            or answer.connection
            or answer.gap
            or answer.waits
            or self._at_event
            or answer.segment
        ):
            return await self._slowly(answer, channel)
        if answer.events is None:
            channel.begin(answer.status, answer.headers, len(answer.payload))
            channel.write((answer.payload,))
            return await self._finish(answer, channel, 0)
        channel.begin(answer.status, answer.headers, None)
        return await self._at_once(answer, answer.events, channel)

    async def _at_once(self, answer: Answer, events: list[Event], channel: Channel) -> bool:
        """Send a stream as fast as its client takes it, a batch at a time: others are served in between."""
        long = len(events) > BATCH or answer.more is not None
        # What draws one by one, while other answers do, needs a generator that is nobody else's.
        random = Random(0) if long else self._random  # noqa: S311 - padding, not a secret
        random.seed(self._padding_seed + answer.request)
        pieces, sent = _encoded(answer, events, random), 0
        while batch := list(islice(pieces, BATCH)):
            if sent:
                await channel.drain()
                await asyncio.sleep(0)  # also where its client takes all of it at once
                if channel.gone.done():
                    return self._left(answer, sent)
            channel.write(batch)
            sent += len(batch)
        return await self._finish(answer, channel, sent)

    async def _finish(self, answer: Answer, channel: Channel, events: int) -> bool:
        channel.end()
        await channel.drain()
        if channel.gone.done():
            return self._left(answer, events)
        self._whole(answer, events)
        return True

    async def _slowly(self, answer: Answer, channel: Channel) -> bool:
        """Send what needs a look at every event or byte."""
        from .sending import Left, Sending

        if answer.events is not None and answer.more is not None:
            answer.events, answer.more = [*answer.events, *answer.more], None
        random = Random(self._padding_seed + answer.request)  # noqa: S311 - padding, not a secret
        sending = Sending(answer, channel, self._pacer, random, self._at_event)
        try:
            await sending.run(
                whole=lambda: self._whole(answer, sending.events),
                broken=lambda how: self._broken(answer, sending, how),
            )
        except Left:
            return self._left(answer, sending.events, sending.bytes)
        return True

    def _whole(self, answer: Answer, events: int) -> None:
        answer.delivered()
        self._record(Delivered(request=answer.request, events=events))

    def _left(self, answer: Answer, events: int = 0, size: int = 0) -> bool:
        answer.cut()
        self._record(Broken(request=answer.request, events=events, bytes=size))
        return False

    def _broken(self, answer: Answer, sent: Sending, how: str) -> None:
        answer.broken()
        self._record(
            Broken(
                request=answer.request,
                events=sent.events,
                bytes=sent.bytes,
                by="provider",
                how=how,
                last=sent.last,
            )
        )


def _encoded(answer: Answer, events: list[Event], random: Random) -> Iterator[bytes]:
    """The bytes of each event of `answer`, in order: the padding is drawn as they are taken."""
    if answer.drafts is not None:
        draw = random.random
        return (text + ends[int(draw() * 16)] for text, ends in answer.drafts)
    return (encode(event, random) for event in chain(events, answer.more or ()))
