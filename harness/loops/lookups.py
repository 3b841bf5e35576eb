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
import threading
from collections.abc import Callable, Mapping
from types import FrameType, TracebackType
from typing import Any, Self

ALLOW = "LOOP_HARNESS_ALLOW_HOSTS"
"""Names of hosts that may be asked, with commas between them."""
MOST_TOLD = 20
API = "api.anthropic.com"
_SDK = "anthropic._base_client"
_FUNCTIONS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")


_ENTERED: list[Lookups] = []
"""Those that are entered. Several loops may be played in one process, and end in any order."""
_BEFORE: dict[tuple[Any, str], Any] = {}
"""What is put back when the last of them is left."""
_LOCK = threading.Lock()


class Lookups:
    """Refuses to look up names while it is entered; each is told to `note`, once.

    Where several are entered, the last is told.
    """

    def __init__(self, note: Callable[[str], object], asks: Callable[[str], object] = lambda _: None) -> None:
        """`asks` is told of names that were looked up to ask the Messages API there, for certain."""
        self._note = note
        self._asks = asks
        self._asked = False
        self._told: set[str] = set()
        self._only: int | None = None

    def __enter__(self) -> Self:
        with _LOCK:
            if not _ENTERED:
                for name in _FUNCTIONS:
                    _put(socket, name, _refusing)
                _put(asyncio.BaseEventLoop, "getaddrinfo", _looking)
            _ENTERED.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _LOCK:
            _ENTERED.remove(self)
            if not _ENTERED:
                for (where, name), function in _BEFORE.items():
                    setattr(where, name, function)
                _BEFORE.clear()

    def confine(self, thread: int) -> None:
        """Refuse what this thread looks up and nothing else: its loop was given up, but still runs."""
        self._only = thread

    @property
    def confined(self) -> bool:
        """Whether only one thread is refused anything."""
        return self._only is not None

    def applies(self, thread: int) -> bool:
        """Whether it refuses what this thread looks up."""
        return self._only in (None, thread)

    def refuse(self, name: str) -> None:
        """Note that a name was asked for. Raises what a look-up in vain does."""
        if name not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(name)
            self._note(name)
        self.look_who_asks(name)
        raise socket.gaierror(
            socket.EAI_NONAME,
            f"loop-harness lets nothing out: {name} was not looked up ({ALLOW} allows what a loop needs)",
        )

    def look_who_asks(self, name: str) -> None:
        """Tell of the SDK's own request. Of other hosts, it asks for the credentials of a cloud as well."""
        if name == API and not self._asked and _by_the_sdk():
            self._asked = True
            self._asks(name)


def _put(where: Any, name: str, instead: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    function = _BEFORE[where, name] = getattr(where, name)
    setattr(where, name, instead(function))


def _last() -> Lookups | None:
    here = threading.get_ident()
    return next((lookups for lookups in reversed(tuple(_ENTERED)) if lookups.applies(here)), None)


def _looking(function: Callable[..., Any]) -> Callable[..., Any]:
    """An event loop looks up in another thread, where nobody can be seen who asked for it."""

    async def look_up(loop: Any, host: Any, *others: Any, **named: Any) -> Any:
        if not is_allowed(host) and (lookups := _last()):
            lookups.look_who_asks(_text(host))
            if lookups.confined:  # the thread that does it is another one
                lookups.refuse(_text(host))
        return await function(loop, host, *others, **named)

    return look_up


def _refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    def look_up(host: Any, *others: Any, **named: Any) -> Any:
        if not is_allowed(host) and (lookups := _last()):
            lookups.refuse(_text(host))
        return function(host, *others, **named)

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
