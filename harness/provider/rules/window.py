"""Rules about how much a model can read at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...wire.usage import input_tokens
from ..facts import Facts

BYTES_OF_A_TOKEN = 4
"""As the counts in replies have it; JSON around the words makes them look longer, never shorter."""

_IMAGE = "x" * 1600 * BYTES_OF_A_TOKEN
"""What an image counts, whatever its size."""


def _window(facts: Facts) -> int:
    longer = facts.traits.long_window if "context-1m-" in facts.betas else None
    return longer or facts.traits.window


def _count(facts: Facts) -> int:
    said = facts.conversation
    seen = {"messages": said.messages, "system": said.system, "tools": said.tools}
    return input_tokens({name: _words(value) for name, value in seen.items() if value})


def _words(value: Any) -> Any:
    """`value` with what is no text by what it counts."""
    if isinstance(value, list):
        return [_words(part) for part in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "base64" and isinstance(value.get("data"), str):
        return {"data": value["data"][: len(_IMAGE)]}
    return {key: _words(part) for key, part in value.items() if key not in ("encrypted_content", "signature")}


def prompt_too_long(facts: Facts) -> Iterator[str]:
    """The prompt alone has to fit."""
    window = _window(facts)
    if facts.size // BYTES_OF_A_TOKEN > window and (count := _count(facts)) > window:
        yield f"prompt is too long: {count} tokens > {window} maximum"


def reply_does_not_fit(facts: Facts) -> Iterator[str]:
    """With older models, the longest reply has to fit as well."""
    longest, window = facts.body.get("max_tokens"), _window(facts)
    if not facts.traits.whole_window or not isinstance(longest, int):
        return
    if facts.size // BYTES_OF_A_TOKEN + longest > window and (count := _count(facts)) + longest > window:
        yield (
            f"input length and `max_tokens` exceed context limit: {count} + {longest} > {window}, decrease "
            "input length or `max_tokens` and try again"
        )
