"""A block in pieces: the empty form it starts with, and the deltas that fill it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from .fragments import THINKING_SIZES, cut_json, cut_text

DELTAS: dict[str, tuple[str, ...]] = {
    "text_delta": ("text",),
    "citations_delta": ("citation",),
    "thinking_delta": ("thinking", "estimated_tokens"),
    "signature_delta": ("signature",),
    "input_json_delta": ("partial_json",),
    "compaction_delta": ("content", "encrypted_content"),
}
"""Fields by type of delta."""

_STEP = 50
"""Estimates are multiples of this."""
_HIDDEN = 200
"""Characters of a signature that stand for one step of thinking that is not shown."""

_SUMMARY = ("content", "encrypted_content")


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
            return {**block, **{key: None for key in _SUMMARY if key in block}}
        case _:
            return dict(block)


def deltas(
    block: Mapping[str, Any],
    random: Random,
    input_json: str | None = None,
    *,
    first: bool = True,
    estimates: bool = False,
) -> Iterator[dict[str, Any]]:
    """The deltas that fill the empty form of `block`. `input_json` replaces the JSON of a call's input.

    `first`: nothing of the reply came before it. `estimates`: thinking says how many tokens it has.
    """
    match block.get("type"):
        case "text":
            for citation in block.get("citations") or ():
                yield {"type": "citations_delta", "citation": citation}
            for piece in cut_text(str(block.get("text", "")), random, first=first):
                yield {"type": "text_delta", "text": piece}
        case "thinking":
            yield from _thoughts(block, random, first=first, estimates=estimates)
            yield {"type": "signature_delta", "signature": block.get("signature", "")}
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            text = input_text(block.get("input")) if input_json is None else input_json
            for piece in cut_json(text, random):
                yield {"type": "input_json_delta", "partial_json": piece}
        case "compaction":
            summary = {key: block[key] for key in _SUMMARY if key in block}
            yield {"type": "compaction_delta", **summary}


def _thoughts(
    block: Mapping[str, Any], random: Random, *, first: bool, estimates: bool
) -> Iterator[dict[str, Any]]:
    """Thinking in pieces. The estimate of what is not shown takes a piece without text."""
    text = str(block.get("thinking", ""))
    if not text and estimates:
        hidden = len(str(block.get("signature", ""))) // _HIDDEN * _STEP
        yield {"type": "thinking_delta", "thinking": "", "estimated_tokens": hidden or _STEP}
    for piece in cut_text(text, random, THINKING_SIZES, first=first):
        delta: dict[str, Any] = {"type": "thinking_delta", "thinking": piece}
        yield delta | {"estimated_tokens": None} if estimates else delta


def input_text(value: Any) -> str:
    """The JSON of a call's input. An argument-less call says nothing.

    The model's own spelling has a space after colons and commas. Half a surrogate pair has no UTF-8, so
    text that holds one is escaped.
    """
    if value == {}:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if _is_unicode(text) else json.dumps(value)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
