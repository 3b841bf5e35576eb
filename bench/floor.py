"""The limit: the same protocol with canned bytes. Nothing is read of the body, nothing is decided.

python bench/floor.py PORT
"""

from __future__ import annotations

import asyncio
import json
import sys

from servers import TEXT, fragments

MESSAGE = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-4-6",
    "content": [{"type": "text", "text": TEXT}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def event(kind: str, **fields: object) -> bytes:
    """One event of a stream."""
    data = json.dumps({"type": kind, **fields}, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


def stream() -> bytes:
    """A streamed answer."""
    deltas = [
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        for piece in fragments()
    ]
    events = [
        event("message_start", message=MESSAGE | {"content": [], "stop_reason": None}),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        *deltas,
        event("content_block_stop", index=0),
        event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1}),
        event("message_stop"),
    ]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in events)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + chunks + b"0\r\n\r\n"


def whole() -> bytes:
    """A whole answer."""
    body = json.dumps(MESSAGE, separators=(",", ":")).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


WHOLE, STREAM = whole(), stream()


class Floor(asyncio.Protocol):
    """Answers each request that is complete."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        self._transport = transport
        self._data = b""

    def data_received(self, data: bytes) -> None:
        """Answer what is complete."""
        self._data += data
        while True:
            head, end, rest = self._data.partition(b"\r\n\r\n")
            lower = head.lower()
            at = lower.find(b"content-length:")
            length = int(lower[at + 15 :].split(b"\r\n")[0]) if at >= 0 else 0
            if not end or len(rest) < length:
                return
            body, self._data = rest[:length], rest[length:]
            self._transport.write(STREAM if b'"stream": true' in body else WHOLE)


async def main() -> None:
    """Serve until the end."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Floor, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
