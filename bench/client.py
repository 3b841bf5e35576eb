"""A load client for a Messages API on the loopback: kept connections, raw sockets, complete answers counted.

python bench/client.py URL --stream -c 8 -d 3        prints one line of JSON
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from urllib.parse import urlsplit

PROMPT = "bench 000000"
MODEL = "claude-opus-4-6"


class Client(asyncio.Protocol):
    """One connection: asks, waits for the whole answer, asks again."""

    def __init__(self, request: bytes, until: float, tally: Tally) -> None:
        self._request = request
        self._until = until
        self._tally = tally
        self._data = bytearray()
        self._needed = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask as soon as there is a connection."""
        self._transport = transport
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """An answer that never came is an error."""
        if not self.done.done():
            self._tally.errors += 1
            self.done.set_result(None)

    def _ask(self) -> None:
        self._data.clear()
        self._needed = 0
        request = self._request
        if self._tally.differ:
            # Six digits in place of six others: the length stays as it is.
            request = request.replace(b"000000", b"%06d" % self._tally.next_number(), 1)
        self._asked = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Wait for the whole answer."""
        self._data += data
        if not self._needed and b"\r\n\r\n" in self._data:
            self._needed = self._size()
        if self._needed < 0:
            whole = self._data.endswith(b"\r\n0\r\n\r\n")
        else:
            whole = 0 < self._needed <= len(self._data)
        if whole:
            self._answered()

    def _size(self) -> int:
        """Bytes of the whole answer; -1 where its end is told by its last chunk."""
        head, _, _ = bytes(self._data).partition(b"\r\n\r\n")
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                return len(head) + 4 + int(value)
        return -1

    def _answered(self) -> None:
        now = time.perf_counter()
        self._tally.count(bytes(self._data), now - self._asked)
        if now < self._until:
            self._ask()
            return
        self.done.set_result(None)
        self._transport.close()


class Tally:
    """What came back."""

    def __init__(self, *, differ: bool = False) -> None:
        self.differ = differ
        self._number = 0
        self.times: list[float] = []
        self.errors = 0
        self.size = 0
        self.events = 0

    def next_number(self) -> int:
        """So that no two requests are the same."""
        self._number += 1
        return self._number

    def count(self, answer: bytes, seconds: float) -> None:
        """Take one answer."""
        if answer.startswith(b"HTTP/1.1 200"):
            self.times.append(seconds)
            if not self.size:
                self.size, self.events = len(answer), answer.count(b"event: ")
        else:
            self.errors += 1

    def told(self, seconds: float) -> dict[str, float]:
        """The figures, for so many seconds."""
        ordered = sorted(self.times) or [0.0]
        return {
            "answers": len(self.times),
            "per_second": round(len(self.times) / seconds, 1),
            "median_ms": round(ordered[len(ordered) // 2] * 1000, 3),
            "p99_ms": round(ordered[int(len(ordered) * 0.99)] * 1000, 3),
            "bytes": self.size,
            "events": self.events,
            "errors": self.errors,
        }


def request_of(url: str, *, stream: bool) -> bytes:
    """The request that is sent again and again."""
    parts = urlsplit(url)
    asked = {"model": MODEL, "max_tokens": 4096, "stream": stream}
    body = json.dumps(asked | {"messages": [{"role": "user", "content": PROMPT}]}).encode()
    head = (
        f"POST {parts.path} HTTP/1.1\r\nhost: {parts.netloc}\r\ncontent-type: application/json\r\n"
        f"x-api-key: sk-ant-bench\r\nanthropic-version: 2023-06-01\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def load(url: str, *, stream: bool, differ: bool, connections: int, seconds: float) -> dict[str, float]:
    """Ask for so many seconds over so many connections."""
    parts, tally, began = urlsplit(url), Tally(differ=differ), time.perf_counter()
    request = request_of(url, stream=stream)
    loop = asyncio.get_running_loop()
    clients = []
    for _ in range(connections):
        _, client = await loop.create_connection(
            lambda: Client(request, began + seconds, tally), parts.hostname, parts.port
        )
        clients.append(client.done)
    await asyncio.wait(clients, timeout=seconds + 30)
    return tally.told(time.perf_counter() - began)


def main() -> None:
    """Load what the command line names."""
    parser = argparse.ArgumentParser(description="Load a Messages API on the loopback.")
    parser.add_argument("url")
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--differ", action="store_true", help="no two requests are the same")
    parser.add_argument("-c", "--connections", type=int, default=8)
    parser.add_argument("-d", "--seconds", type=float, default=3.0)
    given = parser.parse_args()
    found = load(
        given.url,
        stream=given.stream,
        differ=given.differ,
        connections=given.connections,
        seconds=given.seconds,
    )
    print(json.dumps(asyncio.run(found)))


if __name__ == "__main__":
    main()
