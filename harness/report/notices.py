"""What no clause asks about and a loop's owner should know: hosts it asked for, what it left running."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..history import AnyEvent, Exited, Noted
from .lines import Line, labelled, listed

_SAYINGS = {
    "elsewhere": "{} was asked for, and not let through: nothing but the API is reached from here",
    "left": "left running when its process had ended, and stopped: {}",
    "lingered": "{}",
    "twice": "{}",
    "open": "{}",
}


def remarks_on(events: Sequence[AnyEvent]) -> list[list[str]]:
    """Pairs of what kind of thing was noticed, and which; as JSON types."""
    found: dict[tuple[str, str], None] = {}
    for event in events:
        if isinstance(event, Noted) and event.kind in _SAYINGS:
            found[event.kind, event.detail] = None
        elif isinstance(event, Exited):
            found.update(dict.fromkeys(("left", command) for command in event.left))
    return [list(pair) for pair in found]


def notice_lines(cases: Sequence[tuple[str, Sequence[Sequence[str]]]]) -> Iterator[Line]:
    """Each thing once, with the cases it was noticed in."""
    found: dict[tuple[str, str], list[str]] = {}
    for case, remarks in cases:
        for kind, detail in remarks:
            found.setdefault((kind, detail), []).append(case)
    for (kind, detail), names in found.items():
        text = f"{_SAYINGS[kind].format(detail)} (in {listed(names, 2)})"
        yield from labelled("noticed", text, indent=0, column=14)
