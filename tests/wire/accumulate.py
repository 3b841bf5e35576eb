"""What a client makes of a stream, written from the description of the stream alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

PIECES = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def accumulated(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The message that the data of these events add up to."""
    said: dict[str, Any] = {}
    inputs: dict[int, str] = {}
    for data in events:
        match data["type"]:
            case "message_start":
                said = json.loads(json.dumps(data["message"]))
            case "content_block_start":
                assert data["index"] == len(said["content"]), "blocks come one by one"
                said["content"].append(json.loads(json.dumps(data["content_block"])))
                serving = data["content_block"].get("to") if _is_fallback(data) else None
                said["model"] = serving["model"] if serving else said["model"]
            case "content_block_delta":
                assert data["index"] == len(said["content"]) - 1, "one block is open at a time"
                _add(said["content"][-1], data["delta"], inputs, data["index"])
            case "message_delta":
                end = {key: value for key, value in data.items() if key not in ("type", "delta", "usage")}
                usage = said["usage"] | data["usage"]
                said |= {k: v for k, v in (data["delta"] | end).items() if v is not None or k in said}
                said["usage"] = usage
    for index, text in inputs.items():
        said["content"][index]["input"] = json.loads(text or "{}")
    return said


def _is_fallback(data: dict[str, Any]) -> bool:
    return bool(data["content_block"]["type"] == "fallback")


def _add(block: dict[str, Any], delta: dict[str, Any], inputs: dict[int, str], index: int) -> None:
    kind = delta["type"]
    if kind in PIECES:
        block[PIECES[kind]] = block.get(PIECES[kind], "") + delta[PIECES[kind]]
    elif kind == "input_json_delta":
        inputs[index] = inputs.get(index, "") + delta["partial_json"]
    elif kind == "citations_delta":
        block["citations"] = [*block.get("citations", []), delta["citation"]]
    elif kind == "compaction_delta":
        block |= {key: value for key, value in delta.items() if key != "type"}
    else:
        raise AssertionError(f"nobody said what to do with a {kind}")
