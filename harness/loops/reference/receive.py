"""A streamed reply put together from its events, with every block and field that came, known or not.

The SDK's own models would drop or reshape what they do not know; an echo must not.
"""

from __future__ import annotations

import json
from typing import Any

from .effects import Block, Message


class BrokenStreamError(Exception):
    """The stream ended before the message did, or the provider put an error into it."""


class SseDecoder:
    """Server-sent events from bytes, however they are cut."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[dict[str, Any]]:
        """The JSON objects of the events that are complete with this chunk."""
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        events = []
        for line in lines:
            text = line.rstrip(b"\r")
            if text.startswith(b"data:"):
                self._data.append(text[5:].removeprefix(b" "))
            elif not text and self._data:
                events.append(json.loads(b"\n".join(self._data)))
                self._data = []
        return events


class Accumulator:
    """The message that the events of one stream add up to."""

    def __init__(self) -> None:
        self.message: Message = {}
        self.complete = False
        self._said = False
        self._json: dict[int, str] = {}

    def add(self, event: dict[str, Any]) -> None:
        """Take one event. Raises `BrokenStreamError` for an error event; unknown ones change nothing."""
        kind = event.get("type")
        if kind == "message_start":
            self.message = {**event["message"], "content": []}
        elif kind == "content_block_start":
            self.message["content"].append(dict(event["content_block"]))
        elif kind == "content_block_delta":
            self._delta(event["index"], event["delta"])
        elif kind == "content_block_stop":
            self._close(event["index"])
        elif kind == "message_delta":
            self._message_delta(event)
            self._said = self.message.get("stop_reason") is not None
        elif kind == "message_stop":
            self._close_all()
            self.complete = True
        elif kind == "error":
            error = event.get("error") or {}
            raise BrokenStreamError(f"{error.get('type')}: {error.get('message')}")

    def cut_off(self) -> None:
        """The stream is over before it said so. With the stop reason, the message was all there."""
        if self._said:
            self._close_all()
            self.complete = True

    @property
    def usage(self) -> dict[str, Any]:
        """What was used so far: the values are cumulative, the last ones count."""
        usage: dict[str, Any] = self.message.get("usage") or {}
        return usage

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        block = self.message["content"][index]
        kind = delta.get("type")
        if kind == "input_json_delta":
            self._json[index] = self._json.get(index, "") + delta["partial_json"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        elif kind == "thinking_delta":
            block["thinking"] = block.get("thinking", "") + delta["thinking"]
        else:
            self._merge(block, delta)

    def _merge(self, block: Block, delta: dict[str, Any]) -> None:
        # Text, signatures, and whatever comes: strings grow, lists grow, anything else is replaced.
        for name, value in delta.items():
            if name == "type":
                continue
            old = block.get(name)
            grows = isinstance(old, (str, list)) and type(old) is type(value)
            block[name] = old + value if grows else value

    def _close(self, index: int) -> None:
        text = self._json.pop(index, "")
        if text.strip():
            # Without a fragment the input is what the block started with: `{}` for a call without arguments.
            self.message["content"][index]["input"] = self._input(text)

    def _input(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            # A cut call, or one the model wrote badly: kept apart from any input the model could have meant.
            return {"INVALID_JSON": text}

    def _close_all(self) -> None:
        for index in list(self._json):  # a cut block may never be closed
            self._close(index)

    def _message_delta(self, event: dict[str, Any]) -> None:
        self.message.update(event["delta"])
        self.message["usage"] = {**self.usage, **(event.get("usage") or {})}
        extra = {name: value for name, value in event.items() if name not in ("type", "delta", "usage")}
        self.message.update(extra)
