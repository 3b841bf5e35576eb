"""Walking over the script in a file's plain values, part by part, each with the place it stands at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard

from .notes import Where

PASSING = (None, "stall", "event", "garbage")
"""What a break is `by` where the reply goes on afterwards; None where nothing sound is written."""


class Part(NamedTuple):
    """A mapping of the file and the keys that lead to it."""

    where: Where
    value: dict[str, Any]


def is_text(value: object) -> TypeGuard[str]:
    """Whether the value is a text."""
    return isinstance(value, str)


def turns_of(values: dict[str, Any]) -> list[Part]:
    """The turns: those under `turns`, or the file itself, which holds the same keys."""
    if "turns" in values:
        return _items(values, "turns")
    return [Part((), values)]


def lanes_of(values: dict[str, Any]) -> list[Part]:
    """The lanes, which hold a script as turns do."""
    return _items(values, "lanes")


def steps(part: Part) -> Iterator[Part]:
    """The steps of a turn or lane."""
    for index, step in enumerate(part.value.get("script") or []):
        if step is not None:
            yield Part((*part.where, "script", index), step)


def replies(part: Part) -> Iterator[Part]:
    """The replies of a turn or lane."""
    for step in steps(part):
        reply = step.value.get("reply")
        if reply is not None:
            yield Part((*step.where, "reply"), reply)


def blocks(part: Part) -> Iterator[Part]:
    """The blocks of a turn's or lane's replies."""
    for reply in replies(part):
        for index, block in enumerate(reply.value.get("content", [])):
            if block is not None:
                yield Part((*reply.where, "content", index), block)


def repeats(step: Part) -> float:
    """How many requests the step answers; infinity for an endless one."""
    times = step.value.get("repeat", 1)
    return math.inf if times == "forever" else float(times)


def requests(part: Part) -> float:
    """How many requests the script answers."""
    return sum(map(repeats, steps(part)))


def breaks_off(reply: dict[str, Any]) -> bool:
    """Whether no client can make a message of the reply."""
    breaks = [each for each in reply.get("breaks") or [] if each]
    return any(each.get("by") not in (None, "stall", "event") and each.get("at") != "done" for each in breaks)


def answering_reply(part: Part, number: int | None) -> Part | None:
    """The reply to the turn's request `number`, or the last one.

    Faults and replies that break off do not count: they are retried.
    """
    found: Part | None = None
    answered = 0.0
    for step in steps(part):
        reply = step.value.get("reply")
        if reply is None or breaks_off(reply):
            continue
        found = Part((*step.where, "reply"), reply)
        answered += repeats(step)
        if number is not None and answered >= number:
            return found
    return found


def _items(values: dict[str, Any], key: str) -> list[Part]:
    """The well-formed items of a list at the top of the file."""
    return [Part((key, index), item) for index, item in enumerate(values.get(key, [])) if item is not None]
