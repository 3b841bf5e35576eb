from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from harness.wire.events import PING, Event, encode, events_of
from harness.wire.message import message

USAGE = {
    "input_tokens": 9,
    "cache_creation": {},
    "output_tokens": 40,
    "output_tokens_details": {"thinking_tokens": 3},
}
LONG = "The quick brown fox 😀 jumps over the lazy dog. " * 20


def events(
    content: list[dict[str, Any]], seed: int = 0, json_: str | None = None, **fields: Any
) -> list[Event]:
    said = message(
        id="msg_01",
        model="claude-opus-4-6",
        content=content,
        usage=USAGE,
        **{"stop_reason": "end_turn"} | fields,
    )
    return list(events_of(said, Random(seed), tool_input_json=json_))


def deltas(content: list[dict[str, Any]], json_: str | None = None) -> list[dict[str, Any]]:
    return [e.data["delta"] for e in events(content, json_=json_) if e.name == "content_block_delta"]


def test_a_text_streams_as_the_grammar_says() -> None:
    names = [event.name for event in events([{"type": "text", "text": "Hi"}])]
    assert names[:4] == ["message_start", "content_block_start", "ping", "content_block_delta"]
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]


def test_no_block_at_all_is_a_whole_stream() -> None:
    assert [e.name for e in events([])] == ["message_start", "ping", "message_delta", "message_stop"]


def test_the_type_equals_the_event_name() -> None:
    assert all(event.data["type"] == event.name for event in events([{"type": "text", "text": LONG}]))


def test_indexes_count_up_and_one_block_is_open_at_a_time() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "b", "signature": "s"}]
    seen = [(e.name, e.data["index"]) for e in events(blocks) if "index" in e.data and "delta" not in e.data]
    assert seen == [(f"content_block_{edge}", i) for i in (0, 1) for edge in ("start", "stop")]


def test_text_fragments_have_the_recorded_sizes() -> None:
    pieces = [delta["text"] for delta in deltas([{"type": "text", "text": LONG}])]
    assert "".join(pieces) == LONG
    assert len(pieces[0]) <= 4
    assert max(map(len, pieces)) <= 135
    assert 8 <= sorted(map(len, pieces))[len(pieces) // 2] <= 24


def test_a_call_begins_with_an_empty_fragment() -> None:
    given = {"path": "/tmp/é", "n": [1, {"a": "😀"}]}
    pieces = [
        d["partial_json"] for d in deltas([{"type": "tool_use", "id": "i", "name": "n", "input": given}])
    ]
    assert pieces[0] == ""
    assert max(map(len, pieces)) <= 13
    assert json.loads("".join(pieces)) == given


def test_an_argumentless_call_has_the_empty_fragment_alone() -> None:
    block = {"type": "server_tool_use", "id": "i", "name": "advisor", "input": {}}
    assert deltas([block]) == [{"type": "input_json_delta", "partial_json": ""}]
    assert events([block])[1].data["content_block"] == block


def test_citations_come_before_the_text() -> None:
    cited = [{"type": "web_search_result_location", "url": "u"}]
    block = {"citations": cited, "type": "text", "text": "It rains."}
    assert events([block])[1].data["content_block"] == {"citations": [], "type": "text", "text": ""}
    assert deltas([block])[0] == {"type": "citations_delta", "citation": cited[0]}
    assert all(delta["type"] == "text_delta" for delta in deltas([block])[1:])


def test_plain_text_has_no_citations_at_all() -> None:
    assert events([{"type": "text", "text": "x"}])[1].data["content_block"] == {"type": "text", "text": ""}


def test_thinking_ends_with_exactly_one_signature() -> None:
    kinds = [d["type"] for d in deltas([{"type": "thinking", "thinking": LONG, "signature": "s"}])]
    assert kinds[-1] == "signature_delta"
    assert set(kinds[:-1]) == {"thinking_delta"}


def test_omitted_thinking_has_the_signature_alone() -> None:
    block = {"type": "thinking", "thinking": "", "signature": "s"}
    assert deltas([block]) == [{"type": "signature_delta", "signature": "s"}]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "redacted_thinking", "data": "abc"},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"title": "t"}]},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []},
        {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
        {"type": "hologram", "text": "not cut", "rays": 3},
    ],
)
def test_results_and_unknown_blocks_come_whole(block: dict[str, Any]) -> None:
    assert events([block])[1].data["content_block"] == block
    assert deltas([block]) == []


def test_a_compaction_comes_in_one_piece() -> None:
    block = {"type": "compaction", "content": LONG}
    assert events([block])[1].data["content_block"] == {"type": "compaction", "content": None}
    assert deltas([block]) == [{"type": "compaction_delta", "content": LONG}]


def test_a_written_input_is_streamed_to_the_letter() -> None:
    block = {"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}}
    text = '{ "a":1.0e0 }'
    assert "".join(d["partial_json"] for d in deltas([block], json_=text)) == text
    assert "content_block_stop" in [e.name for e in events([block], json_=text)]


def test_a_cut_input_leaves_its_block_open() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}}]
    stream = events(blocks, json_='{"a": 1, "b": "un', stop_reason="max_tokens")
    assert [e.data["index"] for e in stream if e.name == "content_block_stop"] == [0]
    assert [e.name for e in stream][-2:] == ["message_delta", "message_stop"]


def test_the_start_knows_nothing_of_the_end() -> None:
    start = events([{"type": "text", "text": "x"}], stop_details={"type": "refusal"}, container={"id": "c"})[
        0
    ]
    said = start.data["message"]
    assert list(said)[:9] == [
        "model", "id", "type", "role", "content", "stop_reason", "stop_sequence", "stop_details", "usage",
    ]  # fmt: skip
    assert (said["content"], said["stop_reason"], said["stop_details"]) == ([], None, None)
    assert said["usage"]["output_tokens"] == 1
    assert "output_tokens_details" not in said["usage"]
    assert "container" not in said


def test_the_end_has_the_whole_count() -> None:
    end = events([], stop_reason="refusal", stop_details={"type": "refusal"}, container={"id": "c"})[-2].data
    assert end["delta"] == {
        "stop_reason": "refusal", "stop_sequence": None, "stop_details": {"type": "refusal"},
        "container": {"id": "c"},
    }  # fmt: skip
    assert end["usage"] == {
        "input_tokens": 9,
        "output_tokens": 40,
        "output_tokens_details": {"thinking_tokens": 3},
    }


def test_context_management_comes_with_the_end() -> None:
    stream = events([], fields={"context_management": {"applied_edits": []}, "novel": 1})
    assert stream[-2].data["context_management"] == {"applied_edits": []}
    assert stream[0].data["message"]["novel"] == 1


def test_events_are_padded_and_ping_is_not() -> None:
    random = Random(1)
    stop = Event("message_stop", {"type": "message_stop"})
    lengths = set()
    for _ in range(300):
        line = encode(stop, random)
        assert line.startswith(b'event: message_stop\ndata: {"type":"message_stop"')
        assert line.endswith(b"}\n\n")
        lengths.add(line.count(b" ") - 2)
    assert lengths == set(range(16))
    assert encode(PING, random) == b'event: ping\ndata: {"type": "ping"}\n\n'


def test_non_ascii_is_raw() -> None:
    event = Event("content_block_delta", {"type": "content_block_delta", "delta": {"text": "é😀"}})
    assert "é😀".encode() in encode(event, Random(0))


def test_the_same_seed_gives_the_same_stream() -> None:
    block = {"type": "text", "text": LONG}
    assert events([block], seed=3) == events([block], seed=3)
    assert events([block], seed=3) != events([block], seed=4)
