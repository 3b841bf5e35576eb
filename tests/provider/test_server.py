"""The provider on a real socket, spoken to byte by byte."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import time
import zlib
from typing import Any

import pytest

from harness.history import Answered, Broken, Delivered, RequestSeen
from harness.provider.server import Provider
from harness.wire.codec import dumps
from tests.provider.serve import Served, body, fault, reply, text
from tests.provider.wire import KEY, Wire


def play(served: Served, *steps: Any) -> None:
    served.open(list(steps))


def content(data: bytes) -> Any:
    return json.loads(data)["content"]


def test_a_connection_is_kept_for_many_requests(served: Served) -> None:
    play(served, reply("A"), reply("B"))
    with Wire(served) as wire:
        for words in "AB":
            wire.send(wire.ask(body()))
            assert content(wire.read()[2]) == [text(words)]


def test_pipelined_requests_are_answered_in_order(served: Served) -> None:
    play(served, reply("A", delay=0.05), reply("B"), reply("C"))
    with Wire(served) as wire:
        wire.send(wire.ask(body()) * 3)
        assert [content(wire.read()[2]) for _ in range(3)] == [[text(words)] for words in "ABC"]


def test_a_request_may_arrive_byte_by_byte(served: Served) -> None:
    play(served, reply("A"))
    with Wire(served) as wire:
        for byte in wire.ask(body()):
            wire.send(bytes([byte]))
        assert wire.read()[0] == 200


def test_chunked_and_compressed_bodies_are_read(served: Served) -> None:
    play(served, reply("A", repeat=3))
    payload = dumps(body())
    chunked = b"5\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (payload[:5], len(payload) - 5, payload[5:])
    with Wire(served) as wire:
        wire.send(wire.ask(b"", transfer_encoding="chunked") + chunked)
        wire.send(wire.ask(gzip.compress(payload), content_encoding="gzip"))
        wire.send(wire.ask(zlib.compress(payload), content_encoding="deflate"))
        assert [wire.read()[0] for _ in range(3)] == [200, 200, 200]
    assert [event.body for event in served.of(RequestSeen)] == [body()] * 3


@pytest.mark.parametrize(
    ("payload", "encoding", "status"),
    [
        (b"not gzip", "gzip", 400),
        (gzip.compress(dumps(body()))[:-9], "gzip", 400),
        (b"x", "br", 400),
        (gzip.compress(b" " * (32 * 1024 * 1024 + 1)), "gzip", 413),
    ],
)
def test_bodies_that_cannot_be_decoded_are_refused(
    served: Served, payload: bytes, encoding: str, status: int
) -> None:
    with Wire(served) as wire:
        wire.send(wire.ask(payload, content_encoding=encoding))
        answer = wire.read()
        assert answer[0] == status
        assert wire.ended()
    assert json.loads(answer[2])["error"]["message"]


def test_a_body_over_the_limit_is_refused_before_it_is_read(served: Served) -> None:
    with Wire(served) as wire:
        wire.send(wire.ask(b"", content_length=str(32 * 1024 * 1024 + 1)))
        status, _, data = wire.read()
        assert status == 413
        assert json.loads(data) == {
            "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}
        }
        assert wire.ended()


def test_a_client_that_waits_to_be_told_is_told(served: Served) -> None:
    play(served, reply("A"))
    payload = dumps(body())
    with Wire(served) as wire:
        wire.send(wire.ask(b"", expect="100-continue", content_length=str(len(payload))))
        assert wire.head() == (100, {})
        wire.send(payload)
        assert wire.read()[0] == 200


@pytest.mark.parametrize(
    "data", [b"HELLO\r\n\r\n", b"POST / HTTP/1.1\r\nbad header\r\n\r\n", b"\x16\x03\x01\x02\x00\x01"]
)
def test_malformed_http_is_refused_and_the_connection_ended(served: Served, data: bytes) -> None:
    with Wire(served) as wire:
        wire.send(data)
        status, headers, answer = wire.read()
        assert (status, headers["connection"]) == (400, "close")
        assert "malformed HTTP" in json.loads(answer)["error"]["message"]
        assert wire.ended()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "10.0.0.1", "127.0.0.1.evil.example", ""]
)
def test_only_names_of_the_loopback_are_answered(served: Served, host: str) -> None:
    play(served, reply("A"))
    with Wire(served) as wire:
        wire.send(wire.ask(body(), host=host))
        assert wire.read()[0] == (403 if host else 400)
    assert not served.events


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "127.0.0.1", "127.1.2.3:9", "[::1]:80", "api.localhost"]
)
def test_every_name_of_the_loopback_is_answered(served: Served, host: str) -> None:
    play(served, reply("A"))
    with Wire(served) as wire:
        wire.send(wire.ask(body(), host=host))
        assert wire.read()[0] == 200


@pytest.mark.parametrize(
    ("method", "path"), [("HEAD", "/"), ("OPTIONS", "/v1/messages"), ("GET", "/v2"), ("HEAD", "/v1/messages")]
)
def test_what_does_not_exist_gets_the_apis_404(served: Served, method: str, path: str) -> None:
    play(served, reply("A"))
    with Wire(served) as wire:
        wire.send(wire.ask(method=method, path=path) + wire.ask(body()))
        status, headers, data = wire.read(bodiless=method == "HEAD")
        assert status == 404
        assert int(headers["content-length"]) > 0
        if method != "HEAD":
            assert json.loads(data)["error"] == {"type": "not_found_error", "message": "Not Found"}
        assert wire.read()[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v1/messages",
        "/v1/messages?beta=true",
        "/w0/v1/messages",
        "/w0/v1/v1/messages",
        f"/s/{KEY}/v1/messages",
    ],
)
def test_every_base_url_reaches_the_session(served: Served, path: str) -> None:
    play(served, reply("A"))
    with Wire(served) as wire:
        wire.send(wire.ask(body(), path=path))
        assert wire.read()[0] == 200
    assert served.of(RequestSeen)[0].path == "/v1/messages"


@pytest.mark.parametrize("path", ["/w0/v1/messages", f"/s/{KEY}/v1/messages"])
def test_a_path_finds_the_session_of_a_loop_with_a_key_of_its_own(served: Served, path: str) -> None:
    play(served, reply("A"))
    with Wire(served) as wire:
        wire.send(wire.ask(body(), path=path, x_api_key="its own"))
        assert wire.read()[0] == 200


def test_the_key_wins_over_the_worker(served: Served) -> None:
    served.open([reply("A")], key="first")
    served.open([reply("B")], key="second")
    with Wire(served) as wire:
        for key, words in (("first", "A"), ("second", "B")):
            wire.send(wire.ask(body(), path="/w0/v1/messages", x_api_key="", authorization=f"Bearer {key}"))
            assert content(wire.read()[2]) == [text(words)]


def test_without_a_session_the_key_is_wrong(served: Served) -> None:
    play(served, reply("A"))
    with Wire(served) as wire:
        wire.send(wire.ask(body(), x_api_key="unknown"))
        status, headers, data = wire.read()
        assert (status, headers["x-should-retry"]) == (401, "false")
        assert json.loads(data)["error"] == {"type": "authentication_error", "message": "invalid x-api-key"}
        wire.send(wire.ask(body(), x_api_key=""))
        assert json.loads(wire.read()[2])["error"]["message"] == "x-api-key header is required"
        served.loop.call_soon_threadsafe(served.provider.shut, KEY)
        served.settle()
        wire.send(wire.ask(body(), path="/w0/v1/messages"))
        assert wire.read()[0] == 401


def test_replies_have_the_recorded_headers(served: Served) -> None:
    play(served, reply("A"), reply("B"))
    with Wire(served) as wire:
        wire.send(wire.ask(body()))
        _, headers, _ = wire.read()
        wire.send(wire.ask(body(stream=True)))
        _, streamed, _ = wire.read()
    assert headers["content-type"] == "application/json"
    assert streamed["content-type"] == "text/event-stream; charset=utf-8"
    assert streamed["cache-control"] == "no-cache"
    for name in (
        "request-id",
        "anthropic-organization-id",
        "date",
        "server",
        "anthropic-ratelimit-tokens-reset",
    ):
        assert headers[name]
        assert streamed[name]
    assert headers["request-id"] != streamed["request-id"]


def test_errors_have_no_rate_limits(served: Served) -> None:
    play(served, fault(400))
    with Wire(served) as wire:
        wire.send(wire.ask(body()))
        _, headers, data = wire.read()
    assert headers["x-should-retry"] == "false"
    assert not [name for name in headers if "ratelimit" in name]
    assert json.loads(data)["request_id"] == headers["request-id"]


def test_a_stream_has_the_recorded_framing(served: Served) -> None:
    play(served, reply("Hello there"))
    with Wire(served) as wire:
        wire.send(wire.ask(body(stream=True)))
        _, _, data = wire.read()
    events = data.decode().split("\n\n")
    assert events.pop() == ""
    for event in events:
        found = re.fullmatch(r"event: (\w+)\ndata: (\{.*\})", event)
        assert found
        assert json.loads(found[2])["type"] == found[1]
    assert events[2] == 'event: ping\ndata: {"type": "ping"}'
    assert b"\r" not in data


def test_pings_keep_a_slow_stream_alive(served: Served) -> None:
    play(served, reply("Hi", gap=0.05, pings=0.01))
    with Wire(served) as wire:
        wire.send(wire.ask(body(stream=True)))
        _, _, data = wire.read()
    assert data.count(b"event: ping") > 5


def test_a_client_that_leaves_within_a_stream_is_recorded(served: Served) -> None:
    play(served, reply("Hello there", gap=0.2), reply("B"))
    with Wire(served) as wire:
        wire.send(wire.ask(body(stream=True)))
        wire.head()
    served.settle()
    assert [(event.by, event.events) for event in served.of(Broken)] == [("client", 1)]
    assert not served.of(Delivered)


def test_an_old_client_gets_a_body_that_ends_with_the_connection(served: Served) -> None:
    play(served, reply("A"))
    with Wire(served) as wire:
        asked = wire.ask(body(stream=True)).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
        wire.send(asked)
        status, headers = wire.head()
        assert (status, headers["connection"]) == (200, "close")
        assert "transfer-encoding" not in headers
        assert wire._file.read().endswith(b"}\n\n")


def test_a_client_that_wants_the_connection_closed_gets_it_closed(served: Served) -> None:
    play(served, reply("A"))
    with Wire(served) as wire:
        wire.send(wire.ask(body(), connection="close"))
        assert wire.read()[1]["connection"] == "close"
        assert wire.ended()


def test_an_offer_to_speak_http2_is_passed_over(served: Served) -> None:
    play(served, reply("A"), reply("B"))
    with Wire(served) as wire:
        wire.send(
            wire.ask(
                body(), connection="Upgrade, HTTP2-Settings", upgrade="h2c", http2_settings="AAMAAABkAAQ"
            )
        )
        assert wire.read()[0] == 200
        wire.send(wire.ask(body()))
        assert wire.read()[0] == 200


def test_mounted_routes_answer_for_themselves(served: Served) -> None:
    async def echo(
        method: str, path: str, headers: dict[str, str], data: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        return 201, {"content-type": "text/plain"}, f"{method} {path} {headers['x-mine']} ".encode() + data

    served.provider.mount("/hooks", echo)
    with Wire(served) as wire:
        wire.send(wire.ask(b"data", path="/hooks/store/a?b=c", method="PUT", x_mine="1"))
        status, headers, data = wire.read()
        assert (status, headers["content-type"], data) == (201, "text/plain", b"PUT /store/a?b=c 1 data")
        served.provider.unmount("/hooks")
        wire.send(wire.ask(b"", path="/hooks/store/a"))
        assert wire.read()[0] == 404
    assert not served.events


def test_a_mounted_route_that_fails_says_so(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    async def fails(*_: object) -> tuple[int, dict[str, str], bytes]:
        raise LookupError("no such hook")

    served.provider.mount("/hooks", fails)
    served.loop.call_soon_threadsafe(served.loop.set_exception_handler, lambda *_: None)
    with Wire(served) as wire:
        wire.send(wire.ask(b"", path="/hooks"))
        status, _, data = wire.read()
        assert status == 500
        assert "LookupError: no such hook" in json.loads(data)["error"]["message"]


def test_lateness_is_measured_for_provider_and_session(served: Served) -> None:

    session = served.open([reply("A")])
    before = session.lateness
    served.loop.call_soon_threadsafe(time.sleep, 0.2)
    served.settle(0.3)
    assert before < 0.1
    assert 0.1 < session.lateness < 5
    assert served.provider.lateness >= session.lateness


def test_only_the_loopback_is_listened_on() -> None:
    with pytest.raises(ValueError, match="loopback only, not on"):
        asyncio.run(Provider().start("0.0.0.0"))


def test_points_are_reached_before_what_they_name(served: Served) -> None:
    seen: list[tuple[str, int]] = []

    async def at_point(point: str) -> None:
        seen.append((point, len(served.of(Answered))))

    served.open([reply("A")], at_point=at_point)
    with Wire(served) as wire:
        wire.send(wire.ask(body()))
        wire.read()
    assert seen == [("request 1", 0)]
