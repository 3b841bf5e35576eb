"""One answer on its way, event by event: gaps, pings, points, and the breaks a scenario wrote."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from random import Random

from ..scenario.model import Break
from ..wire.events import PING, Event, encode
from .answer import Answer
from .breaks import GARBAGE, Body, Mishap, error_event, mishaps
from .stream import BATCH, Channel, Pacer


class Left(Exception):  # noqa: N818 - nothing went wrong here
    """The client has left."""


class _Over(Exception):  # noqa: N818 - what the scenario asked for
    """The answer broke off as written."""


class Sending:
    """Sends one answer. `events`, `bytes` (of the body) and `last` (event sent whole) say how far it came.

    Pings sent while waiting are no events of the reply, and not counted as such.
    """

    def __init__(
        self,
        answer: Answer,
        channel: Channel,
        pacer: Pacer,
        random: Random,
        at_event: Callable[[], Awaitable[None]] | None,
    ) -> None:
        self._answer = answer
        self._channel = channel
        self._pacer = pacer
        self._random = random
        self._at_event = at_event
        self._queue: deque[Mishap] = deque()
        self._position = 0
        self._spoiled = False
        self.events = 0
        self.bytes = 0
        self.last = ""

    async def run(self, whole: Callable[[], None], broken: Callable[[str], None]) -> None:
        """Send all of it, and tell how it ended. Raises `Left`."""
        self._tell = broken
        try:
            if self._answer.connection is not None:
                await self._break_off(self._answer.connection)
            await self._send()
            self._channel.end()
            await self._drain()
            if self._spoiled:
                broken("garbage")
            else:
                whole()
        except _Over:
            return
        for mishap in self._queue:
            await self._channel.close(reset=mishap.what.by == "reset")

    async def _send(self) -> None:
        answer, stream = self._answer, self._answer.events is not None
        pieces = [answer.payload]
        if answer.events is not None:
            pieces = [encode(event, self._random) for event in answer.events]
        message = answer.body if isinstance(answer.body, dict) else {}
        body = Body(pieces=pieces, events=answer.events, message=message)
        self._queue.extend(mishaps(answer.breaks, body))
        self._channel.begin(answer.status, answer.headers, None if stream else self._length(body))
        await self._reach(0)
        for index, piece in enumerate(pieces):
            if silence := self._silence(index):
                await self._wait(silence, answer.pings)
            if stream and self._at_event is not None:
                self._channel.flush()
                await self._at_event()
            await self._put(piece)
            self.events += stream
            self.last = answer.events[index].name if answer.events is not None else ""
            await self._reach(self._position)
            if index % BATCH == BATCH - 1:
                await self._drain()

    def _silence(self, index: int) -> float:
        """Seconds before the piece with this index: the event's own silence, or what is between any two."""
        own = self._answer.events[index].wait if self._answer.events is not None else 0.0
        return max(own, self._answer.gap) if index else own

    def _length(self, body: Body) -> int:
        """Of a whole body; what ends early as if it were whole is as long as what was sent."""
        for mishap in self._queue:
            if mishap.what.by == "end" and mishap.offset is not None:
                return mishap.offset
        return body.size

    async def _put(self, piece: bytes) -> None:
        """Write a piece, with whatever happens inside of it."""
        before, start = self._position, 0
        while self._queue and self._is_before(before + len(piece)):
            mishap = self._queue.popleft()
            cut = max(start, (mishap.offset or 0) - before)
            self._write(piece[start:cut])
            start = cut
            self._position = before + cut
            await self._happen(mishap.what)
        self._write(piece[start:])
        self._position = before + len(piece)

    async def _reach(self, position: int) -> None:
        """Let happen what happens right after so many bytes."""
        while self._queue and self._is_before(position + 1):
            await self._happen(self._queue.popleft().what)

    def _is_before(self, position: int) -> bool:
        offset = self._queue[0].offset
        return offset is not None and offset < position

    def _write(self, data: bytes) -> None:
        size = self._answer.segment
        for start in range(0, len(data), size) if size else ():
            self._channel.write((data[start : start + size],))
            self._channel.flush()
        if data and not size:
            self._channel.write((data,))
        self.bytes += len(data)

    async def _happen(self, what: Break) -> None:
        streamed = self._answer.events is not None
        match what.by:
            case "stall":
                await self._wait(what.seconds, what.pings if streamed else 0)
            case "event" if streamed and what.event:
                self._write(encode(Event(str(what.event.get("type")), what.event), self._random))
                self.events += 1
            case "garbage" if streamed:
                self._spoiled = True
                self._write(GARBAGE if what.text is None else what.text.encode())
            case "error":
                request_id = self._answer.headers.get("request-id", "")
                self._write(encode(error_event(what, request_id), self._random))
                self.events += 1
                await self._break_off("error")
            case "end" | "close" | "reset" | "silence":
                await self._break_off(what.by, what.pings)

    async def _break_off(self, how: str, pings: float = 0) -> None:
        """End the answer here."""
        if how in ("error", "end"):
            self._channel.end()
        await self._drain()
        self._tell(how)
        if how in ("close", "reset"):
            await self._channel.close(reset=how == "reset")
        while how == "silence" and not self._channel.gone.done():
            await asyncio.wait([self._channel.gone], timeout=pings or None)
            if pings and self._answer.events is not None and not self._channel.gone.done():
                self._ping()
        raise _Over

    async def _drain(self) -> None:
        await self._channel.drain()
        if self._channel.gone.done():
            raise Left

    async def _wait(self, seconds: float, pings: float) -> None:
        """A pause, with pings in it where they were asked for."""
        self._channel.flush()
        left = seconds
        while pings and left > pings:
            await self._sleep(pings)
            self._ping()
            left -= pings
        await self._sleep(left)

    async def _sleep(self, seconds: float) -> None:
        if not await self._pacer.wait(seconds, self._channel.gone):
            raise Left

    def _ping(self) -> None:
        self._write(encode(PING, self._random))
        self._channel.flush()
