"""THREAD: the server keeps the conversation, and the loop says what is new."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Exchange, Run
from ..wire.same import Piece, brief, pieces, starts_with
from .base import Finding, broken, check, cut_short, held, request, unclear
from .hist_requests import THREAD_GONE


@check("THREAD-1")
def a_thread_is_continued_with_what_is_new(run: Run) -> Iterator[Finding]:
    """Nothing the thread knows is said again; where the thread is gone, everything is."""
    for turn, one in run.rounds():
        if not one.threaded:
            continue
        if one.answer is not None and one.answer.rule in THREAD_GONE:
            excuse = None if one.next else cut_short(turn, one)
            yield unclear(excuse, exchange=one) if excuse else _replayed(one)
            continue
        again = _said_again(one)
        if again is None:
            yield held(exchange=one)
        else:
            yield broken(
                expected="Only messages the thread does not hold yet.",
                happened=f"{request(one).capitalize()} repeats at {again.path}: {brief(again.block)}",
                exchange=one,
                block=again.index,
            )


def _said_again(one: Exchange) -> Piece | None:
    """The first block of the request that the thread holds already."""
    new = pieces(one.body.get("messages") or [])
    known = one.pieces[: len(one.pieces) - len(new)]
    assistant = {piece.key for piece in known if piece.role == "assistant"}
    results = {piece.block.get("tool_use_id") for piece in known if piece.type == "tool_result"}
    for piece in new:
        if piece.key in assistant or (
            piece.type == "tool_result" and piece.block.get("tool_use_id") in results
        ):
            return piece
    # A user may say the same twice, but hardly the whole conversation from its start.
    return new[0] if len(known) > 1 and starts_with(new, known[:2]) else None


def _replayed(one: Exchange) -> Finding:
    """Whether the request after a lost thread brings the whole conversation."""
    later, rule = one.next, one.answer.rule if one.answer else ""
    expected = f"After `{rule}`, the whole conversation in a request of its own."
    if later is None:
        return broken(
            expected=expected,
            happened="The thread is gone, and no further request was made in this turn.",
            exchange=one,
        )
    answered = one.previous
    while answered is not None and answered.stop_reason is None:
        answered = answered.previous
    whole = answered is None or starts_with(later.pieces, answered.pieces + answered.reply_pieces)
    if not later.threaded and whole:
        return held(exchange=later)
    what = "continues a thread again" if later.threaded else "leaves out what the thread held"
    return broken(expected=expected, happened=f"{request(later).capitalize()} {what}.", exchange=later)
