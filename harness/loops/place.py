"""What the runner lends a driver of the provider, which it owns: nothing else here may listen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from ..turn import Declaration
from .driver import Driver

Handler: TypeAlias = Callable[[str, str, dict[str, str], bytes], Awaitable[tuple[int, dict[str, str], bytes]]]
"""`(method, path, headers, body) -> (status, headers, body)`; `path` is what follows the prefix.

Cancelled where the client leaves before it is answered."""


@dataclass(frozen=True)
class Place:
    """Where one worker's loop finds the provider."""

    worker: str
    """`w0`"""
    url: str
    """Of the provider, without a worker: `http://127.0.0.1:PORT`."""
    mount: Callable[[str, Handler], None]
    """Answer what is below this path."""
    unmount: Callable[[str], None]
    asked: Callable[[str], bool]
    """Whether the session with this key has seen a request."""
    proxy: str = ""
    """A proxy that lets nothing out, and notes who was asked for."""
    declaration: Declaration | None = None
    """The options of the run."""
    busy: Callable[[str], bool] = lambda _: False
    """Whether the session with this key is answering a request."""
    heard: Callable[[str], int] = lambda _: 0
    """How many requests of the session with this key have come."""
    folder: Path | None = None
    """Whose pyproject.toml counts."""

    @property
    def base_url(self) -> str:
        """What a client is given: always the same, for clients and their pools are kept by it."""
        return f"{self.url}/{self.worker}"


class Target(Protocol):
    """A loop that is neither a Python callable nor named like one: what makes a driver for it."""

    @property
    def name(self) -> str:
        """What the reports call the loop."""
        ...

    def driver(self, place: Place) -> Driver:
        """A new driver of this loop, for one worker."""
        ...
