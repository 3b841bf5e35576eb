"""The fake Messages API on a socket. Law 1: nothing else in this package listens, and this on the loopback.

One `Provider` serves many sessions at once. The session of a request is found by its API key, else by the
path prefix `/s/KEY`, else it is the current one of the worker named by the path prefix `/wN`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias, cast

import httptools

from .. import clock
from ..wire.ids import Ids
from . import http
from .answer import Answer, Failure, error_answer
from .http import RefusedError
from .request import Request, credential
from .routes import route
from .session import Session
from .stream import Channel, Pacer, Sender

Handler: TypeAlias = Callable[[str, str, dict[str, str], bytes], Awaitable[tuple[int, dict[str, str], bytes]]]
"""`(method, path, headers, body) -> (status, headers, body)`; `path` is what follows the prefix."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")
HEARTBEAT = 0.05
"""Seconds between two looks at how late the machine is."""

_MISSING_KEY = Failure(status=401, message="x-api-key header is required")
_BAD_KEY = Failure(status=401, message="invalid x-api-key")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """An event loop to serve in: the fastest one installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class Provider:
    """The server. Start it in the event loop that will serve it; sessions may come and go at any time."""

    def __init__(self) -> None:
        self.url = ""
        self.pacer = Pacer()
        self._sessions: dict[str, Session] = {}
        self._workers: dict[str, Session] = {}
        self._mounted: dict[str, Handler] = {}
        self._connections: set[_Connection] = set()
        self._server: asyncio.Server | None = None
        self._heartbeat: asyncio.Task[None] | None = None
        self._ids = Ids()

    @property
    def lateness(self) -> float:
        """The worst delay of a timer since the start, in seconds."""
        return self.pacer.lateness

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen. Raises `ValueError` for a host that is not the loopback, `OSError` for a port in use."""
        if host not in LOOPBACK:
            raise ValueError(f"the provider listens on the loopback only, not on {host!r}: use 127.0.0.1")
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, host, port, backlog=1024)
        bound = self._server.sockets[0].getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{bound}"
        self._heartbeat = loop.create_task(self._beat())

    async def close(self) -> None:
        """Stop listening and end every connection."""
        if self._server is None or self._heartbeat is None:
            return
        self._server.close()
        self._heartbeat.cancel()
        ended = [connection.abort() for connection in list(self._connections)]
        await asyncio.gather(self._heartbeat, *ended, return_exceptions=True)
        await self._server.wait_closed()
        self._server = self._heartbeat = None

    def open(self, session: Session) -> None:
        """Answer requests with the session's key from now on; it is also the current one of its worker."""
        session.pacer.report_to(self.pacer)
        self._sessions[session.key] = session
        self._workers[session.worker] = session

    def shut(self, key: str) -> None:
        """Forget the session with this key."""
        session = self._sessions.pop(key, None)
        if session is not None and self._workers.get(session.worker) is session:
            del self._workers[session.worker]

    def mount(self, prefix: str, handler: Handler) -> None:
        """Hand requests below `prefix` to `handler`, which answers them itself."""
        self._mounted[prefix.rstrip("/")] = handler

    def unmount(self, prefix: str) -> None:
        """Take back what was mounted at `prefix`."""
        self._mounted.pop(prefix.rstrip("/"), None)

    async def serve(self, request: Request, channel: Channel) -> None:
        """Answer one request."""
        for prefix, handler in self._mounted.items():
            if request.path == prefix or request.path.startswith(prefix + "/"):
                await _hand_over(handler, prefix, request, channel)
                return
        found = route(request.path)
        request.path = found.path
        request.decode()
        for name in (credential(request.headers), found.key):
            if name is not None and name in self._sessions:
                await self._sessions[name].answer(request, channel)
                return
        if found.worker in self._workers:
            await self._workers[found.worker].answer(request, channel)
            return
        await Sender(lambda _: None, self.pacer).send(self._stranger(request), channel)

    def _stranger(self, request: Request) -> Answer:
        """The answer to a request of no session."""
        failure = _MISSING_KEY if credential(request.headers) is None else _BAD_KEY
        if request.endpoint == "unknown" or request.method in ("HEAD", "OPTIONS"):
            failure = Failure(status=404)
        return error_answer(failure, request=0, request_id=self._ids.next("req_"), kind="rejected")

    def _connect(self) -> _Connection:
        return _Connection(self.serve, self._connections)

    async def _beat(self) -> None:
        while True:
            due = clock.now() + HEARTBEAT
            await asyncio.sleep(HEARTBEAT)
            late = clock.now() - due
            for pacer in (self.pacer, *(session.pacer for session in self._sessions.values())):
                pacer.late(late)


async def _hand_over(handler: Handler, prefix: str, request: Request, channel: Channel) -> None:
    path = request.path.removeprefix(prefix) or "/"
    if request.query:
        path += f"?{request.query}"
    status, headers, body = await handler(request.method, path, request.headers, request.raw)
    channel.begin(status, headers, len(body))
    channel.write([body])
    channel.end()
    await channel.drain()


class _Connection(asyncio.Protocol):
    """Parses requests and answers them one after the other, in the order in which they came."""

    def __init__(self, serve: Callable[[Request, Channel], Awaitable[None]], all_: set[_Connection]) -> None:
        self._serve = serve
        self._all = all_
        self._loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = self._loop.create_future()
        self.writable = asyncio.Event()
        self.writable.set()
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: deque[Request | RefusedError] = deque()
        self._task: asyncio.Task[None] | None = None
        self._refused = False
        self._owes_continue = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._all.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._all.discard(self)
        self.writable.set()
        if not self.gone.done():
            self.gone.set_result(None)

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    async def abort(self) -> None:
        """End the connection and whatever is being answered on it."""
        self.transport.abort()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self.gone

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # An offer to speak another protocol is passed over, as HTTP allows. The parser would not read
            # the body of such a request, so it gets the head once more without the offer.
            head = http.without_upgrade(self._parser.get_method(), self._url, self._headers)
            self._parser = httptools.HttpRequestParser(self)
            self.data_received(head + data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            known = error.__context__
            self._refuse(
                known if isinstance(known, RefusedError) else RefusedError(400, f"malformed HTTP: {error}")
            )

    def _refuse(self, refused: RefusedError) -> None:
        self._refused = True
        self._queue(refused)

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body = bytearray()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def on_headers_complete(self) -> None:
        if self._parser.should_upgrade():
            return
        length = self._headers.get("content-length", "0")
        if length.isdigit() and int(length) > http.MAX_BODY:
            raise RefusedError(413, "Request exceeds the maximum size")
        if self._headers.get("expect", "").lower() == "100-continue":
            self._owes_continue = self._task is not None
            if not self._owes_continue:
                self.transport.write(http.CONTINUE)

    def on_body(self, body: bytes) -> None:
        self._body += body
        if len(self._body) > http.MAX_BODY:
            raise RefusedError(413, "Request exceeds the maximum size")

    def on_message_complete(self) -> None:
        if self._parser.should_upgrade():
            return
        target = httptools.parse_url(self._url)
        version = self._parser.get_http_version()
        http.check_host(self._headers.get("host"), version)
        self._queue(
            Request(
                method=self._parser.get_method().decode("latin-1"),
                path=(target.path or b"/").decode("latin-1"),
                query=(target.query or b"").decode("latin-1"),
                headers=self._headers,
                raw=http.decompress(bytes(self._body), self._headers.get("content-encoding", "")),
                keep_alive=self._parser.should_keep_alive(),
                chunks=version != "1.0",
            )
        )

    def _queue(self, item: Request | RefusedError) -> None:
        self._waiting.append(item)
        if self._task is None:
            self._task = self._loop.create_task(self._work())

    async def _work(self) -> None:
        """Answer what is waiting, then stop: an idle connection costs no task."""
        while self._waiting and not self.gone.done():
            item = self._waiting.popleft()
            if isinstance(item, RefusedError):
                self.transport.write(item.response())
                self.transport.close()
                break
            await self._answer(item)
        self._task = None
        if self._owes_continue:
            self._owes_continue = False
            self.transport.write(http.CONTINUE)

    async def _answer(self, request: Request) -> None:
        response = _Response(self, request)
        try:
            await self._serve(request, response)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not hang the loop under test
            self._loop.call_exception_handler({"message": "the provider failed", "exception": error})
            if not response.begun:
                refused = RefusedError(500, f"the provider failed: {type(error).__name__}: {error}")
                self.transport.write(refused.response())
            self.transport.close()


class _Response(Channel):
    """One answer on a connection."""

    def __init__(self, connection: _Connection, request: Request) -> None:
        self.gone = connection.gone
        self.begun = False
        self._connection = connection
        self._request = request
        self._chunked = False

    def begin(self, status: int, headers: dict[str, str], length: int | None) -> None:
        self.begun = True
        self._chunked = length is None and self._request.chunks
        if length is None and not self._chunked:
            self._request.keep_alive = False
        if not self._request.keep_alive:
            headers = headers | {"connection": "close"}
        self._connection.transport.write(http.head(status, headers, length, chunked=self._chunked))

    def write(self, pieces: Iterable[bytes]) -> None:
        if self._request.method != "HEAD":
            self._connection.transport.write(http.chunks(pieces) if self._chunked else b"".join(pieces))

    def end(self) -> None:
        if self._chunked and self._request.method != "HEAD":
            self._connection.transport.write(b"0\r\n\r\n")
        if not self._request.keep_alive:
            self._connection.transport.close()

    async def drain(self) -> None:
        await self._connection.writable.wait()
