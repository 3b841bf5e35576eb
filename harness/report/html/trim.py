"""JSON values short enough for a page: long texts are cut, and say how much is missing."""

from __future__ import annotations

from typing import Any

LONGEST = 2_000
"""Characters of a text."""
OPAQUE = 48
"""Characters of what nobody reads: signatures, encrypted contents, pictures."""
MANY = 100
"""Items of a list."""
_UNREAD = ("signature", "data", "encrypted_content", "encrypted_index", "encrypted_stdout")


def trimmed(value: Any, longest: int = LONGEST) -> Any:
    """`value`, made of JSON types, with its long parts cut."""
    match value:
        case str():
            return _text(value, longest)
        case list():
            more = len(value) - MANY
            return [trimmed(each, longest) for each in value[:MANY]] + (
                [f"… {more} more"] if more > 0 else []
            )
        case dict():
            return {
                name: trimmed(each, OPAQUE if name in _UNREAD else longest) for name, each in value.items()
            }
    return value


def _text(text: str, longest: int) -> str:
    more = len(text) - longest
    return text if more <= 0 else f"{text[:longest]}… ({more:,} more characters)"
