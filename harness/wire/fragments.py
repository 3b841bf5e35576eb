"""Cutting text and JSON into the pieces a stream carries, of the sizes seen in recordings.

Where the numbers come from: 504 text, 58 thinking and 98 input fragments of 28 recorded streams.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

TEXT_SIZES = (2, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 21, 24, 26, 31, 37, 40, 48, 60, 90)
"""Characters of a fragment of prose, one for each twentieth of the recorded ones; the longest had 135."""

THINKING_SIZES = (7, 10, 13, 14, 16, 19, 22, 24, 26, 28, 30, 33, 35, 36, 37, 40, 43, 46, 50, 51)
"""Characters of a fragment of thinking: it comes in longer pieces."""

JSON_SIZES = (1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 7, 7, 8, 8, 9, 9, 10, 11, 12)
"""Characters of a fragment of a tool's input, cut anywhere."""

FIRST_SIZES = (1, 2, 2, 2, 3, 4, 4, 4, 5)
"""Characters of the first fragment of a reply: one token."""

LONGEST = 135
"""Characters no recorded fragment has more of."""

_TO_WORD = 8
"""How far a cut moves to the end of a word: most recorded fragments start with the space before one."""


def cut(text: str, sizes: tuple[int, ...], random: Random) -> Iterator[str]:
    """Pieces of `text` with lengths drawn from `sizes`."""
    start, count = 0, len(sizes)
    while start < len(text):
        end = start + sizes[int(random.random() * count)]
        yield text[start:end]
        start = end


def cut_text(
    text: str, random: Random, sizes: tuple[int, ...] = TEXT_SIZES, *, first: bool = True
) -> Iterator[str]:
    """Pieces of prose, most of them whole words. `first`: it opens the reply, and begins with one token."""
    start, count = 0, len(sizes)
    if first and text:
        start = random.choice(FIRST_SIZES)
        yield text[:start]
    while start < len(text):
        end = start + sizes[int(random.random() * count)]
        word = text.find(" ", end, min(end + _TO_WORD, start + LONGEST))
        # One cut in five stays where it fell, inside a word.
        if word > start and random.random() < 0.8:
            end = word
        yield text[start:end]
        start = end


def cut_json(text: str, random: Random) -> Iterator[str]:
    """Pieces of a tool's input: an empty one always comes first."""
    yield ""
    yield from cut(text, JSON_SIZES, random)
