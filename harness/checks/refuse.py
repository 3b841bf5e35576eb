"""REFUSE: the model declined."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..evidence import SLIPS, Exchange, Run, TurnView
from ..wire.same import Piece, blocks, brief, is_blank
from .base import Finding, broken, check, held, named, request, unclear
from .tool_runs import not_asked_for
from .trunc import ends_on, later_requests

REFUSED = "refusal"
_SAYS_SO = re.compile(r"refus|declin|safety|polic|moderat", re.IGNORECASE)
_SLIPS = SLIPS | {"IndexError", "KeyError"}
_TELLING = 12
"""Characters of a partial output that are no chance when they turn up again inside another text."""


@check("REFUSE-1")
def a_refusal_is_not_sent_again(run: Run) -> Iterator[Finding]:
    """The turn stops; another model may be asked where that is declared."""
    for turn, refused in run.stopped(REFUSED):
        if refused.next is None:
            if turn.ended is not None:
                yield held(exchange=refused)
        else:
            yield _asked_again(run, refused, refused.next)


def _asked_again(run: Run, refused: Exchange, later: Exchange) -> Finding:
    before, after = refused.body.get("model"), later.body.get("model")
    other_model = before != after
    policy = run.policy("on_refusal")
    if other_model and policy == "fallback":
        return held(exchange=later)
    undeclared = other_model and policy is None
    to = f"another model ({brief(after)})" if other_model else "the same model"
    return broken(
        expected=f"No request after the refusal that answered {request(refused)}.",
        happened=f"{named(later)} asked {to} after a refusal.",
        exchange=later,
        level="SHOULD" if undeclared else None,
        advice="If that is meant, declare it: `policies: {on_refusal: fallback}`." if undeclared else "",
    )


@check("REFUSE-2")
def the_user_is_told_of_the_refusal(run: Run) -> Iterator[Finding]:
    """A status of its own, or something on the screen that the model did not say."""
    for turn, refused in ends_on(run, REFUSED):
        raised = turn.ended.raised if turn.ended else None
        says_so = raised is not None and _SAYS_SO.search(f"{raised.type} {raised.message}") is not None
        slip = _stumbled(turn)
        if turn.status == "refused" or says_so or (turn.shown_mark and slip is None):
            yield held("outcome", exchange=refused)
        elif turn.status is None and turn.shown_mark is None:
            yield unclear("the loop told neither a status nor what it showed", exchange=refused)
        else:
            shown = " / ".join(one.text for one in turn.shown or []) or "nothing"
            how = (
                f"raised {raised.type}: {raised.message}" if raised else f"ended as {turn.status or 'usual'}"
            ) + (f" for {slip}" if slip else "")
            yield broken(
                expected="The status refused, or words of the loop's own that say that the model declined.",
                happened=f"The turn {how}, showing: {brief(shown)}",
                evidence="outcome",
                exchange=refused,
            )


def _stumbled(turn: TurnView) -> str | None:
    """The slip of the program that the turn failed with, where nothing shown speaks of a refusal."""
    slips = [one for one in turn.reports if one.exception in _SLIPS]
    told = any(_SAYS_SO.search(one.text) for one in turn.shown or [])
    return slips[0].exception if slips and turn.status == "failed" and not told else None


@check("REFUSE-3")
def a_refusal_is_no_fault(run: Run) -> Iterator[Finding]:
    """Neither the error channel nor the status calls it one; an exception made for refusals does not."""
    for turn, refused in ends_on(run, REFUSED):
        happened = _called_a_fault(turn)
        if happened is None:
            if turn.run.exposed("report"):
                yield held("hook", exchange=refused)
            elif turn.status is not None:
                yield held("outcome", exchange=refused)
            else:
                yield unclear("the loop told no status", exchange=refused)
            continue
        yield broken(
            expected="A refusal has a status or an exception of its own, and is not reported as a problem.",
            happened=happened,
            evidence="hook" if turn.reports else "outcome",
            exchange=refused,
        )


def _called_a_fault(turn: TurnView) -> str | None:
    for report in turn.reports:
        # An exception is known by its class: a RuntimeError is a fault whatever it says.
        name = report.problem if report.exception is None else report.exception
        if not _SAYS_SO.search(name):
            kind = f"{report.exception}: " if report.exception else ""
            return f"The loop reported {brief(kind + report.problem)}"
    raised = turn.ended.raised if turn.ended else None
    if raised is not None:
        named_for_it = any(_SAYS_SO.search(name) for name in (raised.type, *raised.bases))
        dedicated = named_for_it or turn.declared_status == "refused"
        return None if dedicated else f"The loop raised {raised.type}: {raised.message}"
    return "The outcome's status is failed." if turn.status == "failed" else None


@check("REFUSE-4")
def a_refused_turn_does_not_poison_the_next(run: Run) -> Iterator[Finding]:
    """Nothing of the refused reply is in a later request; what was refused should not be there either."""
    for turn, refused in run.stopped(REFUSED):
        later = list(later_requests(turn, refused))
        if not later:
            continue
        problem = next((found for one in later if (found := _poisoned(refused, one))), None)
        yield problem or _not_reset(turn, refused) or held(exchange=later[0])


def _not_reset(turn: TurnView, refused: Exchange) -> Finding | None:
    """What the model declined, asked again word for word beside the next message."""
    nexts = next((after.rounds for after in turn.run.turns[turn.index + 1 :] if after.rounds), [])
    again = next(iter(nexts), None)
    if again is None or again.body.get("model") != refused.body.get("model"):
        return None
    asked = _last_words(refused)
    # The newest piece is the user's own: who asks the same once more may.
    kept = {piece.key: piece for piece in again.pieces[:-1]}
    if not asked or any(piece.key not in kept for piece in asked):
        return None
    first = kept[asked[0].key]
    return broken(
        expected=f"A history without what {request(refused)} was refused for, or with other words for it.",
        happened=f"{named(again)} says it again as it was: {brief(first.block)} ({first.path}).",
        exchange=again,
        block=first.index,
        level="SHOULD",
        advice="Take the whole refused turn out of the history, the user's message included, or start anew.",
    )


def _last_words(refused: Exchange) -> list[Piece]:
    """What the user's side said last in a request."""
    said = refused.pieces
    start = max((number for number, piece in enumerate(said, 1) if piece.role == "assistant"), default=0)
    return [piece for piece in said[start:] if piece.role == "user"]


def _poisoned(refused: Exchange, later: Exchange) -> Finding | None:
    empty = next((n for n, message in enumerate(later.transcript) if _is_empty(message)), None)
    if empty is not None:
        return broken(
            expected="No assistant message that is empty.",
            happened=f"{named(later)} has an empty assistant message at messages[{empty}].",
            exchange=later,
        )
    for piece in later.pieces:
        if piece.role == "assistant" and any(_is_of(piece, own) for own in refused.reply_pieces):
            return broken(
                expected=f"Nothing of the refused reply to {request(refused)}.",
                happened=f"{named(later)} has what was refused: {brief(piece.block)} ({piece.path}).",
                exchange=later,
                block=piece.index,
            )
    return None


def _is_empty(message: object) -> bool:
    return (
        isinstance(message, dict)
        and message.get("role") == "assistant"
        and all(is_blank(block) for block in blocks(message.get("content")))
    )


def _is_of(piece: Piece, own: Piece) -> bool:
    if piece.key == own.key:
        return True
    text, part = piece.block.get("text"), own.block.get("text")
    return isinstance(text, str) and isinstance(part, str) and len(part) >= _TELLING and part in text


@check("REFUSE-5")
def refused_calls_do_not_run(run: Run) -> Iterator[Finding]:
    """A call inside refused output is left alone."""
    for turn, refused in run.stopped(REFUSED):
        if not refused.calls:
            continue
        ran = not_asked_for(turn, refused)
        if not ran:
            yield held("hook", exchange=refused)
        for one in ran:
            yield broken(
                expected=f"No tool runs for the refused reply to {request(refused)}.",
                happened=f"{one.name}, called in refused output, ran with {brief(one.started.input)}.",
                evidence="hook",
                exchange=refused,
            )
