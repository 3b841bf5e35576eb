from __future__ import annotations

import json

import pytest

from harness.loops.reference.receive import Accumulator, BrokenStreamError, SseDecoder
from tests.loops.canned import call, events, found, reply, search, sse, text

MESSAGE = reply(
    "tool_use",
    {"type": "redacted_thinking", "data": "opaque"},
    text("héé🙂\u2028 two"),
    search(),
    found(),
    call("add", {"a": [1, {}], "big": 12345678901234567890}),
    call("none"),
    {"type": "hologram", "beam": {"x": None}},
)


def accumulated(message: dict[str, object]) -> Accumulator:
    accumulator = Accumulator()
    for event in events(message):
        accumulator.add(event)
    return accumulator


def test_a_stream_adds_up_to_the_message_it_was_made_of():
    accumulator = accumulated(MESSAGE)
    assert accumulator.complete
    assert accumulator.message == MESSAGE


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_events_are_found_however_the_bytes_are_cut(size, ending):
    raw = sse(MESSAGE).replace(b"\n", ending)
    decoder = SseDecoder()
    found_events = [event for at in range(0, len(raw), size) for event in decoder.feed(raw[at : at + size])]
    assert found_events == list(events(MESSAGE))


def test_an_event_cut_short_is_none():
    assert SseDecoder().feed(b'event: ping\ndata: {"type": "ping"}\n') == []


def test_data_over_several_lines_is_joined_and_comments_are_skipped():
    assert SseDecoder().feed(b': hi\nid: 4\ndata: {"type":\ndata:"ping"}\n\n\n') == [{"type": "ping"}]


def start(block: dict[str, object]) -> Accumulator:
    accumulator = Accumulator()
    accumulator.add({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}})
    accumulator.add({"type": "content_block_start", "index": 0, "content_block": block})
    return accumulator


def delta(accumulator: Accumulator, kind: str, **fields: object) -> None:
    accumulator.add({"type": "content_block_delta", "index": 0, "delta": {"type": kind, **fields}})


def test_thinking_and_its_signature_grow_and_the_token_estimate_is_not_part_of_the_block():
    accumulator = start({"type": "thinking", "thinking": "", "signature": ""})
    delta(accumulator, "thinking_delta", thinking="Hm", estimated_tokens=3)
    delta(accumulator, "thinking_delta", thinking=".", estimated_tokens=4)
    delta(accumulator, "signature_delta", signature="c2ln")
    assert accumulator.message["content"] == [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}]


def test_citations_are_collected():
    accumulator = start({"citations": [], "type": "text", "text": ""})
    delta(accumulator, "citations_delta", citation={"url": "a"})
    delta(accumulator, "citations_delta", citation={"url": "b"})
    delta(accumulator, "text_delta", text="x")
    assert accumulator.message["content"] == [
        {"citations": [{"url": "a"}, {"url": "b"}], "type": "text", "text": "x"}
    ]


def test_a_delta_from_the_future_is_kept():
    accumulator = start({"type": "compaction", "content": None})
    delta(accumulator, "compaction_delta", content="summary", encrypted_content="xyz")
    assert accumulator.message["content"] == [
        {"type": "compaction", "content": "summary", "encrypted_content": "xyz"}
    ]


def test_an_input_that_came_whole_in_the_start_is_kept():
    accumulator = start(call("add", {"a": 1}))
    delta(accumulator, "input_json_delta", partial_json="")
    accumulator.add({"type": "content_block_stop", "index": 0})
    assert accumulator.message["content"][0]["input"] == {"a": 1}


def test_a_cut_input_is_marked_and_not_repaired():
    accumulator = start(call("add"))
    delta(accumulator, "input_json_delta", partial_json='{"a": 1, "b')
    accumulator.add({"type": "message_stop"})
    assert accumulator.message["content"][0]["input"] == {"INVALID_JSON": '{"a": 1, "b'}


def test_usage_is_cumulative_and_not_summed():
    accumulator = start(text(""))
    accumulator.add({"type": "message_delta", "delta": {}, "usage": {"input_tokens": 12, "output_tokens": 7}})
    assert accumulator.usage == {"input_tokens": 12, "output_tokens": 7}


def test_fields_beside_the_delta_are_kept():
    accumulator = start(text(""))
    edits = {"applied_edits": []}
    accumulator.add({"type": "message_delta", "delta": {"stop_reason": "x"}, "context_management": edits})
    assert accumulator.message["context_management"] == edits
    assert accumulator.message["stop_reason"] == "x"


def test_an_error_in_the_stream_breaks_it():
    accumulator = start(text(""))
    with pytest.raises(BrokenStreamError, match="overloaded_error: Overloaded"):
        accumulator.add({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    assert accumulator.usage["input_tokens"] == 10


def test_ping_and_unknown_events_change_nothing():
    accumulator = start(text("x"))
    before = json.dumps(accumulator.message)
    accumulator.add({"type": "ping"})
    accumulator.add({"type": "sparkle", "index": 4})
    assert json.dumps(accumulator.message) == before
