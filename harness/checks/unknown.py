"""UNKNOWN: a stop reason nobody has heard of yet."""

from __future__ import annotations

from collections.abc import Iterator

from .. import display
from ..evidence import KNOWN, Exchange, Run, TurnView
from ..wire.same import brief
from .base import Finding, broken, check, held, named, request, unclear


@check("UNKNOWN-1")
def an_unknown_stop_reason_ends_the_turn_visibly(run: Run) -> Iterator[Finding]:
    """No crash, no success, no further request, and the raw value can be read somewhere."""
    for turn, strange in run.rounds():
        if strange.stop_reason is None or strange.stop_reason in KNOWN or turn.cancels:
            continue
        if strange.next is not None:
            yield broken(
                expected=f"The turn ends after the reply to {request(strange)}, which stopped for "
                f"`{strange.stop_reason}`.",
                happened=f"{named(strange.next)} followed a reply that stopped for `{strange.stop_reason}`.",
                exchange=strange.next,
            )
        elif turn.ended is not None:
            yield from _outcome(turn, strange, strange.stop_reason)


def _outcome(turn: TurnView, strange: Exchange, reason: str) -> Iterator[Finding]:
    visible = _visible(turn, reason)
    raised = turn.ended.raised if turn.ended else None
    if raised is not None and turn.declared_status is None:
        # Whether an exception is the loop's way of failing or a crash, only its owner can say; not of a slip.
        meant = visible and not turn.slipped
        yield broken(
            expected=f"The turn ends without a crash, as failed, naming `{reason}`.",
            happened=f"The loop raised {raised.type}: {raised.message}"
            + (" (nothing declares that it is meant)" if meant else ""),
            evidence="outcome",
            exchange=strange,
            level="SHOULD" if meant else None,
            advice=f"If the exception is meant, declare it: `raises: {{{raised.type}: failed}}`."
            if meant
            else "",
        )
    elif turn.error_mark is None:
        yield unclear("the loop told neither a status nor what it showed", exchange=strange)
    elif not turn.error_mark:
        shown = " / ".join(one.text for one in turn.shown or []) or "nothing"
        yield broken(
            expected=f"An outcome that is no success: `{reason}` may mean anything.",
            happened=f"The turn ended as {turn.ending}, showing: {brief(shown)}",
            evidence="outcome",
            exchange=strange,
        )
    elif not visible:
        could_tell = turn.run.exposed("status", "report")
        yield broken(
            expected=f"`{reason}` in the detail, a report, or what was shown.",
            happened=f"`{reason}` can be read nowhere.",
            evidence="outcome",
            exchange=strange,
            level=None if could_tell else "SHOULD",
        )
    else:
        yield held("outcome", exchange=strange)


def _visible(turn: TurnView, reason: str) -> bool:
    """Whether the raw value can be read by anyone: the caller, the owner, the user."""
    ended = turn.ended
    texts = [one.problem for one in turn.reports]
    texts += [one.text for one in turn.shown or []]
    for published in turn.publishes:
        texts += display.all_texts(published.state)
    if ended is not None:
        texts += [ended.detail or "", *(value for _, value in ended.look or ())]
        texts += [ended.raised.type, ended.raised.message] if ended.raised else []
    return any(reason in text for text in texts)
