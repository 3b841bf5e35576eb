"""Scripted faults of the connection: where there should be an answer, there is something else."""

from __future__ import annotations

import contextlib
import json
import time

import pytest

from harness.history import Answered, Delivered, Noted, RequestSeen
from harness.scenario.model import Break, Fault, Step
from tests.provider.breaking import LONG, ask, broken, cut, told
from tests.provider.serve import Served, body, fault, reply
from tests.provider.wire import Wire


@pytest.mark.parametrize("connection", ["close", "reset"])
def test_a_connection_ends_in_place_of_an_answer(served: Served, connection: str) -> None:
    found = cut(served, Step(fault=Fault(connection=connection)), reply("B"))
    assert found.data == b""
    assert found.reset == (connection == "reset")
    assert told(served) == (0, "provider", connection)
    assert [(event.kind, event.status, event.step) for event in served.of(Answered)] == [("fault", 0, 0)]


def test_a_connection_stays_silent_in_place_of_an_answer(served: Served) -> None:
    served.open([Step(fault=Fault(connection="silence")), reply("B")])
    with Wire(served, timeout=0.2) as wire:
        wire.send(wire.ask(body()))
        with pytest.raises(TimeoutError):
            wire.head()
    with Wire(served) as wire:
        wire.send(wire.ask(body()))
        assert wire.read()[0] == 200


@pytest.mark.parametrize("by", ["close", "reset"])
def test_a_kept_connection_is_closed_between_two_requests(served: Served, by: str) -> None:
    served.open([broken("done", by), reply("B")])
    with Wire(served) as wire:
        wire.send(wire.ask(body()))
        status, headers, data = wire.read()
        assert (status, json.loads(data)["content"][0]["text"]) == (200, LONG)
        assert "connection" not in headers
        try:
            assert wire.ended()
        except ConnectionResetError:
            assert by == "reset"
    served.settle()
    assert len(served.of(Delivered)) == 1


def test_a_length_may_be_wrong(served: Served) -> None:
    headers = {"content-length": "9999"}
    steps = reply("A", headers=headers, breaks=[Break(at="end", by="close")])
    found = cut(served, steps, stream=False)
    assert json.loads(found.data)["content"][0]["text"] == "A"


def test_html_comes_from_a_gateway(served: Served) -> None:
    page = "<html><head><title>502 Bad Gateway</title></head></html>"
    status, headers, data = ask(served, fault(502, body=page))
    assert (status, headers["content-type"], data.decode()) == (502, "text/html", page)
    assert "request-id" not in headers
    assert "anthropic-organization-id" not in headers


def test_a_413_is_answered_before_the_body_is_read(served: Served) -> None:
    served.open([fault(413, before_body=True), reply("B")])
    with Wire(served) as wire:
        wire.send(wire.ask(b"", content_length="10000000"))
        status, headers, data = wire.read()
        assert (status, headers["connection"]) == (413, "close")
        assert json.loads(data) == {
            "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}
        }
        # What is still under way does not tear the answer away.
        wire.send(b"x" * 1_000_000)
        assert wire.ended()
    [seen] = served.of(RequestSeen)
    assert (seen.body, seen.lane) == (None, "")
    with Wire(served) as wire:
        wire.send(wire.ask(body()))
        assert wire.read()[0] == 200


def connected(url: str) -> Wire:
    """A connection as soon as there can be one: a machine under load is late."""
    for _ in range(100):
        with contextlib.suppress(ConnectionRefusedError):
            return Wire(url)
        time.sleep(0.05)
    return Wire(url)


def test_connections_are_refused_for_a_while(served: Served) -> None:
    refusing = Step(fault=Fault(connection="refuse", seconds=0.6))
    session = served.session([reply("A"), refusing, reply("B")])
    url = served.call(served.provider.address(session))
    assert url != served.provider.url
    served.begin(session)
    with Wire(url) as wire:
        wire.send(wire.ask(body()))
        assert wire.read()[0] == 200
        assert wire.ended()
    with pytest.raises(ConnectionRefusedError):
        Wire(url)
    with Wire(served) as wire:
        wire.send(wire.ask(method="GET", path="/v1/models"))
        assert wire.read()[0] == 200
    with connected(url) as wire:
        wire.send(wire.ask(body()))
        assert b'"B"' in wire.read()[2]
    assert [note.kind for note in served.of(Noted)] == ["refusing"]
    assert [event.step for event in served.of(Answered) if event.kind == "reply"] == [0, 2]


def test_a_session_that_never_refuses_has_the_common_address(served: Served) -> None:
    session = served.session([reply("A")])
    assert served.call(served.provider.address(session)) == served.provider.url


def test_where_connections_cannot_be_refused_they_are_reset(served: Served) -> None:
    found = cut(served, Step(fault=Fault(connection="refuse")), reply("B"))
    assert found.reset
