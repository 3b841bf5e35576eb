"""What a process prints: all of it is read, little of it kept, and the lines that speak to us are heard."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from .protocol import MalformedError, decoded

HEAD, TAIL = 8_192, 16_384
"""Bytes kept of the beginning and of the end."""
MOST_LINE = 16 * 1024 * 1024
"""Bytes of a line that may hold an outcome. A longer one is log."""
KEYS = (b'"outcome"', b'"hello"')
"""A line without one of these is log, and not looked at any closer."""


class Printed(asyncio.Protocol):
    """One output of a process. It is always read, so that nobody is blocked by writing much."""

    def __init__(self, head: int = HEAD) -> None:
        self._most = head
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0
        """Bytes so far."""
        self.closed = asyncio.get_running_loop().create_future()
        """Done when nobody holds the other end any more."""

    def data_received(self, data: bytes) -> None:
        """Keep beginning and end."""
        self.size += len(data)
        if room := self._most - len(self._head):
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * TAIL:
            del self._tail[:-TAIL]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Nothing more will come."""
        if not self.closed.done():
            self.closed.set_result(None)

    @property
    def left_out(self) -> int:
        """Bytes that were not kept."""
        return self.size - len(self._head) - len(self._tail[-TAIL:])

    @property
    def text(self) -> str:
        """What was kept; where something was left out, that is said."""
        end = self._tail[-TAIL:]
        middle = f"\n[… {self.left_out} bytes …]\n".encode() if self.left_out else b""
        return (bytes(self._head) + middle + bytes(end)).decode(errors="replace")

    @property
    def last_line(self) -> str:
        """The last line that is not blank."""
        return next((line.strip() for line in reversed(self.text.splitlines()) if line.strip()), "")


class Spoken(Printed):
    """An output whose lines may speak to the harness: JSON objects with a key we know go to `hear`."""

    def __init__(self, hear: Callable[[dict[str, Any]], None], head: int = HEAD) -> None:
        super().__init__(head)
        self._hear = hear
        self._line = bytearray()
        self._skips = False

    def data_received(self, data: bytes) -> None:
        """Keep it, and look at the lines that are whole."""
        super().data_received(data)
        if self._skips:
            _, found, data = data.partition(b"\n")
            self._skips = not found
        end = data.rfind(b"\n")
        if end >= 0:
            self._look(bytes(self._line) + data[:end])
            self._line.clear()
            data = data[end + 1 :]
        self._line += data
        if len(self._line) > MOST_LINE:
            self._line.clear()
            self._skips = True

    def finish(self) -> None:
        """Look at the last line, although it was not ended."""
        self._look(bytes(self._line))
        self._line.clear()

    def _look(self, lines: bytes) -> None:
        if not any(key in lines for key in KEYS):
            return
        for line in lines.splitlines():
            if line.lstrip().startswith(b"{") and any(key in line for key in KEYS):
                try:
                    said = decoded(line.decode(errors="replace").encode())
                except MalformedError:
                    continue
                if isinstance(said, dict):
                    self._hear(said)
