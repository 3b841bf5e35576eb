"""Names that a loop in this process looks up are refused: nothing here is to reach the real API.

A loop that needs another host for itself, a cache or a database, has it allowed by name in the environment.
What this cannot stop: addresses given as numbers, and clients that look names up without Python's `socket`.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

ALLOW = "LOOP_HARNESS_ALLOW_HOSTS"
"""Names of hosts that may be asked, with commas between them."""
MOST_TOLD = 20
_FUNCTIONS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")


class Lookups:
    """Refuses to look up names while it is entered; each is told to `note`, once."""

    def __init__(self, note: Callable[[str], object]) -> None:
        self._note = note
        self._told: set[str] = set()
        self._before: dict[str, Any] = {}

    def __enter__(self) -> Self:
        for name in _FUNCTIONS:
            self._before[name] = getattr(socket, name)
            setattr(socket, name, self._refusing(self._before[name]))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, function in self._before.items():
            setattr(socket, name, function)

    def _refusing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def look_up(host: Any, *others: Any, **named: Any) -> Any:
            if is_allowed(host):
                return function(host, *others, **named)
            name = host.decode(errors="replace") if isinstance(host, bytes) else str(host)
            if name not in self._told and len(self._told) < MOST_TOLD:
                self._told.add(name)
                self._note(name)
            raise socket.gaierror(
                socket.EAI_NONAME,
                f"loop-harness lets nothing out: {name} was not looked up ({ALLOW} allows what a loop needs)",
            )

        return look_up


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
