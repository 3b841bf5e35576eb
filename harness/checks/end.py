"""END: the model said that it is done."""

from __future__ import annotations

from collections.abc import Iterator

from ..display import joined, squeezed
from ..evidence import CUT, FINAL, Exchange, Run, TurnView
from ..wire.blocks import THINKING
from ..wire.same import blocks, brief, is_blank
from .base import Finding, broken, check, held, named, note, request
from .failing import same_conversation


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


@check("END-3")
def thinking_alone_is_no_answer(run: Run) -> Iterator[Finding]:
    """Where the last reply only thought, that is not shown, and not passed off as an answer either."""
    for turn in run.turns:
        last = turn.last
        if last is None or turn.ended is None or turn.cancels or not _only_thinks(last):
            continue
        shown = joined([one for one in turn.shown or [] if not one.is_error])
        thoughts = [squeezed(str(block.get("thinking") or "")) for block in last.content]
        thought = next((words for words in thoughts if words and words in shown), None)
        said_nothing = turn.status == "completed" and not shown and turn.error_mark is False
        if thought is not None:
            yield broken(
                expected=f"None of the thoughts of the reply to {request(last)} among what is shown.",
                happened=f"Shown was: {brief(thought)}",
                evidence="outcome",
                exchange=last,
            )
        elif said_nothing and last.stop_reason in FINAL:
            yield broken(
                expected="A text, a status other than completed, or one more request.",
                happened=f"The reply to {request(last)} only thought, and the turn ended as completed with "
                f"nothing shown.",
                evidence="outcome",
                exchange=last,
            )
        else:
            yield held("outcome", exchange=last)


def _only_thinks(exchange: Exchange) -> bool:
    said = [block for block in exchange.content if not is_blank(block)]
    thinks = bool(said) and all(block.get("type") in THINKING for block in said)
    return thinks and exchange.stop_reason in (*FINAL, *CUT)


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
    if same_conversation(final, later):
        return broken(
            expected=f"The turn ends after the empty reply to {request(final)}.",
            happened=f"{named(later)} sends the same conversation again.",
            exchange=later,
        )
    return note(f"after an empty reply the loop asked to go on ({request(later)})", exchange=later)
