"""HIST, second part: what each request looks like by itself, and beside the others of its turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..evidence import Exchange, Run, TurnView
from ..wire.same import brief, equal, is_blank
from .base import Finding, broken, check, held, request
from .pairing import blank_alone

THREAD_GONE = ("thread_not_found", "thread_already_continued", "thread_continue_in_flight")
"""Rejections that are no fault of the request: the thread it continues is not there (any more)."""


@check("HIST-3")
def every_request_is_accepted(run: Run) -> Iterator[Finding]:
    """No request breaks a rule of the API; what rests on an unverified rule weighs less."""
    for turn in run.turns:
        unverified = {one.request: one.detail for one in turn.notes if one.kind == "unverified"}
        for one in turn.exchanges:
            answer = one.answer
            if answer is not None and answer.kind == "rejected" and answer.rule not in THREAD_GONE:
                yield _rejected(one, error_text(one), None)
            elif one.number in unverified:
                yield _rejected(one, unverified[one.number], "SHOULD")
            elif answer is not None:
                yield held(exchange=one)


def error_text(exchange: Exchange) -> str:
    """What the provider said about a request it did not take."""
    body = exchange.answer.body if exchange.answer and isinstance(exchange.answer.body, dict) else {}
    error = body.get("error")
    text = error.get("message") if isinstance(error, dict) else None
    return str(text or (exchange.answer.rule if exchange.answer else "") or "no reason given")


def _rejected(one: Exchange, why: str, level: Any) -> Finding:
    status = one.answer.status if one.answer and one.answer.kind == "rejected" else None
    by = f"The API answers {status}" if status else "The API may not take it"
    return broken(
        expected=f"{request(one).capitalize()} is one the API accepts.",
        happened=f"{by}: {why}",
        exchange=one,
        level=level,
    )


@check("HIST-6")
def nothing_blank_is_sent(run: Run) -> Iterator[Finding]:
    """No blank text block, no empty message; one finding a turn, for a blank stays in the history."""
    for turn in run.turns:
        for one in turn.rounds:
            blank = _blank(one.body.get("messages"))
            if blank is not None:
                where, value, block, certain = blank
                yield broken(
                    expected="No blank text block and no message without content in any request.",
                    happened=f"{request(one).capitalize()} has nothing to read at {where}: "
                    f"{brief([value])[1:-1]}",
                    exchange=one,
                    block=block,
                    level=None if certain and not _was_accepted(run, one) else "SHOULD",
                )
                break
            yield held(exchange=one)


def _was_accepted(run: Run, one: Exchange) -> bool:
    """Whether this is a recording in which the API took the request."""
    return run.recorded and one.reply is not None


def _blank(messages: Any) -> tuple[str, Any, int | None, bool] | None:
    """Where something blank stands, what it is, its block, and whether the API refuses it for certain."""
    for number, message in enumerate(messages if isinstance(messages, list) else ()):
        content = message.get("content") if isinstance(message, dict) else None
        if content == [] or (isinstance(content, str) and not content.strip()):
            return f"messages[{number}].content", content, None, True
        blocks = content if isinstance(content, list) else []
        for index, block in enumerate(blocks):
            if is_blank(block):
                certain = blank_alone(str(message["role"]), blocks)
                return f"messages[{number}].content[{index}]", block, index, certain
    return None


@check("HIST-7")
def parameters_stay_the_same(run: Run) -> Iterator[Finding]:
    """Model, system prompt and tools of a turn's requests are those of its first."""
    for turn in run.turns:
        for one in turn.rounds[1:]:
            if one.previous is None or _another_attempt(one.previous):
                continue
            names = [name for name in ("model", "system", "tools") if _differs(one.previous, one, name)]
            if names == ["tools"] and _wraps_up(turn, one):
                names = []
            if names:
                yield _changed(one.previous, one, names[0])
            else:
                yield held(exchange=one)


def _another_attempt(earlier: Exchange) -> bool:
    """Whether what follows is a way around an answer that was none: another model, fewer tools."""
    return earlier.kind != "reply" or earlier.stop_reason == "refusal"


def _differs(earlier: Exchange, later: Exchange, name: str) -> bool:
    before, after = earlier.body.get(name), later.body.get(name)
    if (later.threaded and after is None) or (earlier.threaded and before is None):
        # The thread keeps it.
        return False
    return not equal(_plain(before), _plain(after))


def _plain(value: Any) -> Any:
    """A parameter without its cache marks; a system prompt of one text block as its string."""
    if isinstance(value, list):
        # An order among tools means nothing to the model.
        parts = sorted(map(_unmarked, value), key=_name)
        one_text = len(parts) == 1 and isinstance(parts[0], dict) and parts[0].keys() == {"type", "text"}
        return parts[0]["text"] if one_text else parts or None
    return value or None


def _name(part: Any) -> str:
    return str(part.get("name", "")) if isinstance(part, dict) else ""


def _unmarked(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {name: value for name, value in part.items() if name != "cache_control" and value is not None}


def _wraps_up(turn: TurnView, one: Exchange) -> bool:
    """Whether this is a last request that leaves the tools out, so that the model sums up."""
    cap = turn.caps.iterations
    return one.next is None and not one.body.get("tools") and cap is not None and len(turn.rounds) >= cap


def _changed(earlier: Exchange, later: Exchange, name: str) -> Finding:
    return broken(
        expected=f"The `{name}` of {request(earlier)}: {brief(_plain(earlier.body.get(name)) or 'none')}",
        happened=f"{request(later).capitalize()} has another `{name}`: "
        f"{brief(_plain(later.body.get(name)) or 'none')}",
        exchange=later,
    )
