"""CAP, second part: what a turn waits for within its time."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Exchange, Run, TurnView
from .base import Finding, broken, check, held, named, note
from .cancel import PROMPTLY


@check("CAP-6")
def no_call_outlasts_the_budget(run: Run) -> Iterator[Finding]:
    """Told by a call that was still under way when the time was up; else by the timeout its client names."""
    for turn in run.turns:
        budget = turn.caps.wall_clock
        if budget is None or turn.cancels or turn.crash is not None:
            continue
        for one in turn.exchanges:
            left = turn.began.at + budget - one.seen.at
            if left > 0:
                yield from _bounded(turn, one, budget, left)


def _bounded(turn: TurnView, one: Exchange, budget: float, left: float) -> Iterator[Finding]:
    slack = turn.run.began.startup + turn.run.slack
    free = _let_go(turn, one)
    if free is None or free - one.seen.at > left + slack + PROMPTLY:
        waited = "to the end" if free is None else f"{free - one.seen.at:.2f} s"
        yield broken(
            expected=f"{named(one)} is given up when the {budget:g} s are over, {left:.2f} s after it came.",
            happened=f"The loop waited {waited}.",
            exchange=one,
        )
    elif _given_up(one) or (one.timeout is not None and one.timeout <= left + slack):
        yield held(exchange=one)
    elif one.timeout is not None:
        yield note(
            f"the client's timeout is {one.timeout:g} s, where {left:.2f} s of the turn were left",
            exchange=one,
        )


def _let_go(turn: TurnView, one: Exchange) -> float | None:
    """Seconds at which the loop no longer waited for this call."""
    ends = [event.at for event in (one.delivered, one.broken) if event is not None]
    ends += [turn.ended_at] if turn.ended is not None and turn.ended_at is not None else []
    return min(ends, default=None)


def _given_up(one: Exchange) -> bool:
    return one.delivered is None and (one.broken is None or one.broken.by == "client")
