"""A scenario writes the events of a stream itself, or some of them."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.provider.retold import retold
from harness.wire.events import Event, encode, events_of
from harness.wire.message import message

USAGE = {"input_tokens": 1, "output_tokens": 9}
BLOCKS = [{"type": "text", "text": "One two three four."}, {"type": "text", "text": "Five."}]
MADE = list(
    events_of(message(id="m", model="m", content=BLOCKS, stop_reason="end_turn", usage=USAGE), Random(0))
)


def told(*written: dict[str, Any] | str) -> list[Event]:
    return list(retold(written, MADE))


def test_stubs_stand_for_what_would_have_been_sent() -> None:
    kinds = ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"]
    assert [event.name for event in told({"type": "message_start"})] == ["message_start"]
    assert told({"type": "message_start"}) == MADE[:1]
    assert told(*({"type": kind} for kind in kinds)) == [
        event for kind in kinds for event in MADE if event.name == kind
    ]


def test_an_index_picks_one_block() -> None:
    first = told({"type": "content_block_delta", "index": 0})
    assert "".join(event.data["delta"]["text"] for event in first) == "One two three four."
    assert told({"type": "content_block_stop", "index": 1})[0].data["index"] == 1


def test_whole_events_are_sent_as_written() -> None:
    novel = {"type": "novel", "rays": [1]}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}
    assert told(novel, delta) == [Event("novel", novel), Event("content_block_delta", delta)]


def test_a_stub_of_nothing_that_was_made_is_sent_as_written() -> None:
    assert told({"type": "content_block_start", "index": 7}) == [
        Event("content_block_start", {"type": "content_block_start", "index": 7})
    ]


def test_text_is_sent_to_the_letter() -> None:
    (event,) = told("data: {broken\n\n")
    assert encode(event, Random(0)) == b"data: {broken\n\n"
