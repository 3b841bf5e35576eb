"""The client of a service: asks as its users do, reads the answer, and hangs up to cancel."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import httpx2

from .. import census, clock, declaration
from ..declaration import DeclarationError
from ..history import Census, Ended, Lost, Noted, Overran
from ..store import Sink
from ..turn import INTERRUPTS, Declaration, TurnSpec
from .driver import Driver, DriverError, Reach
from .place import Place
from .reading import STREAM, TAIL, End, kind_of, read, says_done
from .service import Service, Started

MOST_BODY = 16 * 1024 * 1024
"""Bytes of an answer that are looked at."""
QUIET = 0.3
"""Seconds without a request after which a service that was hung up on is done."""
LINGER = 0.3
"""Seconds in which a stream that said it is over may close its connection, or go on all the same."""
UNENDED = (
    "the stream of an answer stayed open, and nothing in it said that it was over: close it, send an event "
    "`done` or the data `[DONE]`, or name the last event with --until"
)
MOST_REDIRECTS = 10
ELSEWHERE = (
    "and nobody but the service is asked: give what it wants with --header (a cookie, a token), "
    "or name another address with --http"
)
LOOPBACK = ("127.0.0.1", "localhost", "::1")
CONNECT = 5.0
"""Seconds to wait for a connection."""
OUTSIDE = "a service cannot be interrupted from outside: its client hangs up"
ONE_TURN = "the turns of a conversation cannot be told: write {conversation} in the body, or set a cookie"


class ServiceDriver:
    """Plays turns by being the service's client."""

    kind = "service"

    def __init__(self, service: Service, place: Place, port: int) -> None:
        self.name = service.name
        self.declaration = Declaration()
        self.reach: Reach = "prompt" if service.serial else "token"
        self.killable = False
        self.watched = bool(service.words)  # who was started here has our proxy
        self._service = service
        self._template = service.template(port)
        self._place = place
        self._started = Started(service, place, port) if service.words else None
        self._client = httpx2.AsyncClient(trust_env=False, timeout=httpx2.Timeout(None, connect=CONNECT))
        self._jars: dict[str, httpx2.Cookies] = {}
        self._asking: asyncio.Task[Ended] | None = None
        self._hung_up: set[str] = set()
        self._unended = False
        """A stream has come whose last event did not say that it was the last."""

    async def start(self) -> None:
        """Start the service, where that is wanted. Raises `DriverError`."""
        try:
            self.declaration = declaration.collect(
                {"tools": "own"}, self._place.declaration, self._place.folder, "a service"
            )
        except DeclarationError as error:
            raise DriverError(str(error)) from None
        if self._started:
            await self._started.start()

    async def play(self, spec: TurnSpec, sink: Sink) -> None:
        """Ask, and tell what came; `Lost` where there is nobody to ask."""
        further = spec.conversation in self._jars
        jar = self._jars.setdefault(spec.conversation, httpx2.Cookies())
        if further and not jar and "conversation" not in self._template.names:
            sink(Noted(kind="unplayable", detail=ONE_TURN))
            sink(Lost(reason=ONE_TURN))
            return
        if spec.conversation in self._hung_up:
            # The user went away before anything was sent.
            self._hung_up.discard(spec.conversation)
            sink(Ended(returned="none"))
            return
        try:
            if self._started:
                await self._started.again()
            self._unended = False
            self._asking = asyncio.ensure_future(self._ask(spec, jar))
            await asyncio.wait({self._asking}, timeout=spec.deadline)
            if spec.conversation in self._hung_up:
                self._hung_up.discard(spec.conversation)
                await self._quiet(spec)
                sink(Ended(returned="none"))
            elif not self._asking.done():
                await self._hang_up()
                if self._unended:
                    sink(Noted(kind="open", detail=UNENDED))
                sink(Overran(deadline=spec.deadline))
            else:
                await self._tell(self._asking.result(), sink)
        except DriverError as error:
            sink(Lost(reason=str(error)))
        finally:
            await self._hang_up()
            self._asking = None

    async def _ask(self, spec: TurnSpec, jar: httpx2.Cookies) -> Ended:
        values = {
            "prompt": spec.prompt,
            "conversation": spec.conversation,
            "stream": "true" if spec.stream else "false",
        }
        sent = self._template.fill(values)
        request = httpx2.Request(
            sent.method, sent.url, headers=sent.headers, content=sent.content, cookies=jar
        )
        try:
            response = await self._send(request, jar)
        except httpx2.ConnectError as error:
            raise DriverError(f"nothing answers at {error.request.url}: {error}") from None
        except httpx2.HTTPError as error:
            return _ended(None, [("status", "none"), ("end", type(error).__name__)])
        body, end = await self._body(response)
        found = read(self._service.answer, response.status_code, response.headers, body, end)
        return _ended(found.text, found.look)

    async def _send(self, request: httpx2.Request, jar: httpx2.Cookies) -> httpx2.Response:
        """Ask, and go where the service sends its users, unless that is elsewhere: nobody else is asked."""
        for _ in range(MOST_REDIRECTS):
            response = await self._client.send(request, stream=True)
            jar.extract_cookies(response)
            following = response.next_request
            if following is None:
                return response
            await response.aclose()
            if _place(following.url) != _place(request.url):
                raise DriverError(f"{request.url} sends its users on to {following.url}, {ELSEWHERE}")
            following.headers.pop("cookie", None)
            jar.set_cookie_header(following)
            request = following
        raise httpx2.TooManyRedirects(f"more than {MOST_REDIRECTS}", request=request)

    async def _body(self, response: httpx2.Response) -> tuple[bytes, End]:
        """What came, and how it ended. A stream that says it is over is left, also while it is open."""
        body, pieces = bytearray(), aiter(response.aiter_bytes())
        until: float | None = None
        streams = kind_of(response.headers) == STREAM
        try:
            while True:
                over = streams and says_done(bytes(body[-TAIL:]), self._service.until)
                self._unended = streams and bool(body) and not over
                # Comments that keep the connection open say nothing more.
                until = (until or clock.now() + LINGER) if over else None
                piece = await asyncio.wait_for(anext(pieces), None if until is None else until - clock.now())
                body += piece[: MOST_BODY - len(body)]
        except StopAsyncIteration:
            return bytes(body), "whole"
        except TimeoutError:
            return bytes(body), "open"
        except httpx2.HTTPError:
            return bytes(body), "cut"
        finally:
            await response.aclose()

    async def _tell(self, ended: Ended, sink: Sink) -> None:
        if self._started and ("end", "whole") not in (ended.look or ()):
            await self._started.may_die()
        if self._started and (how := self._started.died):
            sink(
                Lost(reason=f"{how}, while a user waited for an answer", output=await self._started.output())
            )
        else:
            sink(ended)

    async def _quiet(self, spec: TurnSpec) -> None:
        """Wait until the service asks nothing more, for at most as long as the turn may take."""
        await self._hang_up()
        until = clock.now() + spec.deadline
        since = clock.now()
        while clock.now() < min(since + QUIET, until):
            await asyncio.sleep(QUIET / 10)
            if self._place.busy(spec.api_key):
                since = clock.now()

    async def _hang_up(self) -> None:
        if self._asking and not self._asking.done():
            self._asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._asking

    def cannot_cancel(self, via: str) -> str:
        """A user hangs up; that is all."""
        return OUTSIDE if via in INTERRUPTS else ""

    async def cancel(self, spec: TurnSpec, via: str = "flag") -> None:  # noqa: ARG002 - there is one way
        """Hang up."""
        self._hung_up.add(spec.conversation)
        await self._hang_up()

    def kill(self) -> None:
        """Nothing: it is not killable."""

    def another(self, worker: str) -> Driver:
        """There is none: it is not killable."""
        raise NotImplementedError(worker)

    async def census(self) -> Census | None:
        """Count what the service has started, where it was started here."""
        if self._started is None:
            return None
        folder = self._started.temporary
        files = await asyncio.to_thread(census.files, folder) if folder else []
        return Census(when="after", children=await self._started.family(), files=files)

    async def forget(self, conversation: str) -> None:
        """The conversation is over."""
        self._jars.pop(conversation, None)
        self._hung_up.discard(conversation)

    async def close(self) -> None:
        """End what was started."""
        await self._hang_up()
        await self._client.aclose()
        if self._started:
            await self._started.close()


def _place(url: httpx2.URL) -> str:
    """The host; all names of this machine's loopback are one."""
    return "" if url.host in LOOPBACK else url.host


def _ended(text: str | None, look: Any) -> Ended:
    """What a client got. A text is what this turn said, whatever an earlier one did."""
    if text is None:
        return Ended(returned="none", look=look)
    return Ended(returned="text", shown=[text] if text.strip() else [], look=look)
