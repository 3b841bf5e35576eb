"""Names that a loop in this process looks up are refused: nothing here is to reach the real API.

A loop that needs another host for itself, a cache or a database, has it allowed by name in the environment.
What this cannot stop: addresses given as numbers, and clients that look names up without Python's `socket`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Mapping
from types import FrameType, TracebackType
from typing import Any, Self

ALLOW = "LOOP_HARNESS_ALLOW_HOSTS"
"""Names of hosts that may be asked, with commas between them."""
MOST_TOLD = 20
API = "api.anthropic.com"
_SDK = "anthropic._base_client"
_FUNCTIONS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")


class Lookups:
    """Refuses to look up names while it is entered; each is told to `note`, once."""

    def __init__(self, note: Callable[[str], object], asks: Callable[[str], object] = lambda _: None) -> None:
        """`asks` is told of names that were looked up to ask the Messages API there, for certain."""
        self._note = note
        self._asks = asks
        self._asked = False
        self._told: set[str] = set()
        self._before: dict[str, Any] = {}

    def __enter__(self) -> Self:
        for name in _FUNCTIONS:
            self._before[name] = getattr(socket, name)
            setattr(socket, name, self._refusing(self._before[name]))
        self._asynchronous = asyncio.BaseEventLoop.getaddrinfo
        asyncio.BaseEventLoop.getaddrinfo = self._looking(self._asynchronous)  # type: ignore[method-assign]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, function in self._before.items():
            setattr(socket, name, function)
        asyncio.BaseEventLoop.getaddrinfo = self._asynchronous  # type: ignore[method-assign]

    def _looking(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """An event loop looks up in another thread, where nobody can be seen who asked for it."""

        async def look_up(loop: Any, host: Any, *others: Any, **named: Any) -> Any:
            if not is_allowed(host):
                self._look_who_asks(_text(host))
            return await function(loop, host, *others, **named)

        return look_up

    def _look_who_asks(self, name: str) -> None:
        # Of other hosts, the SDK asks for the credentials of a cloud as well.
        if name == API and not self._asked and _by_the_sdk():
            self._asked = True
            self._asks(name)

    def _refusing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def look_up(host: Any, *others: Any, **named: Any) -> Any:
            if is_allowed(host):
                return function(host, *others, **named)
            name = _text(host)
            if name not in self._told and len(self._told) < MOST_TOLD:
                self._told.add(name)
                self._note(name)
            self._look_who_asks(name)
            raise socket.gaierror(
                socket.EAI_NONAME,
                f"loop-harness lets nothing out: {name} was not looked up ({ALLOW} allows what a loop needs)",
            )

        return look_up


def _by_the_sdk() -> bool:
    """Whether a request of the SDK's own client is on its way."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") != _SDK:
        frame = frame.f_back
    return frame is not None


def _text(name: object) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


def is_allowed(host: object) -> bool:
    """Whether this is no name, one of this machine, or one that is allowed."""
    if isinstance(host, (bytes, bytearray)):
        host = host.decode(errors="replace")
    if not isinstance(host, str) or not host:
        return True
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost") or name == socket.gethostname().lower():
        return True
    if name in allowed_hosts(os.environ):
        return True
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def allowed_hosts(environment: Mapping[str, str]) -> list[str]:
    """The hosts that may be asked."""
    return [name.strip().lower() for name in environment.get(ALLOW, "").split(",") if name.strip()]
