from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from harness.wire.deltas import deltas as deltas_of
from harness.wire.eras import era
from harness.wire.events import EVENTS, PING, Event, Told, encode, events_of
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
    return list(events_of(said, Random(seed), Told(tool_input_json=json_)))


def deltas(content: list[dict[str, Any]], json_: str | None = None) -> list[dict[str, Any]]:
    return [e.data["delta"] for e in events(content, json_=json_) if e.name == "content_block_delta"]


def test_a_text_streams_as_the_grammar_says() -> None:
    names = [event.name for event in events([{"type": "text", "text": "Hi"}]) if event.name != "ping"]
    assert names[:3] == ["message_start", "content_block_start", "content_block_delta"]
    assert names[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert set(names) <= EVENTS


def test_a_ping_comes_early_if_at_all() -> None:
    places: list[int | None] = []
    for seed in range(200):
        names = [event.name for event in events([{"type": "text", "text": LONG}], seed)]
        assert names.count("ping") <= 1
        places.append(names.index("ping") if "ping" in names else None)
    assert places.count(2) > 120
    assert set(places) == {2, 3, 4, None}


def test_no_block_at_all_is_a_whole_stream() -> None:
    assert [e.name for e in events([])] == ["message_start", "message_delta", "message_stop"]


def test_the_type_equals_the_event_name() -> None:
    assert all(event.data["type"] == event.name for event in events([{"type": "text", "text": LONG}]))


def test_indexes_count_up_and_one_block_is_open_at_a_time() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "b", "signature": "s"}]
    seen = [(e.name, e.data["index"]) for e in events(blocks) if "index" in e.data and "delta" not in e.data]
    assert seen == [(f"content_block_{edge}", i) for i in (0, 1) for edge in ("start", "stop")]


def test_text_fragments_have_the_recorded_sizes() -> None:
    pieces = [delta["text"] for delta in deltas([{"type": "text", "text": LONG}])]
    assert "".join(pieces) == LONG
    assert len(pieces[0]) <= 5
    assert max(map(len, pieces)) <= 135
    assert 8 <= sorted(map(len, pieces))[len(pieces) // 2] <= 30


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
        "model", "id", "type", "role", "content", "container", "stop_reason", "stop_sequence", "stop_details",
    ]  # fmt: skip
    assert (said["content"], said["stop_reason"], said["stop_details"]) == ([], None, None)
    assert (said["container"], said["diagnostics"]) == (None, None)
    assert 1 <= said["usage"]["output_tokens"] <= 8
    assert "output_tokens_details" not in said["usage"]


def test_the_start_counts_what_was_read_when_it_began() -> None:
    said = message(id="m", model="m", content=[], stop_reason="end_turn", usage=USAGE)
    start = next(events_of(said, Random(0), Told(first={"input_tokens": 4, "output_tokens": 0})))
    assert start.data["message"]["usage"]["input_tokens"] == 4
    assert start.data["message"]["usage"]["output_tokens"] == 0


def test_the_older_eras_count_the_output_alone_at_the_end() -> None:
    old = era("2025-05")
    said = message(id="m", model="m", content=[], stop_reason="end_turn", usage=USAGE, of=old)
    start, end, _ = events_of(said, Random(0), Told(old))
    assert list(start.data["message"])[:4] == ["id", "type", "role", "model"]
    assert end.data == {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 40},
    }


def test_a_silence_comes_before_what_a_server_tool_found() -> None:
    blocks = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
    ]
    said = message(id="m", model="m", content=blocks, stop_reason="end_turn", usage=USAGE)
    waits = {
        event.data.get("index"): event.wait
        for event in events_of(said, Random(0), Told(silence=0.5))
        if event.wait
    }
    assert waits == {1: 0.5}


def test_a_reply_that_fell_back_begins_with_the_model_that_was_asked() -> None:
    fallback = {"type": "fallback", "from": {"model": "first"}, "to": {"model": "second"}}
    text = {"type": "text", "text": "a"}
    for content, model in (([text, fallback, text], "first"), ([fallback, text], "second")):
        said = message(id="m", model="second", content=content, stop_reason="end_turn", usage=USAGE)
        assert next(events_of(said, Random(0))).data["message"]["model"] == model


def test_thinking_is_estimated_for_those_who_asked() -> None:
    shown = list(
        deltas_of({"type": "thinking", "thinking": "Hm. Well.", "signature": "s"}, Random(0), estimates=True)
    )
    assert {delta["estimated_tokens"] for delta in shown[:-1]} == {None}
    hidden = {"type": "thinking", "thinking": "", "signature": "s" * 900}
    estimate, signature = deltas_of(hidden, Random(0), estimates=True)
    assert estimate == {"type": "thinking_delta", "thinking": "", "estimated_tokens": 200}
    assert signature["type"] == "signature_delta"


def test_half_a_surrogate_pair_is_escaped() -> None:
    call = {"type": "tool_use", "id": "i", "name": "n", "input": {"a": "\ud83d"}}
    pieces = [delta["partial_json"] for delta in deltas_of(call, Random(0))]
    assert json.loads("".join(pieces)) == call["input"]
    assert "".join(pieces).isascii()


def test_a_written_event_is_sent_to_the_letter() -> None:
    assert encode(Event("", {}, raw=": hm\n\n"), Random(0)) == b": hm\n\n"


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
