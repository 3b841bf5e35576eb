"""BOUND: a turn ends, and not with a crash where it could have ended well."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import FINAL, Exchange, Run, TurnView
from ..history import Ended, Overran
from .base import Finding, broken, check, count, held, request, unclear

_TOO_LATE = 1.0
"""Seconds of lateness of the machine beyond which a deadline says nothing about the loop."""

_LONG = 1.0
"""Seconds of waiting for one answer or tool that count as waiting for it."""


@check("BOUND-1")
def a_turn_ends(run: Run) -> Iterator[Finding]:
    """The loop returned or raised in time; what it raised was not a crash."""
    for turn in run.turns:
        if isinstance(turn.outcome, Overran):
            yield _overran(turn, turn.outcome)
        elif isinstance(turn.outcome, Ended):
            yield _crashed(turn, turn.outcome) or held("outcome", turn=turn)


def _overran(turn: TurnView, outcome: Overran) -> Finding:
    late = turn.run.finished.lateness if turn.run.finished else 0.0
    if late > _TOO_LATE:
        return unclear(f"the machine was {late:.1f} s late itself", turn=turn, evidence="outcome")
    waiting = _waited_for_others(turn, outcome.at)
    if waiting and turn.caps.wall_clock is None:
        return unclear(f"{waiting}, and the loop has no wall-clock budget that we know of", turn=turn)
    if waiting.startswith("the tool"):
        return unclear(f"{waiting}, which TOOL-9 is about", turn=turn)
    last = turn.last
    where = f"its last was {request(last)}" if last else "it made none"
    return broken(
        expected=f"The turn ends within {outcome.deadline:g} s.",
        happened=f"The loop had neither returned nor raised after {outcome.deadline:g} s and was stopped. "
        f"It had made {count(len(turn.rounds), 'request')}; {where}."
        + (f" It stood at {outcome.stood}" if outcome.stood else ""),
        evidence="outcome",
        turn=turn,
        exchange=last,
    )


def _waited_for_others(turn: TurnView, at: float) -> str:
    """What kept the turn that is not the loop: a scripted tool that hangs, an answer that never ends.

    A loop that asks without end is always waiting, but never for long.
    """
    hanging = [tool for tool in turn.tools if tool.ended is None and at - tool.started.at > _LONG]
    if hanging:
        return f"the tool {hanging[0].name} was still running"
    last = turn.last
    unanswered = last is not None and (
        last.answer is None
        or (last.delivered is None and last.broken is None)
        or (last.broken is not None and last.broken.how == "silence")
    )
    if last is not None and unanswered and at - last.first_at > _LONG:
        return f"{request(last)} was still being answered"
    return ""


def _crashed(turn: TurnView, ended: Ended) -> Finding | None:
    raised, last = ended.raised, turn.last
    if raised is None or turn.declared_status is not None or last is None:
        return None
    if turn.ended_by_hook or not _could_end_well(turn, last, ended.at):
        return None
    meant = _gave_no_answer(last) and not turn.slipped
    return broken(
        expected=f"The turn ends well after the reply to {request(last)}, which stopped for "
        f"`{last.stop_reason}`.",
        happened=f"The loop raised {raised.type}: {raised.message}"
        + (" (nothing declares that it is meant)" if meant else ""),
        evidence="outcome",
        turn=turn,
        exchange=last,
        level="SHOULD" if meant else None,
        advice=f"If the exception is meant, declare it: `raises: {{{raised.type}: failed}}`."
        if meant
        else "Find out what raised; the reply itself is one the API sends every day.",
    )


def _gave_no_answer(last: Exchange) -> bool:
    """Whether a loop may fail the turn for this reply: a call nobody waits for, or thoughts alone."""
    return bool(last.calls) or (bool(last.content) and not any(text.strip() for text in last.texts))


def _could_end_well(turn: TurnView, last: Exchange, at: float) -> bool:
    """Nothing was in the way: no cancellation, no limit, no tool that failed, and the model was done."""
    budget = turn.began.limits.get("wall_clock") or turn.caps.wall_clock
    in_time = budget is None or at - turn.began.at < budget
    return (
        in_time
        and last.stop_reason in FINAL
        and not turn.cancels
        and not any(tool.failed for tool in turn.tools)
        and all(one.kind == "reply" and one.whole for one in turn.rounds)
    )
