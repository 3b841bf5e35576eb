"""USAGE: what the turn cost, as the loop accounts for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..evidence import FINAL, Exchange, Run, TurnView
from .base import Evidence, Finding, broken, check, held, request
from .clean import usage_is_missing

NAMES = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""The counts that are compared, under the API's names, where the loop records them."""


@check("USAGE-1")
def every_reply_is_counted_once(run: Run) -> Iterator[Finding]:
    """The totals recorded are the sums of what the replies reported."""
    for turn in run.turns:
        for evidence, wrong in totals_fit(turn):
            if wrong is None:
                yield held(evidence, turn=turn)
            else:
                yield broken(expected=wrong[0], happened=wrong[1], evidence=evidence, turn=turn)
        yield from _lost_with_its_stream(turn)


def _lost_with_its_stream(turn: TurnView) -> Iterator[Finding]:
    """A stream says first what it has read; that was used, although the rest never came."""
    begun = [one for one in turn.exchanges if _begun(one)]
    whole = [one for one in turn.exchanges if _arrived(turn, one)]
    least = _sum(whole, "input_tokens") + _sum(begun, "input_tokens")
    for tokens, evidence in _recorded(turn) if begun and turn.crash is None else ():
        counted = tokens.get("input_tokens")
        if counted is not None and counted < least:
            yield broken(
                expected=f"{least} input_tokens at least: the stream of {request(begun[0])} had told its own "
                f"before it broke off.",
                happened=f"{counted} were recorded.",
                evidence=evidence,
                turn=turn,
                level="SHOULD",
                advice="Count what `message_start` says, also where the stream then fails.",
            )


def _begun(one: Exchange) -> bool:
    """Whether the provider broke a stream off after its first event."""
    broken_off = one.broken
    streamed = one.answer is not None and one.answer.kind == "reply" and one.answer.stream
    return streamed and broken_off is not None and broken_off.by == "provider" and broken_off.events > 0


def totals_fit(turn: TurnView) -> Iterator[tuple[Evidence, tuple[str, str] | None]]:
    """Of each total recorded for the turn: what it rests on, and what is wrong with it, if anything."""
    replies = [one for one in turn.exchanges if _arrived(turn, one)]
    # What broke off, and what was no part of the conversation, may be counted or not.
    rest = [*(one for one in turn.exchanges if not _arrived(turn, one)), *turn.side]
    for tokens, evidence in _recorded(turn):
        wrong = next((name for name in NAMES if not _fits(tokens, name, replies, rest)), None)
        if wrong is not None:
            right = f"{_sum(replies, wrong)} {wrong}, the sum of what the replies of the turn reported."
            yield evidence, (right, f"{tokens[wrong]} were recorded.")
        elif (replies or rest) and any(name in tokens for name in NAMES):
            yield evidence, None


@check("USAGE-2")
def usage_is_recorded_on_every_exit(run: Run) -> Iterator[Finding]:
    """Also where the turn did not end with an answer."""
    for turn in run.turns:
        last = turn.last
        well = last is not None and last.stop_reason in FINAL and turn.status in ("completed", None)
        if turn.ended is None or (well and not turn.cancels and turn.ended.raised is None):
            continue
        if turn.usages or turn.ended.usage is not None:
            yield held("hook" if turn.usages else "outcome", turn=turn)
        elif usage_is_missing(turn):
            raised = turn.ended.raised
            end = f"with the exception {raised.type}" if raised else f"as {turn.status or 'it did'}"
            yield broken(
                expected="The usage of this turn is recorded, although it did not end with an answer.",
                happened=f"The turn ended {end}, and no usage was recorded.",
                evidence="hook",
                turn=turn,
            )


@check("USAGE-3")
def iterations_are_the_requests_answered(run: Run) -> Iterator[Finding]:
    """Retries are none; a request that was never answered may be one."""
    for turn in run.turns:
        answered = sum(_arrived(turn, one) for one in turn.rounds)
        for recorded, evidence in _iterations(turn):
            if answered <= recorded <= len(turn.rounds):
                yield held(evidence, turn=turn)
            else:
                yield broken(
                    expected=f"{answered} iterations, as many as requests were answered.",
                    happened=f"{recorded} were recorded.",
                    evidence=evidence,
                    turn=turn,
                )


def _arrived(turn: TurnView, one: Exchange) -> bool:
    """Whether the loop has the whole reply for certain: one that stops reading leaves it in the socket."""
    if one.stop_reason is None:
        return False
    cancelled, budget, at = turn.cancelled_at, turn.caps.wall_clock, one.answered_at or 0.0
    # A clock that was not seen to stop the loop may do so all the same.
    budget = turn.began.limits.get("wall_clock") if budget is None else budget
    in_time = budget is None or at - turn.began.at < budget
    return one.next is not None or ((cancelled is None or at < cancelled) and in_time)


def _recorded(turn: TurnView) -> Iterator[tuple[Mapping[str, Any], Evidence]]:
    """What the loop recorded for the turn, through the hook and with the outcome."""
    if turn.usages:
        tokens: dict[str, int] = {}
        # Recording it in parts breaks CLEAN-5; the sum of the parts may still be right.
        for record in turn.usages:
            for name, value in record.tokens.items():
                tokens[name] = tokens.get(name, 0) + value
        yield tokens, "hook"
    if turn.ended is not None and turn.ended.usage is not None:
        told = turn.ended.usage
        yield {name: told[name] for name in NAMES if _is_count(told.get(name))}, "outcome"


def _iterations(turn: TurnView) -> Iterator[tuple[int, Evidence]]:
    if len(turn.usages) == 1 and turn.usages[0].iterations is not None:
        yield turn.usages[0].iterations, "hook"
    told = turn.ended.usage if turn.ended else None
    if told is not None and _is_count(told.get("iterations")):
        yield told["iterations"], "outcome"


def _fits(tokens: Mapping[str, Any], name: str, replies: list[Exchange], rest: list[Exchange]) -> bool:
    if name not in tokens:
        return True
    least = _sum(replies, name)
    return bool(least <= tokens[name] <= least + _sum(rest, name))


def _sum(exchanges: list[Exchange], name: str) -> int:
    total = 0
    for one in exchanges:
        body = one.answer.body if one.answer else None
        usage = body.get("usage") if isinstance(body, dict) else None
        value = usage.get(name) if isinstance(usage, dict) else None
        if isinstance(value, int):
            total += value
    return total


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
