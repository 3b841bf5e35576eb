"""The message of a reply, with the keys of its era in the order the API writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .eras import Era, arranged, era


def message(  # noqa: PLR0913 - each is a field of the message
    *,
    id: str,  # noqa: A002 - the API's word
    model: str,
    content: list[dict[str, Any]],
    stop_reason: str | None,
    usage: Mapping[str, Any],
    stop_sequence: str | None = None,
    stop_details: Mapping[str, Any] | None = None,
    container: Mapping[str, Any] | None = None,
    fields: Mapping[str, Any] | None = None,
    of: Era | None = None,
) -> dict[str, Any]:
    """A whole message of an era, today's by default. `fields` replaces or adds top-level fields."""
    said = {
        "model": model,
        "id": id,
        "type": "message",
        "role": "assistant",
        "content": content,
        "container": container,
        "stop_reason": stop_reason,
        "stop_sequence": stop_sequence,
        "stop_details": stop_details,
        "usage": dict(usage),
        **(fields or {}),
    }
    return arranged(said, of or era())
