"""TRUNC: a reply that `max_tokens` cut."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Exchange, Run, TurnView
from ..wire.same import Json, brief
from .base import Finding, broken, check, held, named, request, unclear
from .failing import same_conversation
from .tool_runs import not_asked_for

CUT = "max_tokens"


@check("TRUNC-1")
def a_cut_reply_is_marked(run: Run) -> Iterator[Finding]:
    """Where the turn ends on a cut reply, it is not presented as finished."""
    for turn, cut in ends_on(run, CUT):
        yield marked(turn, cut)


def ends_on(run: Run, *reasons: str) -> Iterator[tuple[TurnView, Exchange]]:
    """The turns that ended by themselves on a reply that stopped for one of `reasons`."""
    for turn, last in run.stopped(*reasons):
        if turn.last is last and turn.ended is not None and not turn.cancels:
            yield turn, last


def marked(turn: TurnView, last: Exchange) -> Finding:
    """Whether the outcome says that this reply was no finished answer."""
    if turn.error_mark is None:
        return unclear("the loop told neither a status nor what it showed", exchange=last)
    if turn.error_mark:
        return held("outcome", exchange=last)
    shown = " / ".join(one.text for one in turn.shown or []) or "nothing"
    return broken(
        expected="A status other than completed, a message marked as an error, words of the loop's own, or "
        "an exception.",
        happened=f"The reply to {request(last)} stopped for `{last.stop_reason}`, and the turn ended as "
        f"{turn.ending}, showing: {brief(shown)}",
        evidence="outcome",
        exchange=last,
    )


@check("TRUNC-2")
def a_cut_reply_stops_or_is_continued_properly(run: Run) -> Iterator[Finding]:
    """Stopping is always right; going on has documented ways, and should be declared."""
    for turn, cut in run.stopped(CUT):
        if cut.next is None:
            if turn.ended is not None:
                yield held(exchange=cut)
            continue
        wrong = _wrong_way(cut, cut.next)
        policy = run.policy("on_max_tokens")
        if wrong:
            yield broken(
                expected="The turn stops; or it goes on with a higher limit, or with a user message.",
                happened=f"{named(cut.next)} {wrong}.",
                exchange=cut.next,
            )
        elif policy == "continue":
            yield held(exchange=cut.next)
        else:
            yield broken(
                expected=f"The turn stops after the reply to {request(cut)}, or declares that it goes on.",
                happened=f"{named(cut.next)} went on after a cut reply.",
                exchange=cut.next,
                level=None if policy else "SHOULD",
                advice=""
                if policy
                else "If that is meant, declare it: `policies: {on_max_tokens: continue}`.",
            )


def _wrong_way(cut: Exchange, later: Exchange) -> str | None:
    before, after = cut.body.get("max_tokens"), later.body.get("max_tokens")
    if isinstance(before, int) and isinstance(after, int) and after > before:
        return None
    if same_conversation(cut, later):
        return "sends the same conversation again, with the same limit"
    if later.pieces and later.pieces[-1].role == "assistant":
        return "ends with the cut reply, as a prefill that current models do not take"
    return None


@check("TRUNC-3")
def a_cut_reply_is_reported(run: Run) -> Iterator[Finding]:
    """The loop's owner is told: by a report, or by an exception."""
    for turn, cut in ends_on(run, CUT):
        if turn.reports:
            yield held("hook", exchange=cut)
        elif turn.ended is not None and turn.ended.raised is not None:
            yield held("outcome", exchange=cut)
        else:
            yield broken(
                expected=f"A report that the reply to {request(cut)} was cut.",
                happened=f"The reply to {request(cut)} was cut, and nothing was reported.",
                evidence="hook",
                exchange=cut,
            )


@check("TRUNC-4")
def a_cut_call_leaves_no_trace(run: Run) -> Iterator[Finding]:
    """The call that was cut does not run, and is in no later request."""
    for turn, cut in run.stopped(CUT):
        call = cut.content[-1] if cut.content else {}
        if call.get("type") != "tool_use":
            continue
        problems = [*_ran(turn, cut), *_kept(turn, cut, call)]
        if problems:
            yield from problems
        elif cut.next is not None or (turn.following and turn.following.rounds):
            yield held(exchange=cut)
        elif run.exposed("tools"):
            yield held("hook", exchange=cut)


def _ran(turn: TurnView, cut: Exchange) -> Iterator[Finding]:
    for one in not_asked_for(turn, cut):
        yield broken(
            expected=f"No tool runs for the reply to {request(cut)}: it was cut in the middle of a call.",
            happened=f"{one.name} ran with {brief(one.started.input)}.",
            evidence="hook",
            exchange=cut,
        )


def _kept(turn: TurnView, cut: Exchange, call: Json) -> Iterator[Finding]:
    for later in later_requests(turn, cut):
        for piece in later.pieces:
            if piece.type == "tool_use" and piece.block.get("id") == call.get("id"):
                yield broken(
                    expected=f"The call {call.get('id')}, which was cut, is in no later request.",
                    happened=f"{named(later)} has the cut call: {brief(piece.block)} ({piece.path}).",
                    exchange=later,
                    block=piece.index,
                )
                return


def later_requests(turn: TurnView, exchange: Exchange) -> Iterator[Exchange]:
    """The conversation requests after this one, in this turn and the ones that follow."""
    for one in turn.rounds:
        if one.number > exchange.number:
            yield one
    for after in turn.run.turns[turn.index + 1 :]:
        yield from after.rounds
