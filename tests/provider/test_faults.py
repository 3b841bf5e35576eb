"""Scripted faults on the wire: to the byte, and to the moment."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from harness.history import Answered, Broken, Delivered
from harness.scenario.model import Break, Reply
from tests.provider.breaking import LONG, ask, broken, cut, events, told
from tests.provider.serve import Served, body, call, fault, reply
from tests.provider.wire import CutError, Wire


def test_an_error_event_comes_after_the_event_it_was_written_for(served: Served) -> None:
    status, headers, data = ask(served, broken("event 3", "error"))
    assert status == 200
    assert len(events(data)) == 4
    assert events(data)[-1] == "error"
    error = json.loads(data.decode().rstrip().rpartition("data: ")[2])
    assert list(error) == ["type", "error", "request_id"]
    assert error["error"] == {"details": None, "type": "overloaded_error", "message": "Overloaded"}
    assert error["request_id"] == headers["request-id"]
    assert told(served) == (4, "provider", "error")
    assert not served.of(Delivered)


def test_an_error_event_says_what_is_written(served: Served) -> None:
    _, _, data = ask(served, broken("message_start", "error", error={"type": "api_error"}))
    error = json.loads(data.decode().rstrip().rpartition("data: ")[2])["error"]
    assert error == {"details": None, "type": "api_error", "message": "Internal server error"}


def test_to_a_client_that_does_not_stream_the_error_is_an_http_error(served: Served) -> None:
    status, _, data = ask(served, broken("event 3", "error"), reply("B"), stream=False)
    assert status == 529
    assert json.loads(data)["error"]["type"] == "overloaded_error"
    assert [event.step for event in served.of(Answered)] == [0]


@pytest.mark.parametrize(
    "name", ["message_start", "content_block_delta 2", "content_block_stop", "message_delta"]
)
def test_a_stream_ends_cleanly_without_its_end(served: Served, name: str) -> None:
    _, _, data = ask(served, broken(name, "end"))
    assert events(data)[-1] == name.partition(" ")[0]
    assert "message_stop" not in events(data)
    assert told(served) == (len(events(data)), "provider", "end")


@pytest.mark.parametrize(("by", "reset"), [("close", False), ("reset", True)])
def test_a_stream_is_cut_inside_an_event(served: Served, by: str, reset: bool) -> None:
    found = cut(served, broken("inside content_block_delta 2", by))
    assert found.reset == reset
    assert events(found.data).count("content_block_delta") >= 1
    assert not found.data.endswith(b"\n\n")
    count, _, how = told(served)
    assert how == by
    assert found.data.count(b"\n\n") == count


def test_a_stream_is_cut_inside_a_character(served: Served) -> None:
    found = cut(served, broken("inside character", "close", "The café is open."))
    with pytest.raises(UnicodeDecodeError):
        found.data.decode()
    assert found.data[-1] == 0xC3


def test_a_stream_is_cut_inside_the_json_of_a_call(served: Served) -> None:
    given = call(path="/tmp/a", text="some longer text to be written")
    _, _, data = ask(served, broken("inside tool json", "end", "Writing.", given))
    parts = [json.loads(line[6:]) for line in data.decode().split("\n") if line.startswith("data: ")]
    written = "".join(part.get("delta", {}).get("partial_json", "") for part in parts)
    assert written.startswith('{"')
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(written)


def test_a_whole_body_is_cut_inside_the_json_of_a_call(served: Served) -> None:
    given = call(path="/tmp/a", text="some longer text")
    found = cut(served, broken("inside tool json", "close", given), stream=False)
    assert b'"input":{"path"' in found.data
    assert b"longer text" not in found.data


@pytest.mark.parametrize("stream", [True, False])
def test_so_many_bytes_are_sent_and_no_more(served: Served, stream: bool) -> None:
    found = cut(served, broken("byte 120", "close"), stream=stream)
    assert len(found.data) == 120
    assert served.of(Broken)[0].bytes == 120


def test_a_whole_body_that_ends_early_says_that_this_is_its_length(served: Served) -> None:
    status, headers, data = ask(served, broken("byte 50", "end"), stream=False)
    assert (status, headers["content-length"], len(data)) == (200, "50", 50)
    with pytest.raises(ValueError):
        json.loads(data)


@pytest.mark.parametrize("stream", [True, False])
def test_the_headers_come_and_then_nothing(served: Served, stream: bool) -> None:
    served.open([broken("head", "silence")])
    with Wire(served, timeout=0.3) as wire:
        wire.send(wire.ask(body(stream=stream)))
        assert wire.head()[0] == 200
        with pytest.raises(TimeoutError):
            wire._file.read(1)
    assert told(served) == (0, "provider", "silence")


def test_a_silent_stream_may_go_on_with_pings(served: Served) -> None:
    served.open([broken("message_start", "silence", pings=0.02)])
    with Wire(served) as wire:
        wire.send(wire.ask(body(stream=True)))
        wire.head()
        seen = b""
        while seen.count(b"event: ping") < 4:
            seen += wire._file.readline()
    assert told(served) == (1, "provider", "silence")


def test_a_stall_is_a_wait_after_which_the_stream_goes_on(served: Served) -> None:
    began = time.monotonic()
    _, _, data = ask(served, broken("content_block_delta 1", "stall", seconds=0.3, pings=0.05))
    assert time.monotonic() - began > 0.25
    assert events(data).count("ping") >= 4
    assert events(data)[-1] == "message_stop"
    served.settle()
    assert len(served.of(Delivered)) == 1


def test_a_stalled_body_comes_whole(served: Served) -> None:
    began = time.monotonic()
    status, _, data = ask(served, broken("byte 20", "stall", seconds=0.2), stream=False)
    assert (status, json.loads(data)["content"][0]["text"]) == (200, LONG)
    assert time.monotonic() - began > 0.15


def test_an_unknown_event_stands_where_it_was_written(served: Served) -> None:
    odd = {"type": "hologram", "rays": [1, 2]}
    _, _, data = ask(served, broken("event 2", "event", event=odd))
    assert events(data)[2] == "hologram"
    assert b'data: {"type":"hologram","rays":[1,2]' in data
    served.settle()
    assert served.of(Delivered)[0].events == len(events(data))


def test_malformed_json_stands_where_it_was_written(served: Served) -> None:
    _, _, data = ask(served, broken("event 2", "garbage"))
    third = data.decode().split("\n\n")[2]
    with pytest.raises(ValueError):
        json.loads(third.partition("data: ")[2])
    assert events(data)[-1] == "message_stop"
    # Everything was sent, and yet nobody got a message.
    assert told(served)[1:] == ("provider", "garbage")
    assert not served.of(Delivered)


def test_garbage_is_sent_to_the_letter(served: Served) -> None:
    _, _, data = ask(served, broken("message_start", "garbage", text=": a comment\n\nno field\n\n"))
    assert b"\n\n: a comment\n\nno field\n\nevent: content_block_start" in data


def test_a_place_that_does_not_exist_is_the_end(served: Served) -> None:
    found = cut(served, broken("event 999", "close"))
    assert events(found.data)[-1] == "message_stop"
    assert found.data.endswith(b"}\n\n")


def test_several_breaks_happen_in_order(served: Served) -> None:
    steps = [
        Break(at="event 1", by="event", event={"type": "hologram"}),
        Break(at="event 1", by="stall", seconds=0.05),
        Break(at="event 3", by="end"),
    ]
    _, _, data = ask(served, reply(LONG, breaks=steps))
    assert events(data)[:2] == ["message_start", "hologram"]
    assert len(events(data)) == 4


def test_what_broke_off_is_used_up(served: Served) -> None:
    served.open([fault(429), broken("event 2", "end"), reply("Whole.")])
    with Wire(served) as wire:
        seen = []
        for _ in range(3):
            wire.send(wire.ask(body(stream=True)))
            seen.append(wire.read())
    assert [status for status, _, _ in seen] == [429, 200, 200]
    assert b"Whole." in seen[2][2] or b"message_stop" in seen[2][2]
    assert [event.step for event in served.of(Answered)] == [0, 1, 2]


def test_a_client_that_leaves_before_the_break_gets_the_step_again(served: Served) -> None:
    served.open([reply(LONG, gap=0.2, breaks=[Break(at="end", by="close")])])
    with Wire(served) as wire:
        wire.send(wire.ask(body(stream=True)))
        wire.head()
    served.settle()
    assert [(event.by, event.events) for event in served.of(Broken)] == [("client", 1)]
    with Wire(served) as wire:
        wire.send(wire.ask(body(stream=True)))
        assert wire.head()[0] == 200
    assert [event.step for event in served.of(Answered)] == [0, 0]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529])
def test_an_error_has_the_body_and_headers_of_the_api(served: Served, status: int) -> None:
    given, headers, data = ask(served, fault(status))
    assert given == status
    said = json.loads(data)
    assert list(said) == ["type", "error", "request_id"]
    assert said["request_id"] == headers["request-id"]
    assert list(said["error"]) == (["details"] if status >= 500 else []) + ["type", "message"]
    final = status in (400, 401, 402, 403, 404, 422)
    assert headers.get("x-should-retry") == ("false" if final else None)
    limits = [name for name in headers if name.startswith("anthropic-ratelimit")]
    assert bool(limits) == (status == 429)
    assert headers.get("retry-after") == ("1" if status == 429 else None)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"headers": {"retry-after": "7"}}, {"retry-after": "7"}),
        ({"headers": {"Retry-After-Ms": "20"}}, {"retry-after-ms": "20"}),
        ({"headers": {"retry-after": ""}}, {}),
        ({"headers": {"x-should-retry": "true"}}, {"retry-after": "1", "x-should-retry": "true"}),
        ({"details": {"error_code": "enforced_spend_limit_reached"}}, {}),
    ],
)
def test_a_429_says_when_to_come_back(
    served: Served, fields: dict[str, Any], expected: dict[str, str]
) -> None:
    _, headers, _ = ask(served, fault(429, **fields))
    names = ("retry-after", "retry-after-ms", "x-should-retry")
    assert {name: headers[name] for name in names if name in headers} == expected


@pytest.mark.parametrize("how", ["close", "reset", "silence", "end", "error"])
def test_another_session_notices_nothing(served: Served, how: str) -> None:
    served.open([broken("event 2", how)], key="first")
    served.open([reply("B", repeat=3)], key="second")
    with Wire(served) as one, Wire(served) as other:
        one.send(one.ask(body(stream=True), x_api_key="first"))
        for _ in range(3):
            other.send(other.ask(body(), x_api_key="second"))
            assert json.loads(other.read()[2])["content"][0]["text"] == "B"


def test_a_lane_can_break_as_well(served: Served) -> None:
    from harness.scenario.model import Lane
    from tests.provider.serve import scenario

    lane = Lane(name="title", when={"model": "claude-haiku-4-5"}, script=[broken("byte 5", "close")])
    served.open(scenario([reply("A")], lanes=[lane]))
    with Wire(served) as wire:
        wire.send(wire.ask(body(model="claude-haiku-4-5")))
        with pytest.raises(CutError) as caught:
            wire.read()
    assert len(caught.value.data) == 5


def test_the_default_reply_never_breaks() -> None:
    assert not Reply().breaks_off
    assert Reply(breaks=[Break(at="event 1", by="end")]).breaks_off
    assert not Reply(breaks=[Break(at="done", by="close")]).breaks_off
    assert not Reply(breaks=[Break(at="event 1", by="stall", seconds=1)]).breaks_off
