"""Cutting text and JSON into the pieces a stream carries, of the sizes seen in recordings."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

TEXT_SIZES = (3, 6, 8, 10, 12, 12, 14, 18, 24, 36, 60, 135)
"""Characters of a text or thinking fragment: median 12, at most 135."""

JSON_SIZES = (1, 2, 3, 4, 5, 5, 6, 8, 10, 13)
"""Characters of a fragment of a tool's input: median 5, at most 13, cut anywhere."""


def cut(text: str, sizes: tuple[int, ...], random: Random) -> Iterator[str]:
    """Pieces of `text` with lengths drawn from `sizes`."""
    start = 0
    while start < len(text):
        end = start + random.choice(sizes)
        yield text[start:end]
        start = end


def cut_text(text: str, random: Random) -> Iterator[str]:
    """Pieces of prose: the first is about one token long."""
    first = random.randint(1, 4)
    if text:
        yield text[:first]
    yield from cut(text[first:], TEXT_SIZES, random)


def cut_json(text: str, random: Random) -> Iterator[str]:
    """Pieces of a tool's input: an empty one always comes first."""
    yield ""
    yield from cut(text, JSON_SIZES, random)
