"""FAULT-4, 5, 7, 8 and 9: what becomes of a turn whose provider failed."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import FINAL, GOING_ON, Exchange, Run, TurnView
from ..history import Overran
from ..scenario.model import Reply
from ..wire.same import Piece, brief
from .base import Finding, broken, check, held, named, request, unclear
from .failing import after, failures, lost_streams, partial_of, requests, same_conversation
from .trunc import later_requests

_PROMPTLY = 1.0
"""Seconds after the wall clock within which a turn has to be over."""
_SAYS_SO = ("failed", "capped", "cancelled", None)
"""Statuses of a turn that its provider failed; None where it is not told, but marked."""


@check("FAULT-4")
def an_error_event_is_no_end(run: Run) -> Iterator[Finding]:
    """A stream with an error in it is tried again, or the turn says that it failed."""
    for turn, lost in lost_streams(run):
        if lost.broken is not None and lost.broken.how == "error":
            yield from _no_answer(turn, lost, "the stream of the answer held an `error` event")


@check("FAULT-5")
def a_stream_without_its_end_is_no_answer(run: Run) -> Iterator[Finding]:
    """A stream that stopped before its message did is tried again, or the turn says that it failed."""
    for turn, lost in lost_streams(run):
        if lost.broken is not None and lost.broken.how != "error":
            yield from _no_answer(turn, lost, "the stream of the answer ended before its message did")


def _no_answer(turn: TurnView, lost: Exchange, what: str) -> Iterator[Finding]:
    if after(turn, lost):
        yield held(exchange=lost)
        return
    if turn.ended is None or turn.cancels:
        return
    if turn.error_mark is None:
        yield unclear("the loop told neither a status nor what it showed", exchange=lost)
    elif turn.error_mark:
        yield held("outcome", exchange=lost)
    else:
        shown = " / ".join(one.text for one in turn.shown or []) or "nothing"
        yield broken(
            expected=f"{request(lost).capitalize()} is tried again, or the turn is marked as failed: {what}.",
            happened=f"The turn ended as {turn.ending}, showing: {brief(shown)}",
            evidence="outcome",
            exchange=lost,
        )


@check("FAULT-7")
def what_broke_off_is_not_kept_as_if_whole(run: Run) -> Iterator[Finding]:
    """No later request has a part of a broken stream without saying that it is one."""
    for turn, lost in lost_streams(run):
        whole = {piece.key for one in run.turns for each in _whole(one) for piece in each.reply_pieces}
        ids = {call.get("id") for one in run.turns for each in _whole(one) for call in each.calls}
        later = [*after(turn, lost), *_in_later_turns(turn, lost)]
        kept = None
        for one in later:
            pieces = [
                piece
                for piece in one.pieces
                if piece.key not in whole and piece.block.get("id", "") not in ids and partial_of(lost, piece)
            ]
            kept = next((piece for piece in pieces if not _marked(turn, one, piece)), None)
            if kept is not None:
                yield broken(
                    expected=f"Nothing of the reply to {request(lost)}, which broke off; or a mark that says "
                    "so.",
                    happened=f"{named(one)} has at {kept.path}: {brief(kept.block)}",
                    exchange=one,
                    block=kept.index,
                )
                break
        if kept is None and later:
            yield held(exchange=lost)


def _whole(turn: TurnView) -> list[Exchange]:
    return [one for one in requests(turn) if one.reply is not None and not one.lost]


def _in_later_turns(turn: TurnView, lost: Exchange) -> list[Exchange]:
    own = {one.number for one in requests(turn)}
    return [one for one in later_requests(turn, lost) if one.number not in own]


def _marked(turn: TurnView, later: Exchange, piece: Piece) -> bool:
    """Whether words of the loop's own follow a text that broke off, or the model is to go on from it."""
    if piece.type != "text":
        return False
    place = next(number for number, one in enumerate(later.pieces) if one is piece)
    if place + 1 == len(later.pieces):
        return True
    behind = later.pieces[place + 1]
    prompts = [one.prompt for one in turn.run.turns]
    return behind.type == "text" and behind.role == "user" and behind.block.get("text") not in prompts


@check("FAULT-8")
def silence_is_bounded_and_pings_are_waited_for(run: Run) -> Iterator[Finding]:
    """The wall clock ends a turn whose stream says nothing; one that still sends pings is not given up."""
    for turn in run.turns:
        for one in requests(turn):
            if one.broken is not None and one.broken.how == "silence":
                yield from _bounded(turn, one)
            elif _sends_pings(turn, one):
                yield from _waited_for(turn, one)


def _bounded(turn: TurnView, silent: Exchange) -> Iterator[Finding]:
    budget = turn.caps.wall_clock
    if budget is None or turn.cancels or turn.outcome is None:
        return
    took = turn.outcome.at - turn.began.at
    if not isinstance(turn.outcome, Overran) and took <= budget + _PROMPTLY + turn.run.slack:
        yield held(exchange=silent)
        return
    streamed = silent.answer is not None and silent.answer.stream
    what = f"The {'stream of the answer to' if streamed else 'connection of'} {request(silent)}"
    yield broken(
        expected=f"The turn is over after its wall clock of {budget:g} s, whether the answer ends or not.",
        happened=f"{what} fell silent, and the turn "
        + ("had to be stopped." if isinstance(turn.outcome, Overran) else f"took {took:.1f} s."),
        exchange=silent,
    )


def _sends_pings(turn: TurnView, one: Exchange) -> bool:
    """Whether the scenario lets this stream rest for a while, with pings to say that it lives."""
    reply = scripted(turn, one)
    if reply is None or one.answer is None or not one.answer.stream:
        return False
    return any(each.by == "stall" and each.pings for each in reply.breaks) or bool(reply.pings)


def scripted(turn: TurnView, one: Exchange) -> Reply | None:
    """The reply of the script that this request got."""
    step = one.answer.step if one.answer else None
    script = turn.script.script if turn.script else []
    return script[step].reply if step is not None and step < len(script) else None


def _waited_for(turn: TurnView, live: Exchange) -> Iterator[Finding]:
    if live.whole:
        yield held(exchange=live)
    elif given_up(turn, live):
        yield broken(
            expected=f"The stream of the answer to {request(live)} is read to its end: it sends pings.",
            happened="The loop closed the connection while the stream was alive.",
            exchange=live,
        )


def given_up(turn: TurnView, one: Exchange) -> bool:
    """Whether the loop, which had time left, made a failure of a reply that nothing was wrong with."""
    left = one.broken is not None and one.broken.by == "client"
    if not (left or one.whole) or turn.ended is None or turn.cancels or turn.caps.wall_clock is not None:
        return False
    again = next(iter(after(turn, one)), None)
    if again is not None:
        return same_conversation(one, again)
    # What stopped for anything else may rightly end as failed.
    said = (one.reply or {}).get("stop_reason")
    if said not in (*FINAL, *GOING_ON) or turn.caps.iterations is not None:
        return False
    return turn.status == "failed" and not any(tool.failed for tool in turn.tools)


@check("FAULT-9")
def a_failed_turn_says_so(run: Run) -> Iterator[Finding]:
    """Where the last answer was an error or none, the turn ends, and its outcome is no finished answer."""
    for turn, last in _ends_on_failure(run):
        if isinstance(turn.outcome, Overran):
            # One that waits for its next attempt, or for an answer, is judged by how it is bounded.
            if not last.invites_retry:
                yield broken(
                    expected=f"The turn ends after {request(last)} failed.",
                    happened="The loop asked nothing more, and had to be stopped.",
                    evidence="outcome",
                    exchange=last,
                )
        elif turn.ended is not None and not turn.cancels:
            yield _says_so(turn, last)


def _ends_on_failure(run: Run) -> Iterator[tuple[TurnView, Exchange]]:
    for turn, one in failures(run):
        if one is requests(turn)[-1]:
            yield turn, one


def _says_so(turn: TurnView, last: Exchange) -> Finding:
    if turn.error_mark is None:
        return unclear("the loop told neither a status nor what it showed", exchange=last)
    if not turn.error_mark:
        return broken(
            expected=f"An outcome that says that {request(last)} failed.",
            happened=f"The turn ended as {turn.ending}.",
            evidence="outcome",
            exchange=last,
        )
    if turn.status not in _SAYS_SO:
        return broken(
            expected="The status failed.",
            happened=f"{request(last).capitalize()} failed, and the status is {turn.status}.",
            evidence="outcome",
            exchange=last,
            level="SHOULD",
            advice="The provider failed, not the model: keep the two apart, so that it can be tried again.",
        )
    return held("outcome", exchange=last)
