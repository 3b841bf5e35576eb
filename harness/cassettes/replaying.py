"""A cassette served over HTTP: the recorded bytes, at the recorded pace, another one, or at once."""

from __future__ import annotations

import asyncio

from .. import clock
from ..provider.connection import Response as Channel
from ..provider.request import Request as Asked
from .bodies import still_packed
from .model import Headers, Response
from .player import Player

_MADE_ANEW = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"}
)
_STREAMED = "text/event-stream"


class Replaying:
    """Serves what a player finds. `pace` is what recorded times are multiplied by: 1, or 0 for at once."""

    def __init__(self, player: Player, pace: float = 0.0) -> None:
        self.player = player
        self._pace = pace

    async def serve(self, asked: Asked, channel: Channel) -> None:
        """Answer one request."""
        began = clock.now()
        uri = asked.path + (f"?{asked.query}" if asked.query else "")
        found = self.player.ask(asked.method, uri, list(asked.headers.items()), asked.raw)
        await self._send(found.response, channel, began, bodiless=asked.method == "HEAD")

    async def _send(self, response: Response, channel: Channel, began: float, *, bodiless: bool) -> None:
        begins = began + (response.head_at or 0.0) * self._pace
        if not await _until(begins, channel):
            return
        headers = kept_headers(response)
        channel.begin(response.status, {}, None if streams(response) else self._length(response), headers)
        channel.flush()
        place = 0
        # The times of the pieces count from the head, so that lateness does not add up.
        for at, size in [(piece.at, piece.size) for piece in response.pieces] or [(0.0, len(response.body))]:
            if not await _until(begins + at * self._pace, channel):
                return
            channel.write((response.body[place : place + size],))
            channel.flush()
            place += size
        await channel.drain()
        if response.broken and not bodiless:
            await channel.close()
        else:
            channel.end()
            await channel.drain()

    def _length(self, response: Response) -> int:
        """What was promised, where the body broke off."""
        told = _first(response.headers, "content-length")
        longer = response.broken and told.isdigit() and int(told) > len(response.body)
        return int(told) if longer else len(response.body) + response.broken


def streams(response: Response) -> bool:
    """Whether the body's length was not known at its beginning."""
    return _first(response.headers, "content-type").startswith(_STREAMED)


def kept_headers(response: Response) -> Headers:
    """The headers a client gets; a body that could not be unpacked when it was read says so still."""
    packed = still_packed(response.body, _first(response.headers, "content-encoding"))
    dropped = _MADE_ANEW - {"content-encoding"} if packed else _MADE_ANEW
    return [(name, value) for name, value in response.headers if name.lower() not in dropped]


def _first(headers: Headers, name: str) -> str:
    """The first value of a header, in lower case; empty where it is not there."""
    return next((value.lower() for each, value in headers if each.lower() == name), "")


async def _until(due: float, channel: Channel) -> bool:
    """Wait; False as soon as the client has left."""
    left = due - clock.now()
    if left > 0 and not channel.gone.done():
        await asyncio.wait([channel.gone], timeout=left)
    return not channel.gone.done()
