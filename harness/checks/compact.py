"""COMPACT: a summary stands for the conversation before it."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Exchange, Run
from ..wire.same import Piece, block_diff, brief
from .base import Finding, broken, check, cut_short, held, named, request, unclear


@check("COMPACT-1")
def a_summary_is_gone_on_from(run: Run) -> Iterator[Finding]:
    """One more request, which holds the summary as it came."""
    for turn, one in run.stopped("compaction"):
        if one.next is not None:
            yield _kept(one, one.next)
        elif excuse := cut_short(turn, one):
            yield unclear(excuse, exchange=one)
        elif turn.error_mark and not _asked_for(one):
            yield unclear(
                "the loop does not ask for compaction, and ended the turn as unfinished", exchange=one
            )
        else:
            yield broken(
                expected=f"One more request after the reply to {request(one)}, which stopped for "
                f"`compaction`.",
                happened=f"The turn ended there: no request followed {request(one)}.",
                exchange=one,
            )


def _kept(one: Exchange, later: Exchange) -> Finding:
    # A summary without content says that there is none: the history stays, and the block may.
    summaries = [p for p in one.reply_pieces if p.type == "compaction" and p.block.get("content")]
    there = {piece.key for piece in later.pieces}
    lost = next((piece for piece in summaries if piece.key not in there), None)
    if lost is None:
        return held(exchange=later)
    instead = _in_place_of(lost, later)
    what = f"has {brief(instead.block)} in its place" if instead else "does not have it"
    return broken(
        expected=f"The summary of the reply to {request(one)} as it came: {brief(lost.block)}",
        happened=f"{named(later)} {what}.",
        exchange=later,
        block=instead.index if instead else None,
        diff=block_diff(lost, instead) if instead else "",
    )


def _in_place_of(lost: Piece, later: Exchange) -> Piece | None:
    known = str(lost.block.get("content"))
    return next(
        (
            piece
            for piece in reversed(later.pieces)
            if piece.type == "compaction" or known in str(piece.block.get("text", ""))
        ),
        None,
    )


def _asked_for(one: Exchange) -> bool:
    """Whether the request asks for its conversation to be summarized."""
    betas = one.seen.headers.get("anthropic-beta", "")
    edits = str(one.body.get("context_management"))
    return one.body.get("compaction") is not None or "compact" in edits or "compact" in betas
