"""A message as the events of a stream. What `message` says whole, these say in pieces.

The grammar: `message_start`, then each block as start, deltas, stop, then `message_delta` and `message_stop`;
one `ping`, most often after the first `content_block_start`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from .blocks import CALLS, is_server_result
from .codec import dumps
from .deltas import deltas, empty
from .eras import DELTA_USAGE_ORDER, LATE_USAGE, Era, arranged, era, in_order

EVENTS: frozenset[str] = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
    }
)
"""Those of today; a new one may come any day."""

LATE_FIELDS = ("stop_reason", "stop_sequence", "stop_details", "container", "context_management")
"""Top-level fields of a message that are not known when it starts."""

EARLY_USAGE = frozenset({"cache_creation", "service_tier", "inference_geo", "speed"})
"""Parts of the usage that are told once, at the start."""

FIRST_COUNTS = (1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8)
"""Output tokens counted when a stream starts, as often as they were recorded."""

PING_PLACES = (1,) * 22 + (2,) * 3 + (3,) * 2 + (None,) * 2
"""After how many further events the ping comes, as often as it was recorded; with None there is no ping."""


class Event(NamedTuple):
    """One event: its name and its data, whose `type` is the name again."""

    name: str
    data: dict[str, Any]
    wait: float = 0.0
    """Seconds of silence before it."""
    raw: str | None = None
    """What is written to the letter, in place of the event."""


PING = Event("ping", {"type": "ping"})


class Told(NamedTuple):
    """How a message is told as a stream."""

    of: Era = era()
    tool_input_json: str | None = None
    """What the stream says for the input of the last call, instead of the input's own JSON. If it is cut
    short, the block gets no `content_block_stop`."""
    first: Mapping[str, Any] = {}
    """The counts known at the start, where they are not yet those of the end."""
    silence: float = 0.0
    """Seconds before a block that a server tool had to run for."""
    estimates: bool = False
    """Fragments of thinking say about how many tokens it has."""


def events_of(message: Mapping[str, Any], random: Random, told: Told | None = None) -> Iterator[Event]:
    """The events that carry `message`, with a ping among them."""
    told = told or Told()
    place = PING_PLACES[int(random.random() * len(PING_PLACES))]
    started = bool(message["content"])
    for number, event in enumerate(_plain(message, random, told)):
        yield event
        # No recorded ping comes after the last block.
        started = started and event.name != "message_delta"
        if number == place and started:
            yield PING


def _plain(message: Mapping[str, Any], random: Random, told: Told) -> Iterator[Event]:
    content: list[dict[str, Any]] = message["content"]
    text = told.tool_input_json
    exact = _last_call(content) if text is not None else None
    yield Event("message_start", {"type": "message_start", "message": _start_of(message, random, told)})
    for index, block in enumerate(content):
        wait = told.silence if is_server_result(block) else 0.0
        yield Event(
            "content_block_start", _indexed("content_block_start", index, content_block=empty(block)), wait
        )
        written = text if index == exact else None
        for delta in deltas(block, random, written, first=index == 0, estimates=told.estimates):
            yield Event("content_block_delta", _indexed("content_block_delta", index, delta=delta))
        if index != exact or text is None or _is_json(text):
            yield Event("content_block_stop", _indexed("content_block_stop", index))
    yield Event("message_delta", _end_of(message, told.of))
    yield Event("message_stop", {"type": "message_stop"})


def _indexed(kind: str, index: int, **rest: Any) -> dict[str, Any]:
    return {"type": kind, "index": index, **rest}


def _last_call(content: list[dict[str, Any]]) -> int | None:
    calls = [index for index, block in enumerate(content) if block.get("type") in CALLS]
    return calls[-1] if calls else None


def _is_json(text: str) -> bool:
    """Whether an accumulator can finish with `text`; nothing at all stands for an empty object."""
    try:
        json.loads(text or "{}")
    except ValueError:
        return False
    return True


def _start_of(message: Mapping[str, Any], random: Random, told: Told) -> dict[str, Any]:
    usage = {key: value for key, value in message["usage"].items() if key not in LATE_USAGE}
    whole = usage.get("output_tokens")
    usage |= {key: value for key, value in told.first.items() if key in usage}
    if isinstance(whole, int):
        usage["output_tokens"] = min(whole, usage["output_tokens"], random.choice(FIRST_COUNTS))
    early = {key: value for key, value in message.items() if key not in LATE_FIELDS}
    early |= {"model": _first_model(message), "content": [], "usage": usage}
    return arranged(early, told.of)


def _first_model(message: Mapping[str, Any]) -> Any:
    """The model that began. One that declined before its first block is not named."""
    for block in message["content"][1:]:
        if block.get("type") == "fallback" and isinstance(block.get("from"), Mapping):
            return block["from"].get("model", message.get("model"))
    return message.get("model")


def _end_of(message: Mapping[str, Any], of: Era) -> dict[str, Any]:
    delta = {key: message.get(key) for key in ("stop_reason", "stop_sequence")}
    for key in ("stop_details", "container"):
        if message.get(key) is not None or key in of.nulls:
            delta[key] = message.get(key)
    usage = {key: value for key, value in message["usage"].items() if key not in EARLY_USAGE}
    if not of.running:
        usage = {"output_tokens": usage.get("output_tokens", 0)}
    end = {"type": "message_delta", "delta": delta, "usage": in_order(usage, DELTA_USAGE_ORDER)}
    if message.get("context_management") is not None:
        end["context_management"] = message["context_management"]
    return end


def encode(event: Event, random: Random) -> bytes:
    """The bytes of one event, padded with 0 to 15 spaces before the last brace as the API does.

    `ping` has a spelling of its own and is never padded.
    """
    if event.raw is not None:
        return event.raw.encode("utf-8", "surrogateescape")
    if event.name == "ping":
        return b'event: ping\ndata: {"type": "ping"}\n\n'
    data = dumps(event.data)
    padding = b" " * int(random.random() * 16)
    return b"event: %b\ndata: %b%b}\n\n" % (event.name.encode(), data[:-1], padding)
