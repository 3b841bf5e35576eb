"""END: the model said that it is done."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import FINAL, Exchange, Run, TurnView
from ..wire.same import blocks, is_blank
from .base import Finding, broken, check, held, named, note, request


@check("END-1")
def nothing_follows_the_end_of_a_turn(run: Run) -> Iterator[Finding]:
    """No further conversation request after a final reply that had content."""
    for _, final in run.stopped(*FINAL):
        if not _has_content(final):
            continue
        if final.next is None:
            yield held(exchange=final)
        else:
            yield broken(
                expected=f"No request after the reply to {request(final)}, which stopped for "
                f"`{final.stop_reason}`.",
                happened=f"{named(final.next)} followed a reply that ends the turn.",
                exchange=final.next,
            )


def _has_content(exchange: Exchange) -> bool:
    """Whether a reply says something; one that only thinks may be asked again."""
    return any(
        block.get("type") not in ("thinking", "redacted_thinking") and not is_blank(block)
        for block in exchange.content
    )


@check("END-2")
def an_empty_reply_ends_the_turn(run: Run) -> Iterator[Finding]:
    """No crash, and no empty assistant message in any later request of the run."""
    for turn, final in run.stopped(*FINAL):
        if final.content:
            continue
        empty = _empty_message_after(turn, final)
        if empty is not None:
            later, position = empty
            yield broken(
                expected="No empty assistant message in any request: the empty reply is not kept.",
                happened=f"{named(later)} has an empty assistant message at messages[{position}].",
                exchange=later,
            )
        elif _crashed_on(turn, final):
            raised = turn.ended.raised if turn.ended else None
            yield broken(
                expected=f"The turn ends after the empty reply to {request(final)}.",
                happened=f"The loop raised {raised.type}: {raised.message}" if raised else "",
                evidence="outcome",
                exchange=final,
            )
        elif final.next is not None:
            yield _asked_again(final, final.next)
        else:
            yield held(exchange=final)


def _empty_message_after(turn: TurnView, final: Exchange) -> tuple[Exchange, int] | None:
    later = [one for one in turn.rounds if one.number > final.number]
    later += [one for after in turn.run.turns[turn.index + 1 :] for one in after.rounds]
    for one in later:
        for position, message in enumerate(one.transcript):
            if isinstance(message, dict) and message.get("role") == "assistant":
                content = message.get("content")
                if all(is_blank(block) for block in blocks(content)):
                    return one, position
    return None


def _crashed_on(turn: TurnView, final: Exchange) -> bool:
    raised = turn.ended.raised if turn.ended else None
    return raised is not None and turn.last is final and turn.declared_status is None and not turn.cancels


def _asked_again(final: Exchange, later: Exchange) -> Finding:
    """Documented: a new user message may ask to go on. Sending the same again is not."""
    same = [piece.key for piece in later.pieces] == [piece.key for piece in final.pieces]
    if same:
        return broken(
            expected=f"The turn ends after the empty reply to {request(final)}.",
            happened=f"{named(later)} sends the same conversation again.",
            exchange=later,
        )
    return note(f"after an empty reply the loop asked to go on ({request(later)})", exchange=later)
