"""The recording proxy: a request goes on to the API, its answer comes back as it comes, and both are kept.

It is mounted on the provider's server, the only one that listens. Nothing waits for the recording: what a
client gets is written to it first, and to the cassette in another thread.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx2

from .. import clock
from ..provider.answer import Failure, error_answer
from ..provider.connection import Response as Channel
from ..provider.request import Request as Asked
from .arriving import Arriving
from .canary import LeakError
from .model import Headers, Interaction, Request
from .recorder import Recorder

CONNECT = 10.0
"""Seconds for a connection to the API; an answer may take as long as it takes."""

_OF_THE_CONNECTION = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "http2-settings",
    }
)
"""Headers that are between a client and its server alone (RFC 9110, 7.6.1)."""

_OURS = _OF_THE_CONNECTION | {"host", "content-length", "content-encoding", "accept-encoding", "expect"}
"""Headers of a request that are made anew: it was unpacked here, and is asked for unpacked."""


class Proxy:
    """Answers as `upstream` does. `problem` says what kept something from being recorded."""

    def __init__(
        self, upstream: str, recorder: Recorder, say: Callable[[str], None], verify: bool | str = True
    ) -> None:
        """`say` is told of every exchange, without what is secret. `verify`: a file of certificates."""
        self.problem = ""
        self._upstream = upstream.rstrip("/")
        self._recorder = recorder
        self._say = say
        self._began = clock.now()
        self._over = False
        """A secret would have been written: nothing is any more."""
        self._client = httpx2.AsyncClient(verify=verify, timeout=httpx2.Timeout(None, connect=CONNECT))
        self._writer = ThreadPoolExecutor(1, "cassette")

    async def close(self) -> None:
        """Wait until all is written."""
        await self._client.aclose()
        await asyncio.to_thread(self._writer.shutdown)

    async def serve(self, asked: Asked, channel: Channel) -> None:
        """Answer one request."""
        work = asyncio.ensure_future(self._forward(asked, channel))
        # A client that leaves must not keep the API talking.
        await asyncio.wait({work, channel.gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work

    async def _forward(self, asked: Asked, channel: Channel) -> None:
        uri = f"{self._upstream}{asked.path}" + (f"?{asked.query}" if asked.query else "")
        asked_at = clock.now() - self._began
        arriving = Arriving()
        broken = True
        try:
            async with self._answer(asked, uri) as answer:
                self._begin(answer, arriving, asked, channel)
                async for data in answer.aiter_raw():
                    arriving.piece(data)
                    channel.write((data,))
                    await channel.drain()
            broken = False
            channel.end()
            await channel.drain()
        except httpx2.HTTPError as error:
            await self._failed(error, asked, channel)
        finally:
            if arriving.begun:
                kept = Request(method=asked.method, uri=uri, headers=self._headers(asked), body=asked.raw)
                self._record(
                    Interaction(request=kept, response=arriving.response(broken=broken), asked_at=asked_at)
                )

    @contextlib.asynccontextmanager
    async def _answer(self, asked: Asked, uri: str) -> AsyncIterator[httpx2.Response]:
        headers = [
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in asked.headers.items()
            if name not in _OURS
        ]
        headers.append((b"accept-encoding", b"identity"))
        request = httpx2.Request(asked.method, uri, headers=headers, content=asked.raw or None)
        answer = await self._client.send(request, stream=True)
        try:
            yield answer
        finally:
            await answer.aclose()

    def _begin(self, answer: httpx2.Response, arriving: Arriving, asked: Asked, channel: Channel) -> None:
        headers = [
            (name, value) for name, value in answer.headers.multi_items() if name not in _OF_THE_CONNECTION
        ]
        arriving.head(answer.status_code, answer.reason_phrase, headers)
        length = answer.headers.get("content-length", "")
        bodiless = asked.method == "HEAD" or answer.status_code in (204, 304)
        known = int(length) if length.isdigit() else 0 if bodiless else None
        channel.begin(
            answer.status_code, {}, known, [pair for pair in headers if pair[0] != "content-length"]
        )
        channel.flush()

    async def _failed(self, error: httpx2.HTTPError, asked: Asked, channel: Channel) -> None:
        """The API broke off, or cannot be reached: so it is for the client."""
        self._say(f"{asked.method} {asked.path}: {type(error).__name__}: {error}")
        if channel.begun:
            await channel.close()
            return
        self.problem = f"{_host(self._upstream)} cannot be reached: {error}"
        failure = Failure(
            status=502,
            type="api_error",
            message=f"loop-harness: {self.problem}",
            headers={"x-should-retry": "false"},
        )
        answer = error_answer(failure, request=0, request_id="req_none", kind="fault")
        channel.begin(answer.status, answer.headers, len(answer.payload))
        channel.write((answer.payload,))
        channel.end()
        await channel.drain()

    def _headers(self, asked: Asked) -> Headers:
        host = _host(self._upstream)
        return [(name, host if name == "host" else value) for name, value in asked.headers.items()]

    def _record(self, interaction: Interaction) -> None:
        self._writer.submit(self._write, interaction)

    def _write(self, interaction: Interaction) -> None:
        request, response = interaction.request, interaction.response
        if self._over:
            return
        try:
            self._recorder.add(interaction)
        except Exception as error:  # noqa: BLE001 - nobody waits for what is done in this thread
            self._over = True
            known = isinstance(error, (LeakError, OSError, ValueError))
            self.problem = str(error) if known else f"{type(error).__name__}: {error}"
            self._say(self.problem)
        else:
            rest = ", broken off" if response.broken else ""
            self._say(f"{request.method} {urlsplit(request.uri).path}: {response.status}{rest}")


def _host(uri: str) -> str:
    return urlsplit(uri).netloc.rpartition("@")[2]
