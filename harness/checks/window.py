"""WINDOW: the context window was full before the reply was done."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Run
from .base import Finding, broken, check, held, named, request
from .failing import same_conversation
from .trunc import ends_on, marked

FULL = "model_context_window_exceeded"


@check("WINDOW-1")
def a_full_window_is_truncation(run: Run) -> Iterator[Finding]:
    """It is marked where the turn ends on it, and nothing is sent again unchanged."""
    for turn, full in ends_on(run, FULL):
        yield marked(turn, full)
    for _, full in run.stopped(FULL):
        if full.next is None:
            continue
        if same_conversation(full, full.next):
            yield broken(
                expected=f"The turn stops after the reply to {request(full)}, or the history is shortened.",
                happened=f"{named(full.next)} sends the same conversation again.",
                exchange=full.next,
            )
        else:
            yield held(exchange=full.next)
