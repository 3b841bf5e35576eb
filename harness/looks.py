"""What an answer looks like to a client beside the model's text, and whether it looks like a finished one.

A look is a list of marks, each a place and a value: `status 200`, `event done`, `$.reason "stop"`. The places
in which the text stands are no part of it. Finished answers of the probe are the samples. What differs among
them (ids, counts, copies of the text) tells nothing; whatever else an answer has, or lacks, sets it apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from .wire.codec import dumps

Mark: TypeAlias = tuple[str, str]
Look: TypeAlias = Sequence[Mark]

MOST_MARKS = 400
"""Marks that are kept of one answer."""
MOST_VALUE = 120
"""Characters that are kept of a value."""
MANY = 8
"""So many values at one place of one answer are pieces of something, and no names."""


def marks_of(value: Any, place: str = "$", hidden: frozenset[str] = frozenset()) -> Iterator[Mark]:
    """The marks of a JSON value. At the places in `hidden` a text is no mark."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from marks_of(item, f"{place}.{name}", hidden)
    elif isinstance(value, list) and value:
        for item in value:
            yield from marks_of(item, f"{place}[]", hidden)
    elif not (place in hidden and isinstance(value, str)):
        yield place, dumps(value).decode(errors="replace")[:MOST_VALUE]


def look_of(marks: Iterable[Mark]) -> list[Mark]:
    """Each mark once, in order, and not too many of them."""
    found: dict[Mark, None] = {}
    for mark in marks:
        found[mark] = None
        if len(found) >= MOST_MARKS:
            break
    return list(found)


def set_apart(look: Look, samples: Sequence[Look]) -> list[str]:
    """What sets an answer apart from all finished ones, in words; nothing where it looks like one of them."""
    known = [_by_place(sample) for sample in samples]
    here = _by_place(look)
    found = []
    for place, values in here.items():
        seen = [sample[place] for sample in known if place in sample]
        if not _tells_nothing(seen):
            found += [f"{place} {value}" for value in values if not any(value in one for one in seen)]
    everywhere = set.intersection(*(set(sample) for sample in samples)) if samples else set()
    for place, value in sorted(everywhere):
        if value not in here.get(place, ()) and not _tells_nothing([one.get(place, set()) for one in known]):
            found.append(f"no {place} {value}")
    return found


def _tells_nothing(seen: Sequence[set[str]]) -> bool:
    """Whether finished answers have anything at all at a place: an id, a count, a copy of the text."""
    if len(seen) > 1 and not set.intersection(*seen):
        return True
    counts = any(len(values) > 1 and all(map(_is_number, values)) for values in seen)
    return counts or any(len(values) > MANY for values in seen)


def _is_number(value: str) -> bool:
    return value[:1] in "-0123456789"


def _by_place(look: Look) -> dict[str, set[str]]:
    places: dict[str, set[str]] = {}
    for place, value in look:
        places.setdefault(place, set()).add(value)
    return places
