"""Changing parts of a text and nothing else of it: edits, and the string literals of JSON they are made in.

A body is never decoded and encoded again, which would spell the rest of it anew: a literal is found in the
raw text, and what is changed of its value is changed in its spelling.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Edit(NamedTuple):
    """Put `text` in place of what stands from `start` to `end`."""

    start: int
    end: int
    text: str


class Literal(NamedTuple):
    """A string in JSON: what stands between its quotes, and the key it is the value of."""

    start: int
    end: int
    key: str | None
    """None where it is no value of a key."""
    key_start: int


_LITERAL = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"(\s*:)?|\\?\Z)', re.DOTALL)
"""The last one may be cut off, as in a reply that broke."""

_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)

_UNIT = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL
)
"""One character of a literal's value, as it is spelled."""


def applied(text: str, edits: Sequence[Edit]) -> str:
    """`text` with the edits, which are in order and do not overlap."""
    parts, place = [], 0
    for edit in edits:
        parts += [text[place : edit.start], edit.text]
        place = edit.end
    return "".join([*parts, text[place:]])


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """The edits in order; those that overlap become one, with the text of the first."""
    found: list[Edit] = []
    for edit in sorted(set(edits), key=lambda edit: (edit.start, -edit.end)):
        if found and edit.start < found[-1].end:
            found[-1] = found[-1]._replace(end=max(found[-1].end, edit.end))
        elif edit.end > edit.start:
            found.append(edit)
    return found


def literals(text: str, start: int = 0, end: int | None = None) -> Iterator[Literal]:
    """The string values of JSON, and its keys, in order."""
    key: str | None = None
    key_start = key_end = -1
    for found in _LITERAL.finditer(text, start, len(text) if end is None else end):
        if found[2] is not None:
            key, key_start, key_end = found[1], found.start(), found.end()
            yield Literal(found.start(1), found.end(1), None, -1)
            continue
        mine = key if key is not None and not text[key_end : found.start()].strip() else None
        yield Literal(found.start(1), found.end(1), mine, key_start)


def unescaped(spelled: str) -> str:
    """What a literal, or a text with literals in it, says."""
    return _ESCAPE.sub(lambda found: _character(found[0]), spelled) if "\\" in spelled else spelled


def value_of(spelled: str) -> tuple[str, list[int] | None]:
    """What a literal says, and where in its spelling each character begins; None where that is the same."""
    if "\\" not in spelled:
        return spelled, None
    characters, starts = [], []
    for unit in _UNIT.finditer(spelled):
        characters.append(_character(unit[0]))
        starts.append(unit.start())
    return "".join(characters), [*starts, len(spelled)]


def respelled(edits: Iterable[Edit], starts: list[int] | None, offset: int) -> Iterator[Edit]:
    """Edits of a literal's value as edits of its spelling, which begins at `offset`."""
    for edit in edits:
        start, end = (starts[edit.start], starts[edit.end]) if starts else (edit.start, edit.end)
        yield Edit(offset + start, offset + end, spelling(edit.text))


def spelling(text: str) -> str:
    """`text` between the quotes of JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def resized(sizes: Sequence[int], before: str, edits: Sequence[Edit]) -> list[int]:
    """Sizes in bytes of the pieces of a body, `before` it was edited, as they are after.

    What replaces something that was in two pieces comes with the first of them.
    """
    changes = list(_in_bytes(before, edits))
    found, place, moved, at = [], 0, 0, 0
    last = 0
    for size in sizes:
        place += size
        while at < len(changes) and changes[at][1] <= place:
            moved += changes[at][2] - (changes[at][1] - changes[at][0])
            at += 1
        end = place + moved
        if at < len(changes) and changes[at][0] < place:
            end = changes[at][0] + moved + changes[at][2]
        found.append(end - last)
        last = end
    return found


def _in_bytes(text: str, edits: Sequence[Edit]) -> Iterator[tuple[int, int, int]]:
    """Start and end of each edit, and the size of its text."""
    place = offset = 0
    for edit in edits:
        offset += _size(text[place : edit.start])
        length = _size(text[edit.start : edit.end])
        yield offset, offset + length, _size(edit.text)
        offset, place = offset + length, edit.end


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _character(unit: str) -> str:
    if unit[0] != "\\":
        return unit
    try:
        return str(json.loads(f'"{unit}"'))
    except ValueError:
        return unit[-1]
