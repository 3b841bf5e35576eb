"""HIST, fifth part: what a turn begins with."""

from __future__ import annotations

from collections.abc import Iterator

from ..display import squeezed
from ..evidence import FINAL, Exchange, Run, TurnView
from ..wire.same import Piece, brief, pieces
from .base import Finding, broken, check, count, held, named


@check("HIST-11")
def a_turn_begins_with_what_was_said(run: Run) -> Iterator[Finding]:
    """The user's message, and the answer before it where the loop was given one."""
    for turn in run.turns:
        first = turn.rounds[0] if turn.rounds and turn.crash is None else None
        # A request that was turned away before its body was read tells nothing.
        if first is None or not first.transcript or not turn.prompt.strip():
            continue
        if not _says(first.pieces, turn.prompt):
            yield _unheard(turn, first)
            continue
        answer = _answer_before(turn)
        there = {piece.key for piece in first.pieces}
        if answer and not any(piece.key in there for piece in answer):
            yield _forgotten(turn, first, answer[-1])
        else:
            yield held(exchange=first)


def _says(said: list[Piece], prompt: str) -> bool:
    wanted = squeezed(prompt)
    return any(piece.role == "user" and wanted in squeezed(_text(piece)) for piece in said)


def _answer_before(turn: TurnView) -> list[Piece]:
    """The texts of the last answer, where it was a whole one and the loop was handed it or had it to keep."""
    earlier = turn.run.turns[turn.index - 1] if turn.index else None
    last = earlier.last_reply if earlier else None
    if earlier is None or last is None or earlier.ended is None:
        return []  # its process died: what it had said is no part of what was handed on
    if earlier.status not in ("completed", None):
        return []
    if last is not earlier.last or last.stop_reason not in FINAL:
        return []
    texts = [piece for piece in last.reply_pieces if piece.type == "text" and _text(piece).strip()]
    if isinstance(earlier.left_history, list) and not last.calls:
        # What the loop said is the conversation now was handed in again, with or without the answer. One
        # with a call that nobody is to run may be left out.
        return texts
    handed = {piece.key for piece in pieces(turn.began.messages)}
    return [piece for piece in texts if piece.key in handed]


def _unheard(turn: TurnView, first: Exchange) -> Finding:
    # Where something else is new there, it may be the user's message in other words.
    known = {piece.key for piece in pieces(turn.began.messages)}
    new = [piece for piece in first.pieces if piece.role == "user" and piece.key not in known]
    return broken(
        expected=f"The user's message: {brief(turn.prompt)}",
        happened=f"{named(first)}, the first of turn {turn.number}, "
        + (f"has {brief(_text(new[-1]))} in its place." if new else "does not hold it."),
        exchange=first,
        level="SHOULD" if new else None,
    )


def _forgotten(turn: TurnView, first: Exchange, answer: Piece) -> Finding:
    wanted = squeezed(turn.prompt)
    others = [piece for piece in first.pieces if wanted not in squeezed(_text(piece))]
    return broken(
        expected=f"The answer that turn {turn.number - 1} ended with, which was there to be kept: "
        f"{brief(_text(answer))}",
        happened=f"{named(first)} does not hold it"
        + (
            f", but {count(len(others), 'other block')}."
            if others
            else ", nor anything else but the new message."
        ),
        exchange=first,
        # What stands there instead may be a summary.
        level="SHOULD" if others else None,
    )


def _text(piece: Piece) -> str:
    return str(piece.block.get("text") or "")
