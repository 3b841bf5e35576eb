"""A message as the events of a stream. What `message` says whole, these say in pieces.

The grammar: `message_start`, then each block as start, deltas, stop, then `message_delta` and `message_stop`;
one `ping` after the first `content_block_start`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from .blocks import CALLS
from .codec import dumps
from .fragments import cut_json, cut_text


class Event(NamedTuple):
    """One event: its name and its data, whose `type` is the name again."""

    name: str
    data: dict[str, Any]


PING = Event("ping", {"type": "ping"})

LATE_FIELDS = (
    "stop_reason",
    "stop_sequence",
    "stop_details",
    "container",
    "context_management",
    "diagnostics",
)
"""Top-level fields of a message that are not known when it starts."""

LATE_USAGE = ("output_tokens_details", "server_tool_use", "iterations")
"""Parts of the usage that come with the last count only."""

EARLY_USAGE = ("cache_creation", "service_tier", "inference_geo")
"""Parts of the usage that are told once, at the start."""


def events_of(
    message: Mapping[str, Any], random: Random, *, tool_input_json: str | None = None
) -> Iterator[Event]:
    """The events that carry `message`.

    `tool_input_json` is what the stream says for the input of the last call, instead of the input's own JSON.
    If it is cut short, the block gets no `content_block_stop`.
    """
    content: list[dict[str, Any]] = message["content"]
    exact = _last_call(content) if tool_input_json is not None else None
    yield Event("message_start", {"type": "message_start", "message": _start_of(message)})
    if not content:
        yield PING
    for index, block in enumerate(content):
        text = tool_input_json if index == exact else None
        yield Event("content_block_start", _indexed("content_block_start", index, content_block=empty(block)))
        if index == 0:
            yield PING
        for delta in deltas(block, random, text):
            yield Event("content_block_delta", _indexed("content_block_delta", index, delta=delta))
        if text is None or _is_json(text):
            yield Event("content_block_stop", _indexed("content_block_stop", index))
    yield Event("message_delta", _end_of(message))
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


def _start_of(message: Mapping[str, Any]) -> dict[str, Any]:
    usage = {key: value for key, value in message["usage"].items() if key not in LATE_USAGE}
    if isinstance(usage.get("output_tokens"), int):
        usage["output_tokens"] = min(usage["output_tokens"], 1)
    early = {key: value for key, value in message.items() if key not in (*LATE_FIELDS, "usage", "content")}
    known: dict[str, Any] = {key: early.pop(key) for key in ("model", "id", "type", "role") if key in early}
    nothing_yet: dict[str, Any] = {
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
    }
    return {**known, **nothing_yet, "usage": usage, **early}


def _end_of(message: Mapping[str, Any]) -> dict[str, Any]:
    delta = {key: message.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    if message.get("container") is not None:
        delta["container"] = message["container"]
    usage = {key: value for key, value in message["usage"].items() if key not in EARLY_USAGE}
    end = {"type": "message_delta", "delta": delta, "usage": usage}
    if message.get("context_management") is not None:
        end["context_management"] = message["context_management"]
    return end


def empty(block: Mapping[str, Any]) -> dict[str, Any]:
    """What `content_block_start` shows of `block`: nothing yet, or all of it where its kind has no deltas."""
    match block.get("type"):
        case "text" if block.get("citations"):
            return {**block, "citations": [], "text": ""}
        case "text":
            return {**block, "text": ""}
        case "thinking":
            return {**block, "thinking": "", "signature": ""}
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return {**block, "input": {}}
        case "compaction":
            return {**block, **{key: None for key in ("content", "encrypted_content") if key in block}}
        case _:
            return dict(block)


def deltas(
    block: Mapping[str, Any], random: Random, input_json: str | None = None
) -> Iterator[dict[str, Any]]:
    """The deltas that fill the empty form of `block`. `input_json` replaces the JSON of a call's input."""
    match block.get("type"):
        case "text":
            for citation in block.get("citations") or ():
                yield {"type": "citations_delta", "citation": citation}
            for piece in cut_text(str(block.get("text", "")), random):
                yield {"type": "text_delta", "text": piece}
        case "thinking":
            for piece in cut_text(str(block.get("thinking", "")), random):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block.get("signature", "")}
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            text = _input_json(block.get("input")) if input_json is None else input_json
            for piece in cut_json(text, random):
                yield {"type": "input_json_delta", "partial_json": piece}
        case "compaction":
            summary = {key: block[key] for key in ("content", "encrypted_content") if key in block}
            yield {"type": "compaction_delta", **summary}


def _input_json(value: Any) -> str:
    """The model's own spelling has a space after colons and commas; an argument-less call says nothing."""
    return "" if value == {} else json.dumps(value, ensure_ascii=False)


def encode(event: Event, random: Random) -> bytes:
    """The bytes of one event, padded with 0 to 15 spaces before the last brace as the API does.

    `ping` has a spelling of its own and is never padded.
    """
    if event.name == "ping":
        return b'event: ping\ndata: {"type": "ping"}\n\n'
    data = dumps(event.data)
    padding = b" " * int(random.random() * 16)
    return b"event: %b\ndata: %b%b}\n\n" % (event.name.encode(), data[:-1], padding)
