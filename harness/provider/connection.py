"""One connection of a client: its requests parsed, and answered one after the other."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
import struct
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Protocol, cast

import httptools

from . import http
from .http import RefusedError
from .request import Request
from .stream import Channel

LINGER = 2.0
"""Seconds for which what a client still sends is read away after the answer that ends its connection.

Closing at once would reset the connection, and with it the answer the client has not read yet.
"""

MOST_WAITING = 64
"""Pipelined requests kept before reading stops."""

_RESET = struct.pack("ii", 1, 0)


@functools.lru_cache(maxsize=256)
def _name(name: bytes) -> str:
    return name.decode("latin-1").lower()


class Host(Protocol):
    """Whose connections these are."""

    connections: set[Connection]

    async def serve(self, request: Request, channel: Response) -> None:
        """Answer one request."""

    def answers_early(self, request: Request) -> bool:
        """Whether the request is to be answered before its body was read."""

    def asked_for(self, place: str, headers: dict[str, str], what: str = "") -> None:
        """A client takes us for a proxy, and asks for another host; and `what` there, if it can be read."""


class Connection(asyncio.Protocol):
    """Parses requests and has them answered."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = self._loop.create_future()
        self.writable = asyncio.Event()
        self.writable.set()
        self.key = ""
        """Of the session that answered last."""
        self.last = False
        """No further request is answered."""
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: deque[Request | RefusedError] = deque()
        self._task: asyncio.Task[None] | None = None
        self._deaf = False
        self._owes_continue = False
        self._linger: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client is there."""
        self.transport = cast("asyncio.Transport", transport)
        self._host.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The client is gone."""
        self._host.connections.discard(self)
        self.writable.set()
        if self._linger is not None:
            self._linger.cancel()
        if not self.gone.done():
            self.gone.set_result(None)

    def pause_writing(self) -> None:
        """The client does not read as fast as we write."""
        self.writable.clear()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self.writable.set()

    async def abort(self) -> None:
        """End the connection and whatever is being answered on it."""
        self.transport.abort()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self.gone

    def finish(self) -> None:
        """End the connection after what is being answered on it."""
        self.last = True
        if self._task is None:
            self.transport.close()

    async def close(self, *, reset: bool) -> None:
        """End the connection when all that was written has left, or tear it down then."""
        self._deaf = self.last = True
        while self.transport.get_write_buffer_size() and not self.gone.done():
            await asyncio.sleep(0.001)
        if reset and not self.gone.done():
            found: socket.socket = self.transport.get_extra_info("socket")
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.transport.abort()
        else:
            self.transport.close()

    # --- from bytes to requests -------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Bytes arrived."""
        if self._deaf:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._pass_over_offer(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            known = error.__context__
            self._refuse(
                known if isinstance(known, RefusedError) else RefusedError(400, f"malformed HTTP: {error}")
            )

    def _pass_over_offer(self, rest: bytes) -> None:
        """Read on after an offer to speak another protocol, as HTTP allows.

        The parser would not read the body of such a request, so it gets the head once more without the offer.
        """
        method = self._parser.get_method()
        if method == b"CONNECT":
            place = self._url.decode("latin-1")
            self._host.asked_for(place, self._headers)
            self._refuse(RefusedError(403, http.nothing_out(place)))
            return
        head = http.without_upgrade(method, self._url, self._headers)
        self._parser = httptools.HttpRequestParser(self)
        self.data_received(head + rest)

    def _refuse(self, refused: RefusedError) -> None:
        self._deaf = True
        self._queue(refused)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._url = b""
        self._headers: dict[str, str] = {}
        self._head_size = 0
        self._body = bytearray()

    def on_url(self, url: bytes) -> None:
        """Some of its address arrived."""
        self._url += url
        self._measure(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """One of its headers arrived."""
        self._measure(len(name) + len(value))
        key, text = _name(name), value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def _measure(self, size: int) -> None:
        self._head_size += size
        if self._head_size > http.MAX_HEAD:
            raise RefusedError(431, "the request's headers are too large")

    def on_headers_complete(self) -> None:
        """Its body follows."""
        if self._deaf or self._parser.should_upgrade():
            return
        target = httptools.parse_url(self._url)
        request = self._request = Request(
            method=self._parser.get_method().decode("latin-1"),
            path=(target.path or b"/").decode("latin-1"),
            query=(target.query or b"").decode("latin-1"),
            headers=self._headers,
            keep_alive=self._parser.should_keep_alive(),
            version=self._parser.get_http_version(),
        )
        if target.host and not http.is_loopback(place := target.host.decode("latin-1")):
            at = f"{place}:{target.port}" if target.port else place
            self._host.asked_for(at, self._headers, f"{request.method} {request.path}")
            raise RefusedError(403, http.nothing_out(place))
        http.check_host(self._headers.get("host"), request.version)
        self._limit = http.body_limit(request.path)
        length = self._headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._limit:
            raise RefusedError(413, http.TOO_LARGE)
        if self._host.answers_early(request):
            request.early, request.keep_alive = True, False
            self._deaf = True
            self._queue(request)
        elif self._headers.get("expect", "").lower() == "100-continue":
            self._owes_continue = self._task is not None
            if not self._owes_continue:
                self.transport.write(http.CONTINUE)

    def on_body(self, body: bytes) -> None:
        """Some of its body arrived."""
        self._body += body
        if len(self._body) > self._limit:
            raise RefusedError(413, http.TOO_LARGE)

    def on_message_complete(self) -> None:
        """The request is whole."""
        if self._deaf or self._parser.should_upgrade():
            return
        encoding = self._headers.get("content-encoding", "")
        self._request.raw = http.decompress(bytes(self._body), encoding, self._limit)
        self._queue(self._request)

    # --- from requests to answers -----------------------------------------------------------------

    def _queue(self, item: Request | RefusedError) -> None:
        self._waiting.append(item)
        if self._task is None:
            self._task = self._loop.create_task(self._work())
        elif len(self._waiting) == MOST_WAITING:
            self.transport.pause_reading()

    async def _work(self) -> None:
        """Answer what is waiting, then stop: an idle connection costs no task."""
        while self._waiting and not self.gone.done() and not self.last:
            item = self._waiting.popleft()
            if len(self._waiting) == MOST_WAITING - 1:
                self.transport.resume_reading()
            if isinstance(item, RefusedError):
                self.transport.write(item.response())
                self.hang_up()
                break
            await self._answer(item)
        self._task = None
        if self.last:
            self.transport.close()
        elif self._owes_continue:
            self._owes_continue = False
            self.transport.write(http.CONTINUE)

    async def _answer(self, request: Request) -> None:
        response = Response(self, request)
        try:
            await self._host.serve(request, response)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not hang the loop under test
            self._loop.call_exception_handler({"message": "the provider failed", "exception": error})
            if not response.begun:
                refused = RefusedError(500, f"the provider failed: {type(error).__name__}: {error}")
                self.transport.write(refused.response())
            self.transport.close()

    def hang_up(self) -> None:
        """Say no more, and give the client time to read what was said."""
        self._deaf = True
        if self.transport.is_closing() or self._linger is not None:
            return
        if self.transport.can_write_eof():
            with contextlib.suppress(OSError):  # the client may have left before the transport hears of it
                self.transport.write_eof()
        self._linger = self._loop.call_later(LINGER, self.transport.abort)


class Response(Channel):
    """One answer on a connection."""

    def __init__(self, connection: Connection, request: Request) -> None:
        self.gone = connection.gone
        self.begun = False
        self._connection = connection
        self._request = request
        self._chunked = False
        self._bodiless = request.method == "HEAD"
        self._written: list[bytes] = []

    def belongs_to(self, key: str) -> None:
        """The session with this key answers."""
        self._connection.key = key

    def begin(
        self,
        status: int,
        headers: dict[str, str],
        length: int | None,
        repeated: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Write the head; `repeated` are further headers, whose names may occur more than once."""
        self.begun = True
        self._chunked = length is None and self._request.version != "1.0"
        if length is None and not self._chunked:
            self._request.keep_alive = False
        if not self._request.keep_alive:
            headers = headers | {"connection": "close"}
        elif headers.get("connection") == "close":
            self._request.keep_alive = False
        self._written.append(http.head(status, headers, length, chunked=self._chunked, repeated=repeated))

    def write(self, pieces: Iterable[bytes]) -> None:
        """Write parts of the body."""
        if not self._bodiless:
            self._written.append(http.chunks(pieces) if self._chunked else b"".join(pieces))

    def end(self) -> None:
        """Write what ends the body."""
        if self._chunked and not self._bodiless:
            self._written.append(b"0\r\n\r\n")
        if not self._request.keep_alive:
            self.flush()
            if self._request.early:
                self._connection.hang_up()
            else:
                self._connection.transport.close()

    def flush(self) -> None:
        """Send what was written."""
        if self._written:
            # Of what is written to a client that has left, the event loop complains after a while.
            if not self._connection.transport.is_closing():
                self._connection.transport.write(b"".join(self._written))
            self._written.clear()

    async def drain(self) -> None:
        """Send what was written, and wait until the client has taken most of it."""
        self.flush()
        if not self._connection.writable.is_set():
            await self._connection.writable.wait()

    async def close(self, *, reset: bool = False) -> None:
        """Send what was written, then close the connection, or tear it down."""
        self.flush()
        await self._connection.close(reset=reset)
