"""HIST, third part: what a turn leaves behind for the next."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import FINAL, Exchange, Run, TurnView
from ..wire.blocks import open_server_calls
from ..wire.same import Piece, brief, pieces
from .base import Evidence, Finding, broken, check, held, request
from .hist_requests import THREAD_GONE, error_text
from .pairing import is_conversation, open_calls_of_the_server, problems


@check("HIST-8")
def the_history_left_behind_is_accepted(run: Run) -> Iterator[Finding]:
    """Tried by the next turn's first request; where there is none, told from the history itself."""
    for turn in run.turns:
        following = turn.following
        tried = following.exchanges[0] if following and following.exchanges else None
        if tried is not None and tried.answer is not None:
            yield _tried(turn, tried)
        elif turn.ended is not None and is_conversation(turn.left_history):
            yield from _inferred(turn)


def _tried(turn: TurnView, first: Exchange) -> Finding:
    answer = first.answer
    rejected = answer is not None and answer.kind == "rejected" and answer.rule not in THREAD_GONE
    # What was wrong with every request is wrong with this one too, and says nothing about the history.
    rules = {one.answer.rule for one in turn.exchanges if one.answer and one.answer.kind == "rejected"}
    if not rejected or answer is None or answer.rule in rules:
        return held(exchange=first)
    return broken(
        expected=f"The API takes what turn {turn.number} left, with the next user message appended.",
        happened=f"{request(first).capitalize()}, the next turn's first, is rejected: {error_text(first)}",
        exchange=first,
    )


def _inferred(turn: TurnView) -> Iterator[Finding]:
    history, evidence = turn.left_history, _told_by(turn)
    found = list(problems(history))
    if found:
        yield broken(
            expected="A history that the API takes with the next user message appended.",
            happened=f"In the history the turn left, {'; '.join(found[:3])}.",
            evidence=evidence,
            turn=turn,
        )
        return
    unresolved = [one for one in open_calls_of_the_server(history) if one in _never_resumed(turn)]
    if unresolved:
        yield broken(
            expected="No server-run call without its result before the next user message.",
            happened=f"The history the turn left holds {unresolved[0]}, which nothing answers.",
            evidence=evidence,
            turn=turn,
            level="SHOULD",
            advice="Leave out server-run calls without a result when the turn ends before they are resumed.",
        )
    else:
        yield held(evidence, turn=turn)


def _never_resumed(turn: TurnView) -> set[str]:
    """Ids of server-run calls the turn ended on; one that was resumed is the server's to answer."""
    last = turn.last_reply
    if last is None or last.next is not None or last.stop_reason in FINAL:
        return set()
    return {str(call.get("id")) for call in last.server_calls}


@check("HIST-9")
def the_saved_history_is_what_happened(run: Run) -> Iterator[Finding]:
    """Every block of it was handed in, sent or received, or stands for a call that did not run."""
    known: set[bytes] = set()
    for turn in run.turns:
        known |= _said(turn)
        history = turn.left_history
        if turn.ended is None or not is_conversation(history):
            continue
        foreign = [piece for piece in pieces(history) if piece.key not in known]
        found = next((piece for piece in foreign if not _stands_in(turn, piece)), None)
        if found is None:
            yield held(_told_by(turn), turn=turn)
        else:
            yield _invented(turn, found)
        # It is said once; in later turns it is part of what was handed in.
        known |= {piece.key for piece in foreign}


def _said(turn: TurnView) -> set[bytes]:
    """All that was handed in, sent and received in this turn."""
    said = {piece.key for piece in pieces(turn.began.messages)}
    said |= {piece.key for piece in pieces([{"role": "user", "content": turn.prompt}])}
    for one in turn.exchanges:
        said |= {piece.key for piece in one.pieces}
        said |= {piece.key for piece in one.reply_pieces or _beside_the_script(one)}
    return said


def _beside_the_script(one: Exchange) -> list[Piece]:
    """What a request was told that the script has no reply for: not the scenario's, but received."""
    body = one.answer.body if one.answer and isinstance(one.answer.body, dict) else {}
    return pieces([{"role": "assistant", "content": body.get("content")}])


def _stands_in(turn: TurnView, piece: Piece) -> bool:
    """Whether a block that was neither sent nor received stands for what did not come about."""
    if piece.role not in ("user", "assistant"):
        return True
    if piece.type == "tool_result":
        return _result_never_sent(turn, str(piece.block.get("tool_use_id")))
    if piece.type != "text":
        return False
    text = str(piece.block.get("text"))
    return _beginning_of_a_broken_reply(turn, text) or bool(turn.cancels) or _calls_did_not_run(turn)


def _result_never_sent(turn: TurnView, identifier: str) -> bool:
    called = any(call.get("id") == identifier for one in turn.exchanges for call in one.calls)
    sent = any(
        piece.type == "tool_result" and piece.block.get("tool_use_id") == identifier
        for one in turn.rounds
        for piece in one.pieces
    )
    return called and not sent


def _beginning_of_a_broken_reply(turn: TurnView, text: str) -> bool:
    return any(
        str(block.get("text", "")).startswith(text.strip())
        for one in turn.exchanges
        if not one.whole
        for block in one.content
    )


def _calls_did_not_run(turn: TurnView) -> bool:
    last = turn.last_reply
    return last is not None and last.next is None and bool(last.calls or open_server_calls(last.content))


def _invented(turn: TurnView, piece: Piece) -> Finding:
    said = "The assistant's message" if piece.role == "assistant" else "A message"
    return broken(
        expected="Only what was sent and received, and notes for calls that did not run.",
        happened=f"{said} in the history the turn left is neither, at {piece.path}: {brief(piece.block)}",
        evidence=_told_by(turn),
        turn=turn,
        block=piece.index,
        # A note in the user's name misleads the model less than words put into its own mouth.
        level=None if piece.role == "assistant" or piece.type != "text" else "SHOULD",
    )


def _told_by(turn: TurnView) -> Evidence:
    return "outcome" if turn.ended and turn.ended.history is not None else "hook"
