"""BASE: requests go where they were told to.

That a host was asked for says little: telemetry goes to the API's own host, too. Broken is only what was seen
to be a request for the Messages API; a host alone leaves it open.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Run
from .base import Finding, broken, check, held

API = "api.anthropic.com"
"""Where clients go that were told nothing."""


@check("BASE-1")
def every_request_goes_to_the_base_url(run: Run) -> Iterator[Finding]:
    """Judged where it is seen whom else the loop asks."""
    if not run.began.watched:
        return
    for turn in run.turns:
        asked = [note.detail for note in turn.notes if note.kind == "api"]
        if asked:
            yield broken(
                expected="All requests of the turn come to the base URL that it was given.",
                happened=f"{asked[0][0].upper()}{asked[0][1:]}.",
                turn=turn,
                exchange=turn.last,
            )
        elif turn.last is not None and not any(_is_open(note.kind, note.detail) for note in turn.notes):
            yield held(turn=turn, exchange=turn.last)


def _is_open(kind: str, place: str) -> bool:
    """Whether the API's own host was asked for, for whatever it was."""
    return kind == "elsewhere" and place.partition(":")[0].lower() == API
