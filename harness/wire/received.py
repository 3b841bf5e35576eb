"""A stream of events as it was received: bytes to events, events to the message they add up to.

The reverse of `events.py`, and of any age: what is not known is carried along, not refused. Every field that
came is in the message, since what goes back has to be compared with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

Json = dict[str, Any]

_decode = msgspec.json.Decoder().decode


class Received(NamedTuple):
    """One event."""

    name: str
    """Its `event` line; without one, the `type` of its data."""
    data: Any
    """None where it is no JSON."""
    start: int
    end: int
    """Where it stands in the body, the blank line after it included."""


def events(body: bytes) -> Iterator[Received]:
    """The events that came to their end in `body`, in order; comments are passed over."""
    name, data, start, place = "", [], 0, 0
    while (end := body.find(b"\n", place)) >= 0:
        line, place = body[place:end].removesuffix(b"\r"), end + 1
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif line.startswith(b"event:"):
            name = line[6:].strip().decode("utf-8", "replace")
        elif not line:
            if data:
                value = _json(b"\n".join(data))
                kind = value.get("type") if isinstance(value, dict) else None
                yield Received(name or str(kind or ""), value, start, place)
            name, data, start = "", [], place


def _json(data: bytes) -> Any:
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    try:
        return json.loads(data)  # takes what msgspec is stricter about, such as halves of surrogate pairs
    except (ValueError, RecursionError):
        return None


@dataclass
class Heard:
    """What became of one stream."""

    message: Json | None = None
    """As far as it came; None where it never began."""
    error: Json | None = None
    """The data of an `error` event."""
    events: int = 0
    """How many came whole."""
    last: str = ""
    """The name of the last of them that belongs to the message."""
    _texts: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    """Texts that are still growing, by block and field: joined once, since most come in very small pieces."""

    @property
    def whole(self) -> bool:
        """Whether all of the message came: with the stop reason everything was said."""
        said = self.message is not None and self.message.get("stop_reason") is not None
        return self.error is None and (self.last == "message_stop" or (said and self.last == "message_delta"))


def heard(found: Iterable[Any]) -> Heard:
    """What the data of these events add up to."""
    result = Heard()
    for data in found:
        result.events += 1
        if isinstance(data, dict):
            _take(result, data)
    for index in {place[0] for place in result._texts}:
        _close(result, index)
    return result


def _take(result: Heard, data: Json) -> None:
    kind = data.get("type")
    if kind == "message_start" and isinstance(data.get("message"), dict):
        content = data["message"].get("content")
        result.message = {**data["message"], "content": list(content) if isinstance(content, list) else []}
    elif kind == "error":
        result.error = result.error or data
        return
    elif result.message is None or kind == "ping":
        return
    elif kind == "content_block_start":
        result.message["content"].append(dict(data.get("content_block") or {}))
    elif kind == "content_block_delta":
        _delta(result, data)
    elif kind == "content_block_stop":
        _close(result, data.get("index"))
    elif kind == "message_delta":
        _message_delta(result.message, data)
    if str(kind).startswith(("message_", "content_block_")):
        result.last = str(kind)


def _delta(result: Heard, data: Json) -> None:
    content, index, delta = (result.message or {})["content"], data.get("index"), data.get("delta")
    if not isinstance(index, int) or not 0 <= index < len(content) or not isinstance(delta, dict):
        return
    block = content[index]
    if delta.get("type") == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta.get("citation")]
        return
    for name, value in delta.items():
        if name == "type":
            continue
        if isinstance(value, str) and isinstance(block.get(name, ""), str):
            result._texts.setdefault((index, name), [block.get(name, "")]).append(value)
        elif isinstance(value, list) and isinstance(block.get(name), list):
            block[name] = block[name] + value
        else:
            block[name] = value


def _close(result: Heard, index: Any) -> None:
    for place in [each for each in result._texts if each[0] == index]:
        text = "".join(result._texts.pop(place))
        block, name = (result.message or {})["content"][index], place[1]
        if name != "partial_json":
            block[name] = text
        elif text.strip():
            # A call that was cut, or badly written, is kept apart from any input the model could have meant.
            value = _json(text.encode("utf-8", "replace"))
            block["input"] = {"INVALID_JSON": text} if value is None else value


def _message_delta(message: Json, data: Json) -> None:
    usage = {**(message.get("usage") or {}), **(data.get("usage") or {})}
    message.update({name: value for name, value in data.items() if name not in ("type", "delta", "usage")})
    message.update(data.get("delta") or {})
    if usage:
        message["usage"] = usage
