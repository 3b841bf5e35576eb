"""The message of a reply, with its keys in the order the API writes them today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
) -> dict[str, Any]:
    """A whole message. `fields` replaces or adds top-level fields as they are."""
    return {
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
        "diagnostics": None,
        **(fields or {}),
    }
