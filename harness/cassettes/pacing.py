"""The pace of what vcrpy records: it takes a body as a whole, so its pieces are timed below it.

httpx and its fork read from the connection pool of httpcore and its fork. What a pool returns is wrapped, and
found again by the thread or task that vcrpy reads it in.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from typing import Any

from .arriving import Arriving

POOLS = ("httpcore2", "httpcore")

_last: ContextVar[Arriving | None] = ContextVar("last", default=None)


def taken() -> Arriving | None:
    """What the current thread or task has read last; it is given once."""
    found = _last.get()
    _last.set(None)
    return found


def patches() -> tuple[tuple[Any, str, Callable[..., Any]], ...]:
    """What vcrpy has to patch for it: `custom_patches`."""
    found: list[tuple[Any, str, Callable[..., Any]]] = []
    for name in POOLS:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        pools = module.ConnectionPool, module.AsyncConnectionPool
        found.append((pools[0], "handle_request", _timed(pools[0].handle_request)))
        found.append((pools[1], "handle_async_request", _timed_async(pools[1].handle_async_request)))
    return tuple(found)


class _Timed:
    """The pieces of a body, with their times."""

    def __init__(self, stream: Any, arriving: Arriving) -> None:
        self._stream = stream
        self._arriving = arriving

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            self._arriving.piece(piece)
            yield piece

    def close(self) -> None:
        if hasattr(self._stream, "close"):
            self._stream.close()


class _TimedAsync:
    """The same for a stream that is awaited."""

    def __init__(self, stream: Any, arriving: Arriving) -> None:
        self._stream = stream
        self._arriving = arriving

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._arriving.piece(piece)
            yield piece

    async def aclose(self) -> None:
        if hasattr(self._stream, "aclose"):
            await self._stream.aclose()


def _timed(handle: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(handle)
    def timed(pool: Any, request: Any) -> Any:
        arriving = Arriving()
        response = handle(pool, request)
        response.stream = _Timed(response.stream, _begun(arriving, response))
        return response

    return timed


def _timed_async(handle: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(handle)
    async def timed(pool: Any, request: Any) -> Any:
        arriving = Arriving()
        response = await handle(pool, request)
        response.stream = _TimedAsync(response.stream, _begun(arriving, response))
        return response

    return timed


def _begun(arriving: Arriving, response: Any) -> Arriving:
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers]
    reason = response.extensions.get("reason_phrase", b"").decode("latin-1")
    arriving.head(response.status, reason, headers)
    _last.set(arriving)
    return arriving
