"""Faults in ordinary tests: what `FakeProvider.reply` and `.fault` take."""

from __future__ import annotations

import time
from collections.abc import Iterator

import anthropic
import pytest

from harness.fake import FakeProvider
from harness.history import Broken
from tests.commanding import until

ASKED = {"model": "claude-opus-4-6", "max_tokens": 50, "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    made = FakeProvider.start()
    yield made
    made.close()


@pytest.fixture
def client(fake: FakeProvider) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=fake.url, api_key=fake.api_key, max_retries=0) as made:
        yield made


def test_faults_and_replies_are_played_in_order(fake: FakeProvider) -> None:
    busy = {"headers": {"retry-after-ms": "5"}}
    fake.fault(429, **busy).fault(429, **busy).reply("Hello")
    with anthropic.Anthropic(base_url=fake.url, api_key=fake.api_key) as client:
        assert client.messages.create(**ASKED).content[0].text == "Hello"
    assert len(fake.requests) == 3


def test_a_stream_breaks_where_it_was_told_to(fake: FakeProvider, client: anthropic.Anthropic) -> None:
    fake.reply("Hello there", breaks=[{"at": "message_start", "by": "error"}])
    with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
        list(client.messages.create(**ASKED, stream=True))
    # It is told once it is done, when the client may know already.
    until(lambda: any(isinstance(event, Broken) for event in fake.events))
    [event] = [event for event in fake.events if isinstance(event, Broken)]
    assert (event.by, event.how, event.events) == ("provider", "error", 2)


def test_a_connection_is_reset(fake: FakeProvider, client: anthropic.Anthropic) -> None:
    fake.fault(connection="reset").reply("Hello")
    with pytest.raises(anthropic.APIConnectionError):
        client.messages.create(**ASKED)
    assert client.messages.create(**ASKED).content[0].text == "Hello"


def test_connections_are_refused(fake: FakeProvider, client: anthropic.Anthropic) -> None:
    fake.reply("First").fault(connection="refuse", seconds=0.4).reply("Third")
    assert client.messages.create(**ASKED).content[0].text == "First"
    began = time.monotonic()
    with pytest.raises(anthropic.APIConnectionError):
        client.messages.create(**ASKED)
    assert len(fake.requests) == 1
    time.sleep(max(0.0, began + 0.5 - time.monotonic()))
    assert client.messages.create(**ASKED).content[0].text == "Third"


def test_what_makes_no_sense_is_said(fake: FakeProvider) -> None:
    with pytest.raises(ValueError, match="a status or a connection"):
        fake.fault()
    with pytest.raises(ValueError, match="a status or a connection"):
        fake.fault(529, connection="reset")
    with pytest.raises(ValueError, match="'evnt 3' is no place in a reply"):
        fake.reply("A", breaks=[{"at": "evnt 3", "by": "end"}])
    with pytest.raises(ValueError, match="Invalid enum value 'explode'"):
        fake.reply("A", breaks=[{"at": "event 3", "by": "explode"}])
