"""The texts of a stream that come in fragments: each block's, put together, and back into its fragments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..wire.deltas import DELTAS
from .edits import Edit, Literal, literals, respelled, value_of

FIELDS = {kind: fields[0] for kind, fields in DELTAS.items() if kind != "citations_delta"}
"""The field of a delta that holds a fragment, by the delta's type."""

_DATA = re.compile(r"^data: ?(.*)$", re.MULTILINE)
_INDEX = re.compile(r'"index"\s*:\s*(\d+)')


class Fragment(NamedTuple):
    """A part of a text, as it stands in the body."""

    place: int
    """Where its spelling begins in the body,"""
    start: int
    """and its value in the whole text."""
    value: str
    starts: list[int] | None


class Joined(NamedTuple):
    """The text of one block, or what it says in one of its fields."""

    field: str
    text: str
    fragments: list[Fragment]

    def edits(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Edits of the text as edits of the body; what replaces several fragments comes with the first."""
        for edit in edits:
            text = edit.text
            for fragment in self.fragments:
                start = max(edit.start - fragment.start, 0)
                end = min(edit.end - fragment.start, len(fragment.value))
                if start < end:
                    yield from respelled([Edit(start, end, text)], fragment.starts, fragment.place)
                    text = ""


def data_lines(body: str) -> Iterator[tuple[int, int]]:
    """Where the data of each event begins and ends."""
    for found in _DATA.finditer(body):
        yield found.start(1), found.end(1)


def joined(body: str) -> Iterator[Joined]:
    """The texts that come in fragments, from a body that is a stream of events."""
    texts: dict[tuple[str, str], list[Fragment]] = {}
    sizes: dict[tuple[str, str], int] = {}
    for start, end in data_lines(body):
        found = _fragment(body, start, end)
        if found is None:
            continue
        key, literal = found
        value, starts = value_of(body[literal.start : literal.end])
        size = sizes.get(key, 0)
        texts.setdefault(key, []).append(Fragment(literal.start, size, value, starts))
        sizes[key] = size + len(value)
    for (_, field), fragments in texts.items():
        yield Joined(field, "".join(fragment.value for fragment in fragments), fragments)


def _fragment(body: str, start: int, end: int) -> tuple[tuple[str, str], Literal] | None:
    """The fragment in one event, and what it is a fragment of."""
    place = body.find('"delta"', start, end)
    if place < 0:
        return None
    field = ""
    for literal in literals(body, place, end):
        if literal.key == "type" and not field:
            field = FIELDS.get(body[literal.start : literal.end], "")
        elif literal.key == field and field:
            index = _INDEX.search(body, start, end)
            return (index[1] if index else "", field), literal
    return None
