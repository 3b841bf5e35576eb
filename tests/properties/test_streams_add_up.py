"""However a message is cut into fragments and packets, a client hears the message."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import pytest
from anthropic._streaming import SSEDecoder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.wire.codec import dumps, loads
from harness.wire.deltas import deltas
from harness.wire.eras import arranged
from harness.wire.events import Event, Told, encode, events_of
from harness.wire.fragments import cut_json, cut_text
from tests.properties.messages import ERA, JSON, TEXT, messages
from tests.recordings.test_streams import heard_by_sdk
from tests.wire.accumulate import accumulated

QUICK = settings(max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
LONG = settings(QUICK, max_examples=5000)
SEED = st.integers(0, 2**32)
PLACES = st.lists(st.floats(0, 1), max_size=12)
FIELD = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


@st.composite
def told(draw: st.DrawFn) -> tuple[dict[str, Any], list[Event]]:
    """A message and its stream, the fragments cut anew in places of any kind."""
    of = draw(ERA)
    message = draw(messages(of))
    events = list(events_of(message, Random(draw(SEED)), Told(of)))
    return message, list(recut(events, draw(PLACES)) if draw(st.booleans()) else events)


def recut(events: list[Event], places: list[float]) -> Iterator[Event]:
    """The events with fragments of one kind put together and cut in other places."""

    def kind(event: Event) -> Any:
        delta = event.data.get("delta", {}).get("type")
        return (event.data.get("index"), delta) if delta in FIELD else id(event)

    for _, run in itertools.groupby([e for e in events if e.name != "ping"], key=kind):
        same = list(run)
        field = FIELD.get(same[0].data.get("delta", {}).get("type", ""))
        if field is None:
            yield from same
            continue
        text = "".join(event.data["delta"][field] for event in same)
        for piece in split(text, places):
            yield Event(same[0].name, same[0].data | {"delta": same[0].data["delta"] | {field: piece}})


def split(whole: Any, places: Iterable[float]) -> list[Any]:
    """A text or bytes in as many pieces, empty ones too."""
    cuts = [0, *sorted(int(place * len(whole)) for place in places), len(whole)]
    return [whole[start:end] for start, end in itertools.pairwise(cuts)]


def check_a_stream_adds_up(case: tuple[dict[str, Any], list[Event]], seed: int, packets: list[float]) -> None:
    message, events = case
    random = Random(seed)
    sent = b"".join(encode(event, random) for event in events)
    heard = list(SSEDecoder().iter_bytes(iter(split(sent, packets))))
    assert [each.event for each in heard] == [event.name for event in events]
    data = [json.loads(each.data) for each in heard]
    assert all(each["type"] == sse.event for each, sse in zip(data, heard, strict=True))
    assert accumulated(data) == message
    assert comparable(heard_by_sdk(data, beta=True)) == comparable(message)


def comparable(message: dict[str, Any]) -> Any:
    """A message as the client may say it: nulls and left-out fields are one, times are written anew."""
    if isinstance(message, dict):
        return {k: comparable(v) for k, v in message.items() if v is not None and k != "expires_at"}
    return [comparable(each) for each in message] if isinstance(message, list) else message


def check_a_written_input_is_told_to_the_letter(text: str, seed: int) -> None:
    call = {"type": "tool_use", "id": "toolu_01", "name": "n", "input": {}}
    pieces = [delta["partial_json"] for delta in deltas(call, Random(seed), text)]
    assert pieces[0] == ""
    assert "".join(pieces) == text
    assert "".join(cut_json(text, Random(seed))) == text
    assert "".join(cut_text(text, Random(seed))) == text


def check_json_survives(value: Any) -> None:
    data = dumps(value)
    assert loads(data) == value
    assert json.loads(data) == value


def check_arranging_keeps_what_was_said(message: dict[str, Any], of: Any) -> None:
    again = arranged(dict(sorted(message.items())), of)
    assert list(again) == list(message)
    assert again == message


given_a_stream = given(told(), SEED, PLACES)
given_a_text = given(TEXT, SEED)
given_json = given(JSON)


@QUICK
@given_a_stream
def test_a_stream_adds_up(case: tuple[dict[str, Any], list[Event]], seed: int, packets: list[float]) -> None:
    check_a_stream_adds_up(case, seed, packets)


@pytest.mark.slow
@pytest.mark.timeout(900)
@LONG
@given_a_stream
def test_a_great_many_streams_add_up(
    case: tuple[dict[str, Any], list[Event]], seed: int, packets: list[float]
) -> None:
    check_a_stream_adds_up(case, seed, packets)


@QUICK
@given_a_text
def test_a_written_input_is_told_to_the_letter(text: str, seed: int) -> None:
    check_a_written_input_is_told_to_the_letter(text, seed)


@pytest.mark.slow
@pytest.mark.timeout(900)
@LONG
@given_a_text
def test_a_great_many_written_inputs_are_told_to_the_letter(text: str, seed: int) -> None:
    check_a_written_input_is_told_to_the_letter(text, seed)


@QUICK
@given_json
def test_any_json_survives_the_wire(value: Any) -> None:
    check_json_survives(value)


@QUICK
@given(ERA.flatmap(lambda of: st.tuples(messages(of), st.just(of))))
def test_arranging_a_message_keeps_what_it_says(case: tuple[dict[str, Any], Any]) -> None:
    check_arranging_keeps_what_was_said(*case)
