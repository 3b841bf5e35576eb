"""CAP: two limits, requests and time, and both can be seen to bind."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import GOING_ON, Exchange, Run, TurnView
from .base import Finding, broken, check, count, held, request, unclear

ENDLESS = 60
"""Requests within which a turn has to end where no cap is known."""


@check("CAP-1")
def the_iteration_cap_binds(run: Run) -> Iterator[Finding]:
    """No turn makes more requests than its cap; without a known one, an endless script still ends."""
    for turn in run.turns:
        rounds, cap = _iterations(turn), turn.caps.iterations
        if cap is not None:
            if len(rounds) > cap:
                yield _too_many(turn, rounds[int(cap)], f"At most {cap:.0f} requests in a turn.")
            elif len(rounds) == cap:
                yield held(turn=turn, exchange=rounds[-1])
        elif len(rounds) > ENDLESS:
            yield _too_many(turn, rounds[ENDLESS], f"An end within {ENDLESS} requests; no cap is known.")
        elif _script_is_endless(turn) and turn.ended is not None and not turn.cancels:
            yield held(turn=turn, exchange=turn.last)


@check("CAP-2")
def hitting_the_iteration_cap_is_told(run: Run) -> Iterator[Finding]:
    """A report, or an outcome that is not that of a finished answer."""
    for turn in run.turns:
        cap = turn.caps.iterations
        if cap is not None and len(_iterations(turn)) >= cap and _stopped_half_way(turn):
            yield _told(turn, f"its cap of {count(int(cap), 'request')}")


@check("CAP-3")
def the_time_budget_binds(run: Run) -> Iterator[Finding]:
    """No request starts after the turn's time is up."""
    for turn in run.turns:
        budget = turn.caps.wall_clock
        if budget is None:
            continue
        late = _first_late(turn, budget)
        if late is not None:
            yield broken(
                expected=f"No request after {budget:g} s.",
                happened=f"{request(late).capitalize()} came {_since(turn, late.first_at):.2f} s after the "
                f"turn began.",
                exchange=late,
            )
        elif _time_was_up(turn):
            yield held(turn=turn, exchange=turn.last)


@check("CAP-4")
def running_out_of_time_is_told(run: Run) -> Iterator[Finding]:
    """A report, or an outcome that is not that of a finished answer."""
    for turn in run.turns:
        budget, cap = turn.caps.wall_clock, turn.caps.iterations
        other_cap = cap is not None and len(_iterations(turn)) >= cap
        if budget is not None and _time_was_up(turn) and _stopped_half_way(turn) and not other_cap:
            yield _told(turn, f"its budget of {budget:g} s")


@check("CAP-5")
def the_first_cap_wins(run: Run) -> Iterator[Finding]:
    """Of two caps in force, the one that is reached first ends the turn."""
    for turn in run.turns:
        cap, budget = turn.caps.iterations, turn.caps.wall_clock
        if cap is None or budget is None:
            continue
        rounds, late = _iterations(turn), _first_late(turn, budget)
        # One request more is enough to see which cap was passed over, and which of both came first.
        over = rounds[int(cap)] if len(rounds) > cap else None
        passed = min((one for one in (over, late) if one), key=lambda one: one.first_at, default=None)
        if passed is not None:
            first = f"{cap:.0f} requests" if passed is over else f"{budget:g} s"
            yield broken(
                expected=f"Of {cap:.0f} requests and {budget:g} s, {first} come first and end the turn.",
                happened=f"{request(passed).capitalize()} was made all the same, "
                f"{_since(turn, passed.first_at):.2f} s after the turn began.",
                exchange=passed,
            )
        elif _stopped_half_way(turn) and (len(rounds) == cap or _time_was_up(turn)):
            yield held(turn=turn, exchange=turn.last)


@check("CAP-7")
def pauses_and_tools_count_alike(run: Run) -> Iterator[Finding]:
    """Of a turn with both, the sum is what the cap is about."""
    for turn in run.turns:
        cap = turn.caps.iterations
        if cap is None:
            continue
        rounds = _iterations(turn)
        allowed = rounds[: int(cap)]
        if not {"pause_turn", "tool_use"} <= {one.stop_reason for one in allowed}:
            continue
        if len(rounds) > cap:
            pauses = sum(one.stop_reason == "pause_turn" for one in allowed)
            yield broken(
                expected=f"{cap:.0f} requests at most, those among them that paused.",
                happened=f"{request(rounds[int(cap)]).capitalize()} followed {cap:.0f} others, of which "
                f"{pauses} had paused.",
                exchange=rounds[int(cap)],
            )
        elif len(rounds) == cap:
            yield held(exchange=rounds[-1])


def _iterations(turn: TurnView) -> list[Exchange]:
    """The requests that count: those the API did not turn down as invalid."""
    return [one for one in turn.rounds if one.kind != "rejected"]


def _too_many(turn: TurnView, first: Exchange, expected: str) -> Finding:
    return broken(
        expected=expected,
        happened=f"{request(first).capitalize()} is one too many; the turn made {len(turn.rounds)}.",
        exchange=first,
    )


def _script_is_endless(turn: TurnView) -> bool:
    return turn.script is not None and any(step.repeat == "forever" for step in turn.script.script)


def _since(turn: TurnView, at: float) -> float:
    return at - turn.began.at


def _first_late(turn: TurnView, budget: float) -> Exchange | None:
    """The first request that started when the time was up, start-up and slack allowed for."""
    limit = budget + turn.run.began.startup + turn.run.slack
    return next((one for one in turn.rounds[1:] if _since(turn, one.first_at) > limit), None)


def _time_was_up(turn: TurnView) -> bool:
    budget, ended = turn.caps.wall_clock, turn.ended_at
    return budget is not None and ended is not None and _since(turn, ended) >= budget


def _stopped_half_way(turn: TurnView) -> bool:
    """Whether the loop ended the turn although the last reply asks for more."""
    last = turn.last
    if turn.ended is None or turn.cancels or last is None:
        return False
    # What never came to its end is no answer either: the loop gave up waiting for it.
    unanswered = last.answered_at is None
    return unanswered or last.stop_reason in GOING_ON


def _told(turn: TurnView, limit: str) -> Finding:
    if turn.reports:
        return held("hook", turn=turn, exchange=turn.last)
    if turn.error_mark:
        return held("outcome", turn=turn, exchange=turn.last)
    if turn.error_mark is None and not turn.run.exposed("report"):
        return unclear("the loop tells neither a status nor what it showed", turn=turn)
    return broken(
        expected=f"A report, or an outcome that says that the turn was ended by {limit}.",
        happened=f"The turn ended as {turn.ending}, and nothing was reported.",
        evidence="outcome",
        turn=turn,
        exchange=turn.last,
    )
