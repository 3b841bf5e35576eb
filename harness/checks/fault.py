"""FAULT-1 to FAULT-3 and FAULT-10: what the loop asks after a request that failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from ..clauses import Level
from ..evidence import Exchange, Run, ToolRun, TurnView
from ..wire.same import Piece, brief, starts_with
from .base import Finding, broken, check, held, named, note, request
from .calls import call_key, run_key
from .failing import (
    PASSING,
    added,
    after,
    failures,
    lost_streams,
    message,
    partial_of,
    permanent,
    requests,
    same_conversation,
    unchanged,
)

_EARLY = 0.02
"""Seconds, and share of the wait, by which a timer of the loop may fire early."""
_OVERFLOWS = 4
"""Refusals for its length after which a conversation is not getting shorter."""


@dataclass(frozen=True)
class _Wait:
    seconds: float
    level: Level | None = None
    header: str = "retry-after"


@check("FAULT-1")
def the_wait_that_was_asked_for_is_kept(run: Run) -> Iterator[Finding]:
    """Nothing is sent to the same model before the time the answer named is over."""
    for turn, refused in failures(run):
        wait = _asked_to_wait(refused)
        if wait is None or refused.answer is None:
            continue
        again = next((one for one in after(turn, refused) if _goes_on(refused, one)), None)
        if again is None:
            if turn.ended is not None:
                yield held(exchange=refused)
            continue
        waited = again.seen.at - refused.answer.at
        if waited >= wait.seconds * (1 - _EARLY) - _EARLY:
            yield held(exchange=again)
        else:
            yield broken(
                expected=f"{wait.seconds:g} s between the answer to {request(refused)} and the next attempt: "
                f"the answer has `{wait.header}`.",
                happened=f"{named(again)} came after {waited:.2f} s.",
                exchange=again,
                level=wait.level,
            )


def _asked_to_wait(refused: Exchange) -> _Wait | None:
    """What the answer's headers ask for. Of two the shorter; `retry-after-ms` is no documented one."""
    headers = refused.answer.headers if refused.answer else {}
    seconds = _number(headers.get("retry-after"))
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is None:
        return None if seconds is None else _Wait(seconds)
    if seconds is None or milliseconds / 1000 < seconds:
        level: Level | None = "SHOULD" if seconds is None else None
        return _Wait(milliseconds / 1000, level, "retry-after-ms")
    return _Wait(seconds)


def _number(text: str | None) -> float | None:
    try:
        return max(float(text or ""), 0.0)
    except ValueError:
        return None


def _goes_on(refused: Exchange, later: Exchange) -> bool:
    """Whether `later` asks the same model about the same conversation: another model has its own limits."""
    return refused.body.get("model") == later.body.get("model") and starts_with(later.pieces, refused.pieces)


@check("FAULT-2")
def what_is_refused_for_good_is_not_sent_again(run: Run) -> Iterator[Finding]:
    """A request that got a 4xx which cannot pass by itself is not made again as it was."""
    for turn, refused in failures(run):
        if not permanent(refused) or refused.answer is None:
            continue
        again = [one for one in after(turn, refused) if unchanged(refused, one)]
        status = refused.answer.status
        if status == 401 and len(again) == 1:
            yield note("after a 401 the loop tried once more, perhaps with a new token", exchange=again[0])
        elif again:
            yield broken(
                expected=f"{request(refused).capitalize()} is not sent again as it was: the provider refused "
                f"it with {status}.",
                happened=f"{named(again[0])} is the same.",
                exchange=again[0],
                # That the passing ones among them will not pass is said by a header for SDKs.
                level="SHOULD" if status in PASSING else None,
            )
        elif turn.ended is not None:
            yield held(exchange=refused)


@check("FAULT-3")
def a_retry_is_the_same_request_and_nothing_more(run: Run) -> Iterator[Finding]:
    """Between a failure and the next attempt no tool runs again, and no message comes to be."""
    for turn, lost in failures(run):
        again = next(iter(after(turn, lost)), None)
        if not lost.invites_retry or (again is None and turn.ended is None):
            continue
        problem = _other_conversation(turn, lost, again) if again else None
        problem = problem or _ran_again(turn, lost, again)
        yield problem or held(exchange=again or lost)


def _other_conversation(turn: TurnView, lost: Exchange, again: Exchange) -> Finding | None:
    if same_conversation(lost, again):
        return None
    new = added(lost, again)
    assistant = [piece for piece in new if piece.role == "assistant"]
    twice = [piece for piece in new if any(piece.key == old.key for old in lost.pieces)]
    if _continues(lost, again, new):
        declared = turn.run.policy("on_broken_stream")
        return None if declared == "continue" else _undeclared(again, declared)
    grown = len(again.pieces) > len(lost.pieces)
    suspect = next(iter([*twice, *assistant, *(new if grown else [])]), None)
    if suspect is not None:
        return broken(
            expected=f"The conversation of {request(lost)}, which failed, as it was.",
            happened=f"{named(again)} adds at {suspect.path}: {brief(suspect.block)}",
            exchange=again,
            block=suspect.index,
        )
    if starts_with(lost.pieces, again.pieces) and _results_dropped(lost, again):
        return broken(
            expected=f"The conversation of {request(lost)}, which failed, as it was.",
            happened=f"{named(again)} starts the turn anew: the model is asked for calls that have run.",
            exchange=again,
        )
    return None


def _continues(lost: Exchange, again: Exchange, new: list[Piece]) -> bool:
    """Whether `again` asks for the rest of a broken stream as documented: by what came, and a message.

    Older models took what came as the beginning of their own reply, with nothing after it.
    """
    if not lost.lost or not new or not starts_with(again.pieces, lost.pieces):
        return False
    return all(piece.type == "text" and (piece.role == "user" or partial_of(lost, piece)) for piece in new)


def _undeclared(again: Exchange, declared: str | None) -> Finding:
    return broken(
        expected="A stream that broke off is asked for again, or the loop declares that it continues it.",
        happened=f"{named(again)} asks for the rest of a stream that broke off.",
        exchange=again,
        level=None if declared else "SHOULD",
        advice="" if declared else "If that is meant, declare it: `policies: {on_broken_stream: continue}`.",
    )


def _results_dropped(lost: Exchange, again: Exchange) -> bool:
    return any(piece.type == "tool_result" for piece in lost.pieces[len(again.pieces) :])


def _ran_again(turn: TurnView, lost: Exchange, again: Exchange | None) -> Finding | None:
    """A tool that ran for an earlier reply and runs once more because of the failure."""
    known = {call_key(call) for one in requests(turn) if one.number < lost.number for call in one.calls}
    one = next((one for one in runs_between(turn, lost, again) if run_key(one) in known), None)
    # A run that waited for its turn is late, not repeated: it has no result in the request that failed.
    if one is None or not any(piece.type == "tool_result" for piece in lost.pieces):
        return None
    return broken(
        expected=f"No tool runs between {request(lost)}, which failed, and the next attempt.",
        happened=f"{one.name} ran once more with {brief(one.started.input)}.",
        evidence="hook",
        exchange=again or lost,
    )


def runs_between(turn: TurnView, one: Exchange, later: Exchange | None) -> list[ToolRun]:
    """The tool runs that started after this request had its answer, and before the later one."""
    begin = one.answer.at if one.answer else one.seen.at
    end = later.seen.at if later else float("inf")
    return [tool for tool in turn.tools if begin <= tool.started.at < end]


@check("FAULT-6")
def no_tool_runs_from_a_broken_stream(run: Run) -> Iterator[Finding]:
    """Not even one whose input came whole: the message it belongs to never did."""
    for turn, lost in lost_streams(run):
        names = {call.get("name") for call in lost.calls}
        if not names:
            continue
        earlier = {
            call_key(call)
            for one in requests(turn)
            if one.number < lost.number and one.stop_reason == "tool_use"
            for call in one.calls
        }
        again = next(iter(after(turn, lost)), None)
        ran = [
            one
            for one in runs_between(turn, lost, again)
            if one.name in names and run_key(one) not in earlier
        ]
        if not ran and run.exposed("tools"):
            yield held("hook", exchange=lost)
        for one in ran:
            yield broken(
                expected=f"No tool runs for the reply to {request(lost)}: its stream broke off.",
                happened=f"{one.name} ran with {brief(one.started.input)}.",
                evidence="hook",
                exchange=lost,
            )


@check("FAULT-10")
def a_prompt_that_is_too_long_gets_shorter(run: Run) -> Iterator[Finding]:
    """After each refusal for its length the next request is smaller, or there is none."""
    for turn in run.turns:
        refused = [one for one in requests(turn) if one.kind == "fault" and _too_long(one)]
        for one in refused:
            later = next((each for each in after(turn, one) if _as_wide(one, each)), None)
            if later is None:
                if turn.ended is not None:
                    yield held(exchange=one)
            elif _size(later) < _size(one):
                yield held(exchange=later)
            else:
                yield broken(
                    expected=f"Less than the {_size(one)} bytes of {request(one)}, for which there was no "
                    "room; or no further request.",
                    happened=f"{named(later)} has {_size(later)} bytes.",
                    exchange=later,
                )
        if len(refused) > _OVERFLOWS:
            yield broken(
                expected="A few attempts to get the conversation short enough, then the end of the turn.",
                happened=f"{len(refused)} requests were refused for their length.",
                exchange=refused[-1],
            )


def _too_long(refused: Exchange) -> bool:
    status = refused.answer.status if refused.answer else 0
    return status == 413 or (status == 400 and "prompt is too long" in message(refused).lower())


def _as_wide(refused: Exchange, later: Exchange) -> bool:
    """Whether the later request has no wider window: another model or a beta may have one."""
    return refused.body.get("model") == later.body.get("model") and refused.seen.headers.get(
        "anthropic-beta"
    ) == later.seen.headers.get("anthropic-beta")


def _size(one: Exchange) -> int:
    sent = {"system": one.body.get("system"), "tools": one.body.get("tools"), "messages": one.transcript}
    return len(msgspec.json.encode(sent))
