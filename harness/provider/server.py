"""The fake Messages API on a socket. Law 1: nothing else in this package listens, and this on the loopback.

One `Provider` serves many sessions at once. The session of a request is found by its API key, else by the
path prefix `/s/KEY`, else by a token in its prompt, else it is the current one of the worker named by the
path prefix `/wN`.
"""

from __future__ import annotations

import asyncio
import functools
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from .. import clock
from ..history import Noted
from ..wire.ids import Ids
from .answer import Answer, Failure, error_answer
from .connection import Connection, Response
from .request import Request, credential, proxy_user
from .routes import route
from .session import Session
from .stream import Pacer, Sender
from .tokens import Tokens

Handler: TypeAlias = Callable[[str, str, dict[str, str], bytes], Awaitable[tuple[int, dict[str, str], bytes]]]
"""`(method, path, headers, body) -> (status, headers, body)`; `path` is what follows the prefix.

It is cancelled where the client leaves before it is answered."""

Service: TypeAlias = Callable[[Request, Response], Awaitable[None]]
"""Answers a request itself, as slowly and in as many pieces as it likes."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOST_ELSEWHERE = 20
"""Hosts that are told of which one run asks for beside the API."""
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


class Door:
    """A port that is listened on, and that can refuse for a while."""

    def __init__(self, connect: Callable[[], Connection], host: str, port: int) -> None:
        self._connect = connect
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{f'[{self._host}]' if ':' in self._host else self._host}:{self._port}"

    async def open(self) -> None:
        """Listen. Raises `OSError` for a port in use."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, self._host, self._port, backlog=2048)
        self._port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Refuse; open connections stay."""
        if self._server is not None:
            self._server.close()
            self._server = None


class Provider:
    """The server. Start it in the event loop that will serve it; sessions may come and go at any time."""

    def __init__(self) -> None:
        self.url = ""
        self.pacer = Pacer()
        self.connections: set[Connection] = set()
        self._sessions: dict[str, Session] = {}
        self._workers: dict[str, Session] = {}
        self._tokens = Tokens()
        self._busy: Counter[str] = Counter()
        self._heard: Counter[str] = Counter()
        self.only: Session | None = None
        """Of whoever names neither a worker nor a key, where there is nobody else to be told apart from."""
        self.standby: Session | None = None
        """Answers a worker's requests between its cases: a service may ask for something when it starts."""
        self._mounted: dict[str, Service] = {}
        self._door: Door | None = None
        self._doors: dict[str, Door] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.strangers: deque[str] = deque(maxlen=MOST_ELSEWHERE)
        """Requests that belong to no session, in short."""
        self._ids = Ids()
        self._elsewhere: WeakKeyDictionary[Session, set[str]] = WeakKeyDictionary()

    @property
    def lateness(self) -> float:
        """The worst delay of a timer since the start, in seconds."""
        return self.pacer.lateness

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen. Raises `ValueError` for a host that is not the loopback, `OSError` for a port in use."""
        if host not in LOOPBACK:
            raise ValueError(f"the provider listens on the loopback only, not on {host!r}: use 127.0.0.1")
        self._host = host
        self._door = Door(self._connect, host, port)
        await self._door.open()
        self.url = self._door.url
        self._spawn(self._beat())

    async def close(self) -> None:
        """Stop listening and end every connection."""
        if self._door is None:
            return
        for task in self._tasks:
            task.cancel()
        ended = [connection.abort() for connection in list(self.connections)]
        doors = [door.close() for door in (self._door, *self._doors.values())]
        await asyncio.gather(*self._tasks, *ended, *doors, return_exceptions=True)
        self._door = None
        self._doors.clear()

    def open(self, session: Session, *, alone: bool = False, current: bool = True) -> None:
        """Answer requests with the session's key from now on; mostly it is the `current` one of its worker.

        Where the session is `alone`, the provider itself refuses connections when the session's script does.
        """
        session.pacer.report_to(self.pacer)
        self._sessions[session.key] = session
        if current:
            self._workers[session.worker] = session
        self._tokens.add(session)
        door = self._door if alone else self._doors.get(session.key)
        if door is not None:
            session.refuse = functools.partial(self._refuse, session, door)
            session.look_ahead()

    async def address(self, session: Session) -> str:
        """The base URL for a session not yet opened: a port of its own where its script refuses connections.

        There is one port for all others, since clients keep a pool of connections for each they meet.
        """
        if session.refuses and self._door is not None:
            door = self._doors[session.key] = Door(self._connect, self._host, 0)
            await door.open()
            return door.url
        return self.url

    def shut(self, key: str) -> None:
        """Forget the session with this key."""
        session = self._sessions.pop(key, None)
        if session is not None:
            self._tokens.retire(session)
        self._busy.pop(key, None)
        self._heard.pop(key, None)
        if session is not None and self._workers.get(session.worker) is session:
            del self._workers[session.worker]
        if door := self._doors.pop(key, None):
            self._spawn(door.close())

    def proxy(self, worker: str) -> str:
        """A proxy for the processes of a worker: it refuses, and notes who was asked for."""
        return self.url.replace("://", f"://{worker}:loop-harness@")

    def asked_for(self, place: str, headers: dict[str, str], what: str = "") -> None:
        """Note, in the history of the worker's case, that its loop asks for a host that is not the API.

        `what` is asked there, where the request could be read.
        """
        session = self._workers.get(proxy_user(headers))
        if session is None and len(self._workers) == 1:
            [session] = self._workers.values()
        told = self._elsewhere.setdefault(session, set()) if session is not None else set()
        if session is not None and place not in told and len(told) < MOST_ELSEWHERE:
            told.add(place)
            session.note(Noted(kind="elsewhere", detail=place))
            if what.endswith("/v1/messages"):
                session.note(Noted(kind="api", detail=f"{what} was asked of {place}"))

    def used(self, key: str) -> bool:
        """Whether the session with this key has seen a request."""
        session = self._sessions.get(key)
        return session is not None and session.used

    def heard(self, key: str) -> int:
        """How many requests of the session with this key have come."""
        return self._heard[key]

    def busy(self, key: str) -> bool:
        """Whether the session with this key is answering a request."""
        return self._busy[key] > 0

    def mount(self, prefix: str, handler: Handler) -> None:
        """Hand requests below `prefix` to `handler`, which answers them itself."""
        prefix = prefix.rstrip("/")
        self.mount_service(prefix, functools.partial(_hand_over, handler, prefix))

    def mount_service(self, prefix: str, service: Service) -> None:
        """Hand requests below `prefix` to `service`, with the way to its client; an empty one is any."""
        self._mounted[prefix.rstrip("/")] = service

    def unmount(self, prefix: str) -> None:
        """Take back what was mounted at `prefix`."""
        self._mounted.pop(prefix.rstrip("/"), None)

    async def serve(self, request: Request, channel: Response) -> None:
        """Answer one request."""
        for prefix, service in self._mounted.items():
            if request.path == prefix or request.path.startswith(prefix + "/"):
                await service(request, channel)
                return
        session = self._find(request)
        if session is None:
            await Sender(lambda _: None, self.pacer).send(self._stranger(request), channel)
            return
        channel.belongs_to(session.key)
        self._busy[session.key] += 1
        self._heard[session.key] += 1
        try:
            await session.answer(request, channel)
        finally:
            self._busy[session.key] -= 1

    def answers_early(self, request: Request) -> bool:
        """Whether the request is to be answered before its body was read."""
        session = self._find(request)
        return session is not None and session.answers_early(request)

    def _find(self, request: Request) -> Session | None:
        """The session of a request, whose path becomes the API's own."""
        if request.route is None:
            request.route = route(request.path)
            request.path = request.route.path
        found = request.route
        for name in (credential(request.headers), found.key):
            if name is not None and name in self._sessions:
                return self._sessions[name]
        if self._tokens.known:
            said, session = self._tokens.find(request.raw)
            if said:
                return session
        return self._workers.get(found.worker, self.standby) if found.worker else self.only

    def _stranger(self, request: Request) -> Answer:
        """The answer to a request of no session."""
        known = "a key nobody gave it" if credential(request.headers) else "no key"
        self.strangers.append(f"{request.method} {request.path} with {known}")
        failure = _MISSING_KEY if credential(request.headers) is None else _BAD_KEY
        if request.endpoint == "unknown" or request.method in ("HEAD", "OPTIONS"):
            failure = Failure(status=404)
        return error_answer(failure, request=0, request_id=self._ids.next("req_"), kind="rejected")

    def _refuse(
        self, session: Session, door: Door, seconds: float, over: Callable[[], None]
    ) -> Callable[[], None]:
        """Refuse connections for a while; what is returned ends that early."""
        enough: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def refuse() -> None:
            await door.close()
            for connection in list(self.connections):
                if connection.key == session.key:
                    connection.finish()
            await self.pacer.wait(seconds, enough)
            over()
            if session.key in self._sessions:
                await door.open()

        def stop() -> None:
            if not enough.done():
                enough.set_result(None)

        self._spawn(refuse())
        return stop

    def _connect(self) -> Connection:
        return Connection(self)

    def _spawn(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _beat(self) -> None:
        while True:
            due = clock.now() + HEARTBEAT
            await asyncio.sleep(HEARTBEAT)
            late = clock.now() - due
            for pacer in (self.pacer, *(session.pacer for session in self._sessions.values())):
                pacer.late(late)


async def _hand_over(handler: Handler, prefix: str, request: Request, channel: Response) -> None:
    path = request.path.removeprefix(prefix) or "/"
    if request.query:
        path += f"?{request.query}"
    answering = asyncio.ensure_future(handler(request.method, path, request.headers, request.raw))
    either: set[asyncio.Future[Any]] = {answering, channel.gone}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if not answering.done():  # a client that has left waits for nothing: a tool it had running is abandoned
        answering.cancel()
        await asyncio.wait({answering})
        return
    status, headers, body = answering.result()
    channel.begin(status, headers, len(body))
    channel.write([body])
    channel.end()
    await channel.drain()
