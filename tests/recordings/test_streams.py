"""Told from its final message alone, a recorded reply is the stream that was recorded."""

from __future__ import annotations

import json
from collections import Counter
from email.utils import parsedate_to_datetime
from random import Random
from typing import Any

import httpx2
import pytest
from anthropic.lib.streaming._beta_messages import accumulate_event as accumulate_beta
from anthropic.lib.streaming._messages import accumulate_event

from harness.wire.eras import Era, era_of, era_on
from harness.wire.events import PING, Told, encode, events_of
from harness.wire.fragments import LONGEST
from tests.recordings.cassettes import params
from tests.recordings.streams import Recorded, keys, raw_streams, shape, streams
from tests.wire.accumulate import accumulated

SEEDS = range(5)
ALL = params(streams())
RAW = params(raw_streams())
COUNTS = {"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"}


def told(message: dict[str, Any], of: Era, seed: int = 0) -> list[dict[str, Any]]:
    return [event.data for event in events_of(message, Random(seed), Told(of))]


@pytest.mark.parametrize("recorded", ALL)
def test_a_stream_has_the_recorded_events_and_keys(recorded: Recorded) -> None:
    message = accumulated(recorded.data)
    for seed in SEEDS:
        assert shape(told(message, era_for(recorded), seed)) == shape(recorded.data)


@pytest.mark.parametrize("recorded", ALL)
def test_a_message_tells_its_era(recorded: Recorded) -> None:
    message = accumulated(recorded.data)
    if message.get("stop_details") is not None:
        pytest.skip("why it stopped is said in every era, so that its absence dates nothing")
    assert shape(told(message, era_of(message))) == shape(recorded.data)


def era_for(recorded: Recorded) -> Era:
    """The era of the day, where it was kept, else the one the message tells."""
    if recorded.date:
        return era_on(parsedate_to_datetime(recorded.date).date().isoformat())
    return era_of(accumulated(recorded.data))


@pytest.mark.parametrize("recorded", ALL)
def test_a_stream_adds_up_to_the_recorded_message(recorded: Recorded) -> None:
    message = accumulated(recorded.data)
    ours = told(message, era_for(recorded))
    assert accumulated(ours) == message
    assert heard_by_sdk(ours, beta=True) == heard_by_sdk(recorded.data, beta=True)
    assert heard_by_sdk(ours, beta=False) == heard_by_sdk(recorded.data, beta=False)


@pytest.mark.parametrize("recorded", ALL)
def test_the_start_counts_no_more_than_the_end(recorded: Recorded) -> None:
    for events in (recorded.data, told(accumulated(recorded.data), era_of(accumulated(recorded.data)))):
        first = events[0]["message"]["usage"]
        last = accumulated(events)["usage"]
        assert first["output_tokens"] <= last["output_tokens"]
        assert keys(first) == [pair for pair in keys(last) if pair[0] in first] or set(first) >= COUNTS


@pytest.mark.parametrize("recorded", RAW)
def test_recorded_bytes_are_padded_like_ours(recorded: Recorded) -> None:
    for line in recorded.lines:
        compact = json.dumps(line.data, ensure_ascii=False, separators=(",", ":"))
        if line.name == "ping":
            assert line.raw.encode() == encode(PING, Random(0)).split(b"data: ")[1].rstrip(b"\n")
            continue
        padding = len(line.raw) - len(compact)
        assert line.raw == compact[:-1] + " " * padding + "}"
        assert 0 <= padding <= 15


@pytest.mark.skipif(not raw_streams(), reason="recordings of the real API are not here")
def test_fragments_have_the_sizes_of_the_recorded_ones() -> None:
    for kind, field in (("text_delta", "text"), ("input_json_delta", "partial_json")):
        real, ours = [], []
        for recorded in raw_streams():
            message = accumulated(recorded.data)
            real += sizes(recorded.data, kind, field)
            ours += sizes(told(message, era_of(message)), kind, field)
        for part in (0.25, 0.5, 0.75, 0.9):
            assert quantile(ours, part) == pytest.approx(quantile(real, part), rel=0.4, abs=2), (kind, part)
        assert max(ours) <= LONGEST


@pytest.mark.skipif(not raw_streams(), reason="recordings of the real API are not here")
def test_the_first_fragment_of_a_reply_is_one_token() -> None:
    for recorded in raw_streams():
        message = accumulated(recorded.data)
        if message["content"] and message["content"][0]["type"] == "text":
            assert sizes(told(message, era_of(message)), "text_delta", "text")[0] <= 5


@pytest.mark.skipif(not raw_streams(), reason="recordings of the real API are not here")
def test_pings_stand_where_the_recorded_ones_do() -> None:
    real, ours = Counter[int | None](), Counter[int | None]()
    for recorded in raw_streams():
        real[ping_place(recorded.data)] += 1
        message = accumulated(recorded.data)
        for seed in range(20):
            ours[ping_place(told(message, era_of(message), seed))] += 1
    for place in (2, None):
        assert ours[place] / ours.total() == pytest.approx(real[place] / real.total(), abs=0.12)
    assert set(ours) <= {None, 2, 3, 4}


def ping_place(events: list[dict[str, Any]]) -> int | None:
    kinds = [data["type"] for data in events]
    return kinds.index("ping") if "ping" in kinds else None


def sizes(events: list[dict[str, Any]], kind: str, field: str) -> list[int]:
    """Lengths of the fragments of one kind, without those that hold nothing."""
    deltas = [data["delta"] for data in events if data["type"] == "content_block_delta"]
    return [len(delta[field]) for delta in deltas if delta["type"] == kind and delta[field]]


def quantile(values: list[int], part: float) -> int:
    return sorted(values)[int(len(values) * part)]


def heard_by_sdk(events: list[dict[str, Any]], *, beta: bool) -> Any:
    """The message as the client's own accumulator makes it."""
    message: Any = None
    buffers: dict[int, bytes] = {}
    for data in events:
        if data["type"] == "ping":
            continue
        same: dict[str, Any] = {"event": data, "current_snapshot": message, "json_bufs": buffers}
        if beta:
            message = accumulate_beta(**same, request_headers=httpx2.Headers({}))
        else:
            message = accumulate_event(**same)
    return message.to_dict(mode="json", warnings=False)
