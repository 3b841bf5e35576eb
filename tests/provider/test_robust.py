"""Nothing a client does brings the server down: no internal error, no hang, nothing of another session."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.history import Broken, Noted, RequestSeen
from harness.wire.codec import dumps
from tests.provider.serve import Served, body, reply
from tests.provider.wire import KEY, CutError, Wire

CROWD = 1000


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """One provider for all that is thrown at it: it has to survive."""
    served = Served()
    served.open([reply("Fine.", repeat="forever")])
    served.loop.call_soon_threadsafe(served.loop.set_exception_handler, unhandled(served))
    yield served
    assert not served.failures
    served.close()


def unhandled(served: Any) -> Any:
    served.failures = []
    return lambda _, context: served.failures.append(context)


def works(served: Served) -> None:
    """A request made now is answered."""
    with Wire(served) as wire:
        wire.send(wire.ask(body()))
        assert json.loads(wire.read()[2])["content"][0]["text"] == "Fine."


def throw(served: Served, data: bytes) -> bytes:
    """Send `data` and nothing more; everything that comes back until the connection is closed."""
    port = int(served.provider.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        back = b""
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            while piece := sock.recv(65536):
                back += piece
        return back


def well_formed(back: bytes) -> bool:
    return not back or back.startswith(b"HTTP/1.1 ")


REQUEST = (
    b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: " + KEY.encode() + b"\r\n"
    b"anthropic-version: 2023-06-01\r\ncontent-length: 2\r\n\r\n{}"
)
mangled = st.builds(
    lambda at, cut, put, times: (REQUEST[:at] + put + REQUEST[at + cut :]) * times,
    st.integers(0, len(REQUEST)),
    st.integers(0, 30),
    st.binary(max_size=30)
    | st.sampled_from([b"\r\n", b"\r\n\r\n", b"Transfer-Encoding: chunked\r\n", b"%00"]),
    st.integers(1, 4),
)
heads = st.builds(
    lambda method, path, headers, rest: (
        method.encode() + b" " + path + b" HTTP/1.1\r\n" + b"".join(headers) + b"\r\n" + rest
    ),
    st.sampled_from(["GET", "POST", "CONNECT", "OPTIONS", "HEAD", "PRI", "DELETE", "BREW"]),
    st.binary(max_size=20) | st.sampled_from([b"/v1/messages", b"*", b"/w0/v1/files", b"http://localhost/"]),
    st.lists(
        st.sampled_from(
            [
                b"host: localhost\r\n",
                b"content-length: 5\r\n",
                b"content-length: -1\r\n",
                b"content-length: 99999999999999999999\r\n",
                b"transfer-encoding: chunked\r\n",
                b"connection: upgrade\r\nupgrade: websocket\r\n",
                b"connection: close\r\n",
                b"expect: 100-continue\r\n",
                b"content-encoding: gzip\r\n",
                b"content-type: multipart/form-data; boundary=x\r\n",
                b"x-api-key: " + KEY.encode() + b"\r\n",
                b"anthropic-version: 2023-06-01\r\n",
                b"a" * 200 + b": b\r\n",
                b": \r\n",
                b"\x00\xff: \xc3\r\n",
            ]
        ),
        max_size=8,
    ),
    st.binary(max_size=60) | st.sampled_from([b"5\r\nhello\r\n0\r\n\r\n", b"zz\r\n", b"{}"]),
)
anything = st.binary(max_size=300) | mangled | heads


def check_survives(served: Served, data: bytes) -> None:
    assert well_formed(throw(served, data))
    works(served)
    assert not [note for note in served.of(Noted) if note.kind == "error"]
    assert not served.failures
    served.events.clear()


RELAXED = settings(deadline=None, suppress_health_check=list(HealthCheck))


@given(data=anything)
@settings(RELAXED, max_examples=400)
def test_any_bytes_get_an_answer_or_a_closed_connection_and_the_next_request_works(
    shared: Served, data: bytes
) -> None:
    check_survives(shared, data)


@pytest.mark.slow
@pytest.mark.timeout(900)
@given(data=anything)
@settings(RELAXED, max_examples=20_000)
def test_very_many_bytes_get_an_answer_or_a_closed_connection(shared: Served, data: bytes) -> None:
    check_survives(shared, data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["messages", "role", "content", "type", "text", "tools", "name", "id", "model"])
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(
    asked=json_values,
    path=st.sampled_from(["messages", "messages/count_tokens", "messages/batches", "files"]),
)
@settings(RELAXED, max_examples=400)
def test_any_json_is_answered_and_never_with_an_internal_error(shared: Served, asked: Any, path: str) -> None:
    if isinstance(asked, dict):
        asked = body() | asked
    with Wire(shared) as wire:
        wire.send(wire.ask(dumps(asked), path=f"/v1/{path}"))
        status, _, data = wire.read()
    assert status < 500
    assert data
    assert not shared.failures
    shared.events.clear()


@pytest.mark.parametrize(
    "data",
    [
        b"CONNECT localhost:443 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET http://[bad HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET / HTTP/9.9\r\nhost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        b"GET / HTTP/1.1\r\nhost: localhost\r\n" + b"x-a: b\r\n" * 40_000 + b"\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ],
)
def test_what_no_client_should_send_is_refused(shared: Served, data: bytes) -> None:
    back = throw(shared, data)
    assert back.startswith(b"HTTP/1.1 4")
    assert not shared.failures
    works(shared)


def test_headers_without_end_are_not_collected(shared: Served) -> None:
    with Wire(shared) as wire:
        with contextlib.suppress(ConnectionError):
            for _ in range(300):
                wire.send(b"GET / HTTP/1.1\r\n" if _ == 0 else b"x-a: " + b"b" * 1000 + b"\r\n")
        status, _, data = wire.read()
        assert status == 431
        assert json.loads(data)["error"]["message"]


def test_a_body_of_32_mib_is_read_and_one_byte_more_is_not(shared: Served) -> None:
    limit = 32 * 1024 * 1024
    whole = dumps(body())
    padded = whole[:-1] + b" " * (limit - len(whole)) + b"}"
    for extra, status in ((b"", 200), (b" ", 413)):
        with Wire(shared, timeout=20) as wire:
            wire.send(wire.ask(padded + extra))
            assert wire.read()[0] == status


def test_a_chunked_body_over_the_limit_is_refused_while_it_comes(shared: Served) -> None:
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with Wire(shared, timeout=20) as wire:
        wire.send(wire.ask(b"", transfer_encoding="chunked"))
        with contextlib.suppress(ConnectionError):
            for _ in range(40):
                wire.send(piece)
        assert wire.read()[0] == 413


def test_a_compressed_bomb_is_refused(shared: Served) -> None:
    bomb = gzip.compress(b" " * (64 * 1024 * 1024))
    with Wire(shared, timeout=20) as wire:
        wire.send(wire.ask(bomb, content_encoding="gzip"))
        status, _, data = wire.read()
    assert status == 413
    said = json.loads(data)["error"]
    assert said["details"] == {"error_code": "request_body_too_large_after_decoding"}


def test_batches_and_files_may_be_larger(shared: Served) -> None:
    head = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
    upload = head + b"\0" * (40 * 1024 * 1024) + b"\r\n--x--\r\n"
    with Wire(shared, timeout=30) as wire:
        wire.send(wire.ask(upload, path="/v1/files", content_type="multipart/form-data; boundary=x"))
        status, _, data = wire.read()
    assert (status, json.loads(data)["size_bytes"]) == (200, 40 * 1024 * 1024)


def test_many_requests_may_be_sent_before_the_first_answer_is_read(shared: Served) -> None:
    with Wire(shared) as wire:
        wire.send(wire.ask(body()) * 300)
        assert [wire.read()[0] for _ in range(300)] == [200] * 300


def test_a_thousand_connections_are_served_at_once(served: Served) -> None:
    served.open([reply("Fine.", repeat="forever", delay=0.2)])
    port = int(served.provider.url.rpartition(":")[2])
    with Wire(served) as wire:
        asked = wire.ask(body())

    async def one(start: asyncio.Event) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await start.wait()
        writer.write(asked)
        line = await reader.readline()
        writer.close()
        return line

    async def crowd() -> list[bytes]:
        start = asyncio.Event()
        clients = [asyncio.create_task(one(start)) for _ in range(CROWD)]
        await asyncio.sleep(0.5)
        start.set()
        return await asyncio.gather(*clients)

    began = time.monotonic()
    answers = asyncio.run(crowd())
    assert answers == [b"HTTP/1.1 200 OK\r\n"] * CROWD
    assert time.monotonic() - began < 30
    assert len(served.of(RequestSeen)) == CROWD


def test_clients_that_vanish_are_noted_with_what_they_saw_last(served: Served) -> None:
    served.open([reply("Hello there, and more.", gap=0.1, repeat="forever")])
    wires = [Wire(served) for _ in range(5)]
    for wire in wires:
        wire.send(wire.ask(body(stream=True)))
    for wire in wires:
        wire.head()
        while wire._file.readline() != b"event: content_block_start\n":
            pass
        wire.__exit__()
    served.settle(0.3)
    left = served.of(Broken)
    assert [event.by for event in left] == ["client"] * 5
    assert all(2 <= event.events <= 4 for event in left)
    assert not [note for note in served.of(Noted) if note.kind == "error"]


def test_a_client_that_does_not_read_holds_up_nobody(served: Served) -> None:
    served.open([reply("word " * 400_000)], key="slow")
    served.open([reply("Fine.", repeat=5)])
    with Wire(served) as slow:
        slow.send(slow.ask(body(stream=True), x_api_key="slow"))
        began = time.monotonic()
        for _ in range(5):
            works(served)
        assert time.monotonic() - began < 8
    served.settle(0.2)
    assert [event.by for event in served.of(Broken)] == ["client"]


def test_sessions_do_not_mix_under_load(served: Served) -> None:
    keys = [f"key-{number}" for number in range(20)]
    for key in keys:
        served.open([reply(f"of {key}", repeat="forever")], key=key)
    port = int(served.provider.url.rpartition(":")[2])
    with Wire(served) as wire:
        asked = {key: wire.ask(body(stream=bool(len(key) % 2)), x_api_key=key) for key in keys}

    async def one(key: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(10):
            writer.write(asked[key])
            head = await reader.readuntil(b"\r\n\r\n")
            if b"chunked" in head:
                data = await reader.readuntil(b"\r\n0\r\n\r\n")
                said = b"".join(part.split(b'"')[0] for part in data.split(b'"text_delta","text":"')[1:])
            else:
                length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
                said = json.loads(await reader.readexactly(length))["content"][0]["text"].encode()
            assert said == f"of {key}".encode()
        writer.close()

    async def crowd() -> None:
        await asyncio.gather(*(one(key) for key in keys))

    asyncio.run(crowd())


def test_an_answer_in_the_midst_of_a_large_body_is_not_torn_away(served: Served) -> None:
    served.open([reply("A")])
    with Wire(served) as wire:
        wire.send(wire.ask(b"", content_length=str(33 * 1024 * 1024)))
        with contextlib.suppress(ConnectionError):
            for _ in range(20):
                wire.send(b"x" * 1024 * 1024)
        status, _, _ = wire.read()
        assert status == 413


def test_a_closed_provider_ends_what_is_under_way(served: Served) -> None:
    served.open([reply("A", delay=30)])
    with Wire(served) as wire:
        wire.send(wire.ask(body()))
        served.settle()
        served.call(served.provider.close())
        with pytest.raises(CutError):
            wire.read()
