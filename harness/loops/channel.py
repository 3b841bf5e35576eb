"""Frames between a host process and its parent: how long, which number, then the payload.

The parent reads them in its event loop, the child with blocking calls. One socket pair carries control (both
ways, a request and its answer have the same number), another the hooks' events (the number is the turn's;
each is answered with one byte, so that what is recorded first happened first).
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast

import msgspec

from ..history import AnyEvent, Census, encode_event
from ..store import Sink
from ..turn import TurnSpec

HEAD = struct.Struct(">II")
ACK, NO = b".", b"!"
"""What the parent answers to an event: it is recorded; or recorded, and what it asks for is not granted."""
Receive: TypeAlias = Callable[[int, bytes], None]


class Ask(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the parent wants of the child."""

    do: Literal["play", "cancel", "forget", "census", "stand", "bye"]
    spec: TurnSpec | None = None
    conversation: str = ""
    key: str = ""
    via: str = "flag"


class Answer(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the child says to it. Number 0 is said unasked, when the loop is loaded or cannot be."""

    problem: str = ""
    declared: dict[str, Any] = {}
    warden: int = 0
    """Told with the first answer: the process that looks after this one."""
    asynchronous: bool = False
    """Whether the loop is a coroutine function."""
    census: Census | None = None
    stood: str = ""
    """The line of the loop's code that is at work."""


def frame(number: int, payload: bytes) -> bytes:
    """One frame, ready to be sent."""
    return HEAD.pack(len(payload), number) + payload


class Channel(asyncio.Protocol):
    """The parent's end: whole frames go to `receive`."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def open(cls, sock: socket.socket, receive: Receive) -> Channel:
        """Read from `sock`, which is the channel's from now on."""
        loop = asyncio.get_running_loop()
        _, channel = await loop.create_unix_connection(lambda: cls(receive), sock=sock)
        return channel

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        # Not every event loop's transports derive from asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Hand on what is complete."""
        self._buffer += data
        while len(self._buffer) >= HEAD.size:
            length, number = HEAD.unpack_from(self._buffer)
            if len(self._buffer) < HEAD.size + length:
                return
            payload = bytes(self._buffer[HEAD.size : HEAD.size + length])
            del self._buffer[: HEAD.size + length]
            self._receive(number, payload)

    def send(self, data: bytes) -> None:
        """Send without waiting; nothing happens where the child is gone."""
        if self._transport and not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """Close the socket; what is not sent is dropped."""
        if self._transport:
            self._transport.abort()


class Hooks:
    """The child's end of the hooks: a sink for each turn."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._unanswered = 0

    def sink(self, number: int) -> Sink:
        """The sink of turn `number`, for any thread. It returns when the parent has recorded the event."""

        def record(event: AnyEvent) -> bool:
            # A process forked off within a turn has the socket too, but not the right to speak for the loop.
            return os.getpid() == self._process and self._send(frame(number, encode_event(event)))

        return record

    def _send(self, data: bytes) -> bool:
        """Whether what the event asks for is granted."""
        with self._lock:
            self._sock.sendall(data)
            self._unanswered += 1
            answers = ACK
            # Counted, because an interrupt may have left an earlier acknowledgement unread.
            while self._unanswered:
                answers = self._sock.recv(4096)
                if not answers:  # the parent is gone, and soon this process as well
                    return False
                self._unanswered -= len(answers)
            return not answers.endswith(NO)


class Control:
    """The child's end of the control channel."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._lock = threading.Lock()
        self._process = os.getpid()

    def next(self) -> tuple[int, Ask] | None:
        """Wait for what the parent wants next. None: it is gone."""
        try:
            length, number = HEAD.unpack(self._read(HEAD.size))
            return number, msgspec.json.decode(self._read(length), type=Ask)
        except (OSError, EOFError):
            return None

    def say(self, number: int, answer: Answer) -> None:
        """Answer, from any thread."""
        if os.getpid() != self._process:  # forked off by the loop, and came back from it
            os._exit(0)
        with self._lock:
            self._sock.sendall(frame(number, msgspec.json.encode(answer)))

    def _read(self, size: int) -> bytes:
        # Not through a buffered reader: its lock would be held while this process ends.
        data = bytearray()
        while len(data) < size:
            part = self._sock.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)
