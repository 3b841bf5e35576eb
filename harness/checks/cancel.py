"""CANCEL: the user presses stop."""

from __future__ import annotations

from collections.abc import Iterator

from ..clauses import Level
from ..evidence import Exchange, Run, ToolRun, TurnView
from ..history import Overran, Raised
from .base import Finding, broken, check, held, request, unclear
from .hist_requests import error_text

PROMPTLY = 1.0
"""Seconds in which the outcome follows, beside the slack."""
SIGNALLED = "the loop went on while the signal was on its way to it"


@check("CANCEL-1")
def nothing_is_asked_after_a_cancellation(run: Run) -> Iterator[Finding]:
    """No request starts; a client's retry of one that was under way is none."""
    for turn, at in _cancelled(run):
        late = next((one for one in turn.rounds if one.first_at > at + turn.notice), None)
        if late is None:
            yield held(turn=turn)
        elif _on_its_way(turn, late.first_at - at) and not _cut_off(turn, at, late):
            yield unclear(SIGNALLED, turn=turn, exchange=late)
        else:
            yield broken(
                expected=f"No request after the cancellation ({turn.cancels[0].point}).",
                happened=f"{request(late).capitalize()} came {late.first_at - at:.2f} s after the "
                "cancellation.",
                turn=turn,
                exchange=late,
            )


@check("CANCEL-2")
def a_cancelled_turn_lets_go_of_the_provider(run: Run) -> Iterator[Finding]:
    """The connection is closed by the client; a request that has failed is neither waited for nor repeated.

    Who blocks on a whole reply cannot see a flag, so it counts only where it was promised (`at_once`) or
    where the cancellation came as an exception.
    """
    level: Level = "MUST" if run.policy("cancel") == "at_once" else "SHOULD"
    for turn, at in _cancelled(run):
        under_way = [one for one in turn.exchanges if one.seen.at <= at < _over(one)]
        if under_way:
            one = under_way[-1]
            streams = one.answer is not None and one.answer.stream and one.answer.at <= at
            if streams or turn.interrupted or level == "MUST":
                yield _let_go(turn, one, at, level)
        elif (failed := _failed_before(turn, at)) is not None:
            yield _given_up(turn, failed, at, level)


@check("CANCEL-3")
def no_tool_starts_after_a_cancellation(run: Run) -> Iterator[Finding]:
    """Cancelled while a tool runs: the others are skipped, and the outcome follows."""
    for turn, at in _cancelled(run):
        running = [tool for tool in turn.tools if tool.started.at <= at and _end(tool) > at]
        if turn.cancels[0].point.startswith("after tool "):
            running += [tool for tool in turn.tools if _end(tool) <= at][-1:]
        if not running:
            continue
        started = next((tool for tool in turn.tools if _started_later(tool, running, at, run.slack)), None)
        if started is not None and _on_its_way(turn, started.started.at - at):
            yield unclear(SIGNALLED, evidence="hook", turn=turn)
        elif started is not None:
            yield broken(
                expected=f"No further tool after the cancellation ({turn.cancels[0].point}).",
                happened=f"{started.name} started {started.started.at - at:.2f} s after the cancellation.",
                evidence="hook",
                turn=turn,
            )
        else:
            yield _prompt(turn, at, running)


@check("CANCEL-4")
def the_outcome_says_cancelled(run: Run) -> Iterator[Finding]:
    """Neither failed nor finished, unless the turn had come to its end by itself."""
    for turn, _ in _cancelled(run):
        if turn.ended is None:
            continue
        if turn.status == "cancelled":
            yield held("outcome", turn=turn)
        elif turn.ended_by_reply:
            # The last reply was on its way already, and ended the turn in its own way.
            yield unclear("the turn came to its own end when it was cancelled", evidence="outcome", turn=turn)
        elif turn.ended.raised is not None or turn.status is not None:
            yield _not_cancelled(turn, turn.ended.raised)
        else:
            yield unclear("the outcome has no status", evidence="outcome", turn=turn)


def _not_cancelled(turn: TurnView, raised: Raised | None) -> Finding:
    what = f"raised {raised.type}: {raised.message}" if raised else f"says {turn.status}"
    return broken(
        expected="An outcome with the status cancelled.",
        happened=f"The loop {what}.",
        evidence="outcome",
        turn=turn,
        advice=f"Declare what it stands for: `raises: {{{raised.type}: cancelled}}`." if raised else "",
    )


@check("CANCEL-5")
def the_turn_after_a_cancelled_one_works(run: Run) -> Iterator[Finding]:
    """It asks, is not turned down, and is not cancelled too."""
    for turn, _ in _cancelled(run):
        following = turn.following
        if following is None or following.outcome is None or following.cancels:
            continue
        first = following.exchanges[0] if following.exchanges else None
        problem = None
        if first is None:
            problem = "It made no request."
        elif first.kind == "rejected":
            problem = f"{request(first).capitalize()} is rejected: {error_text(first)}"
        elif following.status == "cancelled":
            problem = "It ended as cancelled."
        if problem is None:
            yield held(turn=following, exchange=first)
        else:
            yield broken(
                expected=f"Turn {following.number} works as if the turn before had not been cancelled.",
                happened=problem,
                turn=following,
                exchange=first,
            )


def _cancelled(run: Run) -> Iterator[tuple[TurnView, float]]:
    """Each cancelled turn, and when; what the user did after the end of it is no cancellation."""
    for turn in run.turns:
        at = turn.cancelled_at
        if at is not None and (turn.ended is None or at <= turn.ended.at):
            yield turn, at


def _on_its_way(turn: TurnView, later: float) -> bool:
    """Whether a signal stopped the turn, which a program may not have noticed `later` seconds after it."""
    return turn.cancels[0].via in ("interrupt", "signal") and later <= turn.run.slack


def _cut_off(turn: TurnView, at: float, later: Exchange) -> bool:
    """Whether the signal had arrived: a tool was at work that never came to its end."""
    at_work = [tool for tool in turn.tools if tool.started.at <= at < _end(tool)]
    return any(_end(tool) > later.first_at or (tool.ended and tool.ended.abandoned) for tool in at_work)


def _over(one: Exchange) -> float:
    """Seconds at which nothing more was to come."""
    ends = [event.at for event in (one.delivered, one.broken) if event]
    return min(ends, default=float("inf"))


def _let_go(turn: TurnView, one: Exchange, at: float, level: Level) -> Finding:
    """Who closed the connection that was open when the turn was cancelled, and when."""
    waited = _over(one) - at
    late = waited > PROMPTLY + turn.run.slack
    if one.broken is not None and one.broken.by == "client" and not late:
        return held(turn=turn, exchange=one)
    if not late:
        return unclear(f"the answer to {request(one)} was over by itself", turn=turn, exchange=one)
    how = "let it come to its end" if one.delivered else "kept it open"
    return broken(
        expected=f"The connection closed within {PROMPTLY:g} s of {_stop(turn)}.",
        happened=f"The loop {how}, for {waited:.2f} s." if waited < float("inf") else f"The loop {how}.",
        turn=turn,
        exchange=one,
        level=level,
    )


def _stop(turn: TurnView) -> str:
    return f"the cancellation ({turn.cancels[0].point})"


def _failed_before(turn: TurnView, at: float) -> Exchange | None:
    """The request that had failed, and might have been sent again, when the turn was cancelled."""
    before = [one for one in turn.exchanges if one.seen.at <= at]
    return before[-1] if before and before[-1].invites_retry else None


def _given_up(turn: TurnView, failed: Exchange, at: float, level: Level) -> Finding:
    again = next((one for one in failed.attempts if one.seen.at > at), None)
    waited = (turn.ended_at or at) - at
    if again is not None:
        happened = (
            f"It was sent again as {request(again)}, {again.seen.at - at:.2f} s after the cancellation."
        )
    elif waited > PROMPTLY + turn.run.slack:
        happened = f"The outcome came {waited:.2f} s after the cancellation."
    else:
        return held(turn=turn, exchange=failed)
    return broken(
        expected=f"{request(failed).capitalize()}, which had failed, given up when the turn was cancelled.",
        happened=happened,
        turn=turn,
        exchange=again or failed,
        level=level,
    )


def _end(tool: ToolRun) -> float:
    return tool.ended.at if tool.ended else float("inf")


def _started_later(tool: ToolRun, running: list[ToolRun], at: float, slack: float) -> bool:
    """Whether a tool was started knowingly: calls of one reply that run side by side start together."""
    if tool.started.at <= at:
        return False
    return tool.started.at >= min(map(_end, running)) or tool.started.at > at + slack


def _prompt(turn: TurnView, at: float, running: list[ToolRun]) -> Finding:
    """Whether the outcome came promptly once what could not be stopped was over."""
    if turn.ended_at is None:
        return unclear("the turn has no outcome", evidence="outcome", turn=turn)
    ends = [_end(tool) for tool in running]
    if isinstance(turn.outcome, Overran) and float("inf") in ends:
        return unclear(f"{running[0].name} was still running at the deadline", evidence="outcome", turn=turn)
    since = max([at, *(end for end in ends if end < float("inf"))])
    waited = turn.ended_at - since
    if waited <= PROMPTLY + turn.run.slack:
        return held("outcome", turn=turn)
    return broken(
        expected=f"The outcome within {PROMPTLY:g} s of the cancellation, or of the end of the running tool.",
        happened=f"The outcome took {waited:.2f} s.",
        evidence="outcome",
        turn=turn,
    )
