"""STREAM: what a stream says does not depend on how it was cut, or on what came between."""

from __future__ import annotations

from collections.abc import Iterator

from .. import display
from ..evidence import Exchange, Run, TurnView
from ..wire.same import block_diff, brief, equal
from .base import Finding, broken, check, held, named, request
from .carried import Loss, carried
from .failing import after, requests
from .fault_ends import given_up, scripted

_NO_CHARACTER = "\ufffd"
"""What a decoder puts where bytes were no text."""


@check("STREAM-1")
def deltas_add_up_to_what_was_sent(run: Run) -> Iterator[Finding]:
    """Texts, thinking and inputs are what the fragments make together: shown, run and sent back."""
    for turn, streamed in _streamed(run):
        problem = _sent_back_changed(turn, streamed) or _ran_changed(turn, streamed)
        problem = problem or _shown_changed(turn, streamed)
        if problem is not None:
            yield problem
        elif streamed.next is not None or turn.called(streamed) or turn.shown:
            yield held(exchange=streamed)


def _streamed(run: Run) -> Iterator[tuple[TurnView, Exchange]]:
    for turn, one in run.rounds():
        if one.answer is not None and one.answer.stream and one.stop_reason is not None and one.content:
            yield turn, one


def _sent_back_changed(turn: TurnView, streamed: Exchange) -> Finding | None:
    following = turn.following
    later = streamed.next or (following.rounds[0] if following and following.rounds else None)
    if later is None:
        return None
    loss = next((one for one in carried(streamed, later).received if _misread(one)), None)
    if loss is None or loss.instead is None:
        return None
    return broken(
        expected=f"What the deltas of the answer to {request(streamed)} add up to: {brief(loss.piece.block)}",
        happened=f"{named(later)} has at {loss.instead.path}: {brief(loss.instead.block)}",
        exchange=later,
        block=loss.instead.index,
        diff=block_diff(loss.piece, loss.instead),
    )


def _misread(loss: Loss) -> bool:
    """Whether a delta went wrong: another value of what only deltas carry, in a block that is the same."""
    if loss.instead is None or loss.instead.type != loss.piece.type or loss.moved:
        return False
    was, became = loss.piece.block, loss.instead.block
    match loss.piece.type:
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return was.get("id") == became.get("id") and not equal(was.get("input"), became.get("input"))
        case "thinking":
            names = ("thinking", "signature")
        case "text":
            names = ("text", "citations")
        case _:
            return False
    return any(name in became and not equal(was.get(name), became[name]) for name in names if name in was)


def _ran_changed(turn: TurnView, streamed: Exchange) -> Finding | None:
    if streamed.stop_reason != "tool_use":
        return None
    for one in turn.called(streamed):
        given = [call.get("input", {}) for call in streamed.calls if call.get("name") == one.name]
        if given and not any(equal(each, one.started.input) for each in given):
            return broken(
                expected=f"{one.name} runs with what its deltas add up to: {brief(given[0])}",
                happened=f"{one.name} ran with {brief(one.started.input)}.",
                evidence="hook",
                exchange=streamed,
            )
    return None


def _shown_changed(turn: TurnView, streamed: Exchange) -> Finding | None:
    shown = display.joined(turn.shown or [])
    if _NO_CHARACTER not in shown or any(_NO_CHARACTER in text for text in streamed.texts):
        return None
    return broken(
        expected="Characters are put together before they are decoded.",
        happened=f"What was shown has a character that could not be decoded: {brief(shown)}",
        evidence="outcome",
        exchange=streamed,
    )


@check("STREAM-2")
def what_comes_between_changes_nothing(run: Run) -> Iterator[Finding]:
    """A stream that came whole is no reason to ask again or to fail, whatever was between its events."""
    for turn in run.turns:
        for streamed in requests(turn):
            if not _disturbed(turn, streamed):
                continue
            if given_up(turn, streamed):
                yield _made_a_failure(turn, streamed)
            elif streamed.whole:
                yield held(exchange=streamed)


def _made_a_failure(turn: TurnView, streamed: Exchange) -> Finding:
    again = next(iter(after(turn, streamed)), None)
    raised = turn.ended.raised if turn.ended else None
    ended = f"The loop raised {raised.type}: {raised.message}" if raised else "The turn failed."
    return broken(
        expected=f"The turn goes on with the answer to {request(streamed)}, whose stream came whole.",
        happened=f"{named(again)} asks the same again." if again else ended,
        evidence="wire" if again else "outcome",
        exchange=again or streamed,
    )


def _disturbed(turn: TurnView, streamed: Exchange) -> bool:
    """Whether the scenario put something between the events, or let time pass, and broke nothing."""
    reply = scripted(turn, streamed)
    if reply is None or reply.breaks_off or streamed.answer is None or not streamed.answer.stream:
        return False
    between = any(each.by in ("stall", "event") for each in reply.breaks)
    return bool(between or reply.pings or reply.gap or reply.segment or reply.events is not None)
