"""SHOW, second part: what a server-run tool found is handed on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import display
from ..evidence import FINAL, GOING_ON, Run, TurnView
from ..wire.same import Piece, brief, pieces
from .base import Evidence, Finding, broken, check, held, request, unclear


@check("SHOW-5")
def results_reach_whoever_renders_them(run: Run) -> Iterator[Finding]:
    """Looked for in what is published, where that has blocks at all; else in what the loop returned."""
    publishes = any(_published(turn) for turn in run.turns)
    for turn, one in run.stopped(*FINAL, *GOING_ON):
        results = [piece for piece in one.reply_pieces if piece.type.endswith("_tool_result")]
        if not results or turn.ended is None or turn.cancels or turn.status == "failed":
            continue
        if one.stop_reason == "pause_turn" and not publishes:
            continue  # the reply after it may stand in its place: a history need not hold both
        evidence: Evidence = "hook" if publishes else "outcome"
        handed = _published(turn) if publishes else _returned(turn)
        if not handed:
            yield unclear("nothing the loop hands out holds blocks", evidence=evidence, turn=turn)
            continue
        lost = next((piece for piece in results if piece.key not in handed), None)
        if lost is None:
            yield held(evidence, turn=turn, exchange=one)
        else:
            yield _lost(turn, one.number, lost, evidence, request(one))


def _lost(turn: TurnView, number: int, lost: Piece, evidence: Evidence, name: str) -> Finding:
    return broken(
        expected=f"The `{lost.type}` of the reply to {name} in what is handed out: {brief(lost.block)}",
        happened="It is in no state or history that was published."
        if evidence == "hook"
        else "It is not in the history that was returned.",
        evidence=evidence,
        turn=turn,
        exchange=next(one for one in turn.rounds if one.number == number),
    )


def _published(turn: TurnView) -> set[bytes]:
    """Every block this turn published, in a history or among the messages of a state."""
    found: set[bytes] = set()
    for one in turn.publishes:
        found |= _blocks_of(one.history) | _blocks_of(display.messages_of(one.state))
    return found


def _returned(turn: TurnView) -> set[bytes]:
    return _blocks_of(turn.ended.history) | _blocks_of(turn.ended.shown) if turn.ended else set()


def _blocks_of(messages: Any) -> set[bytes]:
    """Of the messages that have blocks: one that is a string is made for reading."""
    told = messages if isinstance(messages, list) else []
    with_blocks = [one for one in told if isinstance(one, dict) and isinstance(one.get("content"), list)]
    return {piece.key for piece in pieces(with_blocks)}
