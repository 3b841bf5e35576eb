"""A server in a thread, for recording and replaying, and raw looks at what it sends."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from harness.cassettes.player import Player
from harness.cassettes.proxy import Proxy
from harness.cassettes.read import read
from harness.cassettes.recorder import Recorder
from harness.cassettes.redact import Redactor
from harness.cassettes.replaying import Replaying
from harness.provider.server import Provider, Service, new_event_loop
from harness.provider.session import Session
from harness.scenario.model import Scenario

T = TypeVar("T")
KEY = "sk-ant-api03-0123456789abcdef"


class Serving:
    """A server that answers with a service, or as a provider with a session."""

    def __init__(self) -> None:
        self.provider = Provider()
        self.loop = new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.call(self.provider.start())

    @property
    def url(self) -> str:
        return self.provider.url

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    def mount(self, service: Service) -> None:
        self.loop.call_soon_threadsafe(self.provider.mount_service, "", service)

    def script(self, scenario: Scenario) -> None:
        async def begin() -> None:
            session = Session(key=KEY, scenario=scenario, record=lambda _: None)
            self.provider.open(session)
            session.begin_turn(0)

        self.call(begin())

    def close(self) -> None:
        if self.loop.is_closed():
            return
        self.call(self.provider.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@contextlib.contextmanager
def serving(service: Service | None = None, scenario: Scenario | None = None) -> Iterator[Serving]:
    server = Serving()
    try:
        if service is not None:
            server.mount(service)
        if scenario is not None:
            server.script(scenario)
        yield server
    finally:
        server.close()


@contextlib.contextmanager
def recording(
    upstream: str, path: Path, redactor: Redactor | None = None, *, live: bool = False
) -> Iterator[tuple[Serving, list[str]]]:
    """A recording proxy in front of `upstream`; what it said."""
    said: list[str] = []
    with Recorder(path, redactor or Redactor(known={}), live=live) as recorder, serving() as server:

        async def make() -> Proxy:
            return Proxy(upstream, recorder, said.append)

        proxy = server.call(make())
        server.mount(proxy.serve)
        yield server, said
        server.call(proxy.close())
        recorder.keep()


@contextlib.contextmanager
def replaying(path: Path, pace: float = 0.0, **options: Any) -> Iterator[tuple[str, Player]]:
    player = Player(read(path), **options)
    with serving(Replaying(player, pace).serve) as server:
        yield server.url, player


def post(url: str, body: Any, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Ask, and read all of the answer."""
    status, told, pieces = timed(url, body, **headers)
    return status, told, b"".join(data for _, data in pieces)


def timed(
    url: str, body: Any, after: Callable[[bytes], None] | None = None, **headers: str
) -> tuple[int, dict[str, str], list[tuple[float, bytes]]]:
    """Ask, and read the answer as it comes: seconds since the request, and the bytes that came then."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=20)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"x-api-key": KEY, "anthropic-version": "2023-06-01", "content-type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    began = time.monotonic()
    connection.request("POST", f"{parts.path or '/v1/messages'}?{parts.query}".rstrip("?"), data, sent)
    answer = connection.getresponse()
    pieces = []
    with contextlib.closing(connection):
        while piece := answer.read1(1 << 16):
            pieces.append((time.monotonic() - began, piece))
            if after:
                after(piece)
    if answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, pieces
