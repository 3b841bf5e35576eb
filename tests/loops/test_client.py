"""What the client of a service makes of answers that are odd, each written to the letter."""

from __future__ import annotations

import asyncio
import contextlib
import re

from harness.history import Ended, Lost
from harness.loops.client import ServiceDriver
from harness.loops.place import Place
from harness.loops.reading import parse_answer
from harness.loops.service import Service
from tests.loops.bad.playing import spec

HEAD = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n"
DONE = b'data: {"text": "Cold."}\n\ndata: [DONE]\n\n'


def moved(place: str) -> bytes:
    return f"HTTP/1.1 307 Moved\r\nlocation: {place}\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n".encode()


def asked(*answers: bytes) -> tuple[list[object], list[bytes]]:
    """The events of a turn that is answered so, connection by connection, and the requests."""
    heads: list[bytes] = []
    serving: set[asyncio.Task[object]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            serving.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            heads.append(head)
            await reader.readexactly(int(re.findall(rb"content-length: (\d+)", head.lower())[0]))
            writer.write(answers[len(heads) - 1])
            while len(heads) == len(answers):
                await writer.drain()
                await asyncio.sleep(0.02)
                writer.write(b": still here\n\n")
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def play() -> list[object]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        service = Service(
            f"POST http://127.0.0.1:{port}/chat", parse_answer("sse:$.text"), '{"say": "{prompt}"}'
        )
        nothing = Place("w0", "http://127.0.0.1:9", lambda *_: None, lambda _: None, lambda _: False)
        driver, events = ServiceDriver(service, nothing, port), list[object]()
        await driver.start()
        await driver.play(spec(deadline=5.0), events.append)
        await driver.close()
        server.close()
        await asyncio.wait(serving, timeout=10)
        return events

    return asyncio.run(play()), heads


def test_a_stream_that_said_it_is_over_is_not_kept_open_by_comments() -> None:
    [ended], _ = asked(HEAD + DONE)
    assert isinstance(ended, Ended)
    assert (ended.shown, ended.look and ended.look[2]) == (["Cold."], ("end", "open"))


def test_users_are_sent_on_within_the_service_with_their_cookies() -> None:
    [ended], heads = asked(moved("/other"), HEAD + DONE)
    assert isinstance(ended, Ended)
    assert ended.shown == ["Cold."]
    assert heads[1].startswith(b"POST /other ")
    assert b"cookie: a=b\r\n" in heads[1].lower()


def test_nobody_else_is_asked_where_a_service_sends_its_users_away() -> None:
    [lost], heads = asked(moved("https://login.example.com/"), b"")
    assert isinstance(lost, Lost)
    assert (
        "sends its users on to https://login.example.com/, and nobody but the service is asked" in lost.reason
    )
    assert len(heads) == 1
