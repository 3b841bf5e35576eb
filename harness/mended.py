"""Texts as UTF-8 can hold them."""

from __future__ import annotations

from typing import Any


def mended(value: Any) -> Any:
    """`value`, made of JSON types, with U+FFFD for each half of a surrogate pair.

    A text cut within an emoji holds such a half, and UTF-8 has no form for it.
    """
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [mended(each) for each in value]
        case dict():
            return {mended(key): mended(each) for key, each in value.items()}
    return value
