"""The recorded streams as events, and what is compared of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tests.recordings.cassettes import chunks, conversations


@dataclass(frozen=True)
class Line:
    """One recorded event."""

    name: str
    data: dict[str, Any]
    raw: str = ""
    """Its data as it was sent; empty where that was not kept."""


@dataclass(frozen=True)
class Recorded:
    """One recorded stream."""

    source: str
    lines: list[Line]
    date: str

    @property
    def data(self) -> list[dict[str, Any]]:
        return [line.data for line in self.lines]


def streams() -> list[Recorded]:
    """Every stream that is a reply; those kept as plain objects too."""
    found = [
        Recorded(one.source, lines(one.body), one.headers.get("date", ""))
        for one in conversations()
        if one.is_stream and one.status == 200
    ]
    found += [
        Recorded(kept.source, [Line(str(data["type"]), data) for data in kept.data], "") for kept in chunks()
    ]
    return [one for one in found if one.lines and one.lines[0].name == "message_start"]


def raw_streams() -> list[Recorded]:
    """Those whose bytes were kept."""
    return [one for one in streams() if one.lines[0].raw]


def lines(body: bytes) -> list[Line]:
    events = re.findall(r"event: (\S+)\ndata: (.*)\n\n", body.decode("utf-8"))
    return [Line(name, json.loads(raw), raw) for name, raw in events]


def keys(value: Any) -> Any:
    """The keys of a value in their order, all the way down."""
    if isinstance(value, dict):
        return [(key, keys(each)) for key, each in value.items()]
    if isinstance(value, list):
        return [keys(each) for each in value]
    return None


def shape(events: list[dict[str, Any]]) -> list[Any]:
    """What must be equal: kinds of events and deltas and their keys. Not the number of fragments, not pings,
    nor fragments that hold nothing, which some streams have before a signature."""
    found: list[Any] = []
    for data in events:
        if data["type"] == "ping" or _holds_nothing(data):
            continue
        kind = data["delta"]["type"] if data["type"] == "content_block_delta" else data["type"]
        step = (kind, data.get("index"), keys(data))
        if not found or found[-1] != step or not kind.endswith("_delta"):
            found.append(step)
    return found


def _holds_nothing(data: dict[str, Any]) -> bool:
    delta = data.get("delta", {})
    return "" in (delta.get("text"), delta.get("thinking"))
