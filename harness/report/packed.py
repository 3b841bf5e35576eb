"""Events in less space: a conversation that is sent again with every request is stored once.

Where a list of an event begins as the same list did when it was last seen, that beginning is stored as
`{"$as_before": N}`, N being how many of its items are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ..history import AnyEvent, Ended, Published, RequestSeen, TurnBegan

MARK = "$as_before"
FEWEST = 2
"""Items that have to be the same before it is worth it."""


def packed(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """The events with what was said before left out."""
    last: dict[str, list[Any]] = {}

    def pack(place: str, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        before, last[place] = last.get(place, []), value
        same = shared(before, value)
        return [{MARK: same}, *value[same:]] if same >= FEWEST else value

    return [_with(event, pack) for event in events]


def unpacked(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """The events as they were before they were packed."""
    last: dict[str, list[Any]] = {}

    def unpack(place: str, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if value and isinstance(value[0], dict) and value[0].keys() == {MARK}:
            value = last.get(place, [])[: value[0][MARK]] + value[1:]
        last[place] = value
        return value

    return [_with(event, unpack) for event in events]


def _with(event: AnyEvent, change: Callable[[str, Any], Any]) -> AnyEvent:
    """The event with its lists changed; itself where that leaves all as it is."""
    new = dict(_changes(event, change))
    return msgspec.structs.replace(event, **new) if new else event


def _changes(event: AnyEvent, change: Callable[[str, Any], Any]) -> Iterator[tuple[str, Any]]:
    match event:
        case TurnBegan():
            yield "messages", change("turn", event.messages)
        case RequestSeen():
            yield "transcript", change("transcript", event.transcript)
            if isinstance(event.body, dict):
                places = [name for name in ("messages", "tools") if name in event.body]
                yield "body", event.body | {name: change(name, event.body[name]) for name in places}
        case Published():
            yield "history", change("published", event.history)
            if "messages" in event.state:
                yield "state", event.state | {"messages": change("state", event.state["messages"])}
        case Ended():
            yield "history", change("ended", event.history)
        case _:
            pass


def shared(before: Sequence[Any], now: Sequence[Any]) -> int:
    """How many items both begin with."""
    pairs = enumerate(zip(before, now, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(before), len(now)))
