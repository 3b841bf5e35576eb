"""Streams as bytes, put together again."""

from __future__ import annotations

import json
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from harness.wire.eras import era_of
from harness.wire.events import Told, encode, events_of
from harness.wire.received import Heard, events, heard

MESSAGE = {
    "model": "claude-opus-4-6",
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Let me see: ö, 世界.", "signature": "c2ln"},
        {"type": "text", "text": "First, \n\ndata: of all."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": [1, {"b": "ü"}]}},
        {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 5, "output_tokens": 9},
}


def body() -> bytes:
    return b"".join(
        encode(event, Random(0)) for event in events_of(MESSAGE, Random(0), Told(era_of(MESSAGE)))
    )


def put_together(data: bytes) -> Heard:
    return heard(event.data for event in events(data))


def test_a_stream_adds_up_to_its_message() -> None:
    found = put_together(body())

    assert found.message is not None
    assert found.message["content"] == MESSAGE["content"]
    assert found.message["stop_reason"] == "tool_use"
    assert found.whole


def test_lines_may_end_in_either_way() -> None:
    assert put_together(body().replace(b"\n", b"\r\n")) == put_together(body())


def test_events_lie_side_by_side() -> None:
    data = body()
    found = list(events(data))

    assert found[0].start == 0
    assert found[-1].end == len(data)
    assert all(one.end == after.start for one, after in pairwise(found))
    assert [one.name for one in found][:2] == ["message_start", "content_block_start"]


def test_data_without_a_name_is_named_by_its_type() -> None:
    assert [one.name for one in events(b'data: {"type":"ping"}\n\ndata: [DONE]\n\n')] == ["ping", ""]


@pytest.mark.parametrize(
    ("until", "whole"),
    [(b"event: message_stop", True), (b"event: message_delta", False), (b"event: content_block_stop", False)],
)
def test_a_stream_that_is_cut_is_not_whole_before_its_stop_reason(until: bytes, *, whole: bool) -> None:
    found = put_together(body().partition(until)[0])

    assert found.message is not None
    assert found.whole is whole


def test_an_error_is_kept_beside_what_came() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    found = put_together(body().partition(b"event: message_delta")[0] + event(error))

    assert (found.error, found.whole, found.last) == (error, False, "content_block_stop")


def test_what_is_not_known_is_carried_along() -> None:
    said = [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "new", "words": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "new_delta", "words": "a", "marks": [1], "sure": True},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "new_delta", "words": "b", "marks": [2]},
        },
        {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "nowhere"}},
        {"type": "new_event", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 1},
            "extra": 1,
        },
        {"type": "message_stop"},
    ]
    found = put_together(b"".join(map(event, said)))

    assert found.message == {
        "id": "m",
        "content": [{"type": "new", "words": "ab", "marks": [1, 2], "sure": True}],
        "stop_reason": "end_turn",
        "usage": {"output_tokens": 1},
        "extra": 1,
    }


def test_a_call_that_is_cut_has_no_input_the_model_could_have_meant() -> None:
    cut = body().replace(b'\\"b\\"', b"")
    found = put_together(cut)

    assert found.message is not None
    assert "INVALID_JSON" in found.message["content"][2]["input"]


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b": comment\n\n", b"data: nonsense\n\n", b'data: {"type":1}\n\n']
)
def test_what_is_no_stream_is_nothing(data: bytes) -> None:
    found = put_together(data)

    assert (found.message, found.whole) == (None, False)


def event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
