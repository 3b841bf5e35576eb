"""The events a scenario wrote in place of those its message would be told with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..wire.events import Event

_STUB = frozenset({"type", "index"})


def retold(written: Sequence[Mapping[str, Any] | str], made: Sequence[Event]) -> Iterator[Event]:
    """The events of a stream as `written`; stubs stand for those `made` of the message, text for itself."""
    for item in written:
        if isinstance(item, str):
            yield Event("", {}, raw=item)
            continue
        meant = [event for event in made if _stands_for(item, event)] if item.keys() <= _STUB else []
        yield from meant or [Event(str(item.get("type", "")), dict(item))]


def _stands_for(stub: Mapping[str, Any], event: Event) -> bool:
    return event.name == stub.get("type") and (
        "index" not in stub or event.data.get("index") == stub["index"]
    )
