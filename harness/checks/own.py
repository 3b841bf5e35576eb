"""OWN: what the caller handed in is the caller's."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Run
from .base import Finding, broken, check, held


@check("OWN-1")
def what_was_handed_in_is_the_same_afterwards(run: Run) -> Iterator[Finding]:
    """Compared with itself by whoever called the loop, where that could be done."""
    for turn in run.turns:
        ended = turn.ended
        if ended is None or ended.changed is None:
            continue
        if ended.changed:
            yield broken(
                expected="What was handed to the loop is as it was when the loop has returned.",
                happened=f"Changed in place: {', '.join(ended.changed[:3])}.",
                evidence="outcome",
                turn=turn,
            )
        elif ended.appended:
            yield broken(
                expected="The list of messages that was handed in is as long as it was.",
                happened=f"{ended.appended} messages were appended to it.",
                evidence="outcome",
                turn=turn,
                level="SHOULD",  # a way to hand out what was said, for who documents it
            )
        else:
            yield held("outcome", turn=turn)
