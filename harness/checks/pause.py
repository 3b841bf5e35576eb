"""PAUSE: a reply that stopped while the server's own tools were at work has to be resumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..evidence import Exchange, Run, TurnView
from ..wire.same import brief, equal
from .base import (
    Finding,
    broken,
    check,
    cut_short,
    departure,
    ended_as_asked,
    happened_at,
    held,
    named,
    newest_only,
    request,
    resumes_before,
    unclear,
)

PAUSED = "pause_turn"
ENDLESS = 60
"""Requests after which a loop without a known cap counts as unbounded."""
_OWN_BETA = "message-threads-"
"""A loop may leave threads in mid-turn: the thread is gone, the conversation is not."""


@check("PAUSE-1")
def a_paused_reply_is_resumed(run: Run) -> Iterator[Finding]:
    """One more request follows every pause that nothing else ends."""
    for turn, paused in run.stopped(PAUSED):
        if paused.next is not None:
            yield held(exchange=paused)
        elif ended_as_asked(turn, paused):
            continue
        elif excuse := cut_short(turn, paused):
            yield unclear(excuse, exchange=paused)
        else:
            yield broken(
                expected=f"One more request after the reply to {request(paused)}, which stopped for "
                f"`{PAUSED}`.",
                happened=f"The turn ended on the pause: no request followed {request(paused)}.",
                exchange=paused,
            )


@check("PAUSE-2")
def a_resuming_request_ends_with_the_paused_content(run: Run) -> Iterator[Finding]:
    """The resuming request is the same history and the paused content, and nothing after it."""
    for _, paused in run.stopped(PAUSED):
        resumed = paused.next
        if resumed is None:
            continue
        found = departure(paused, resumed, prefix=False)
        if found is None:
            yield held(exchange=resumed)
            continue
        if newest_only(paused, resumed):
            # A sample in the documentation does it. Whether the older half is needed is for the API to say.
            yield broken(
                expected="The content of every pause in a row, the newest last.",
                happened=f"{named(resumed)} has the newest paused content in place of the one before, which "
                "it does not repeat.",
                exchange=resumed,
                level="SHOULD",
                advice="Append the content of each pause to the history: what was found before is lost "
                "otherwise.",
            )
            continue
        expected = f"Nothing after the content that the reply to {request(paused)} was paused with."
        if found.expected is not None:
            expected = f"The history as it was, then the paused content: {brief(found.expected.block)}"
        yield broken(expected=expected, happened=happened_at(resumed, found), exchange=resumed, diff=found)


@check("PAUSE-3")
def a_resuming_request_keeps_its_parameters(run: Run) -> Iterator[Finding]:
    """Tools, beta headers and the container are those the paused call was made with."""
    for _, paused in run.stopped(PAUSED):
        resumed = paused.next
        if resumed is None:
            continue
        changes = [*_lost_tools(paused, resumed), *_lost_betas(paused, resumed)]
        changes += _lost_container(paused, resumed)
        for expected, happened in changes:
            yield broken(expected=expected, happened=happened, exchange=resumed)
        if not changes:
            yield held(exchange=resumed)


def _lost_tools(paused: Exchange, resumed: Exchange) -> Iterator[tuple[str, str]]:
    """What is offered may grow; a thread remembers it, so that it need not be sent."""
    for name in ("tools", "mcp_servers"):
        before, after = _offered(paused, name), resumed.body.get(name) or []
        if before is None or resumed.threaded:
            continue
        lost = [_name(tool) for tool in before if not any(_same_tool(tool, other) for other in after)]
        if lost:
            yield (
                f"The `{name}` of {request(paused)} again, {', '.join(lost)} among them.",
                f"{named(resumed)} offers {', '.join(map(_name, after)) or 'none'}"
                + (", but not as before." if set(lost) & set(map(_name, after)) else "."),
            )


def _offered(exchange: Exchange, name: str) -> list[Any] | None:
    """What the request offered; None where that is known only to a thread begun in an earlier turn."""
    known: Exchange | None = exchange
    while known is not None and known.threaded:
        known = known.previous
    offered = known.body.get(name) if known else None
    return (offered if isinstance(offered, list) else []) if known else None


def _same_tool(one: Any, other: Any) -> bool:
    return equal(_unmarked(one), _unmarked(other))


def _unmarked(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return tool
    return {name: value for name, value in tool.items() if name != "cache_control" and value is not None}


def _name(tool: Any) -> str:
    return str(tool.get("name") or tool.get("type")) if isinstance(tool, dict) else str(tool)


def _lost_betas(paused: Exchange, resumed: Exchange) -> Iterator[tuple[str, str]]:
    before, after = _betas(paused), _betas(resumed)
    lost = sorted(beta for beta in before - after if not beta.startswith(_OWN_BETA))
    if lost:
        yield (
            f"The beta headers of {request(paused)} again: {', '.join(lost)}.",
            f"{named(resumed)} sends {', '.join(sorted(after)) or 'none'}.",
        )


def _betas(exchange: Exchange) -> set[str]:
    header = exchange.seen.headers.get("anthropic-beta", "")
    return {beta.strip() for beta in header.split(",") if beta.strip()}


def _lost_container(paused: Exchange, resumed: Exchange) -> Iterator[tuple[str, str]]:
    came_back, used = (
        _container((paused.reply or {}).get("container")),
        _container(paused.body.get("container")),
    )
    wanted, sent = came_back or used, resumed.body.get("container")
    if wanted is None or _container(sent) == wanted or (resumed.threaded and sent is None):
        return
    where = f"the reply to {request(paused)} came from" if came_back else f"{request(paused)} named"
    yield (
        f"`container: {wanted}`, which {where}.",
        f"{named(resumed)} has `container: {brief(sent)}`.",
    )


def _container(value: Any) -> str | None:
    identifier = value.get("id") if isinstance(value, dict) else value
    return identifier if isinstance(identifier, str) else None


@check("PAUSE-4")
def pauses_in_a_row_are_bounded(run: Run) -> Iterator[Finding]:
    """A bound stops the pauses, and the turn says that it did."""
    for turn in run.turns:
        last = turn.last
        if turn.cancels or last is None:
            continue
        yield from _bounded(turn, last)
        # Where no pause was resumed at all, there was no bound to speak of: PAUSE-1 says what there is.
        if last.stop_reason == PAUSED and turn.ended is not None and resumes_before(last):
            yield _reported(turn, last)


def _bounded(turn: TurnView, last: Exchange) -> Iterator[Finding]:
    resumes = max((resumes_before(one) for one in _ends_of_pauses(turn)), default=0)
    cap = turn.caps.pauses
    if cap is not None and resumes > cap:
        yield broken(
            expected=f"At most {cap:.0f} pauses resumed in a row.",
            happened=f"{resumes} pauses were resumed in a row, {cap:.0f} were allowed.",
            exchange=last,
        )
    elif cap is None and resumes >= ENDLESS - 1:
        yield broken(
            expected=f"A bound on pauses in a row, below {ENDLESS} requests.",
            happened=f"{resumes} pauses were resumed in a row, and nothing in the loop stopped it.",
            exchange=last,
        )


def _ends_of_pauses(turn: TurnView) -> Iterator[Exchange]:
    for one in turn.rounds:
        resumes = one.previous is not None and one.previous.stop_reason == PAUSED
        if resumes and (one.stop_reason != PAUSED or one.next is None):
            yield one


def _reported(turn: TurnView, last: Exchange) -> Finding:
    if turn.reports or turn.error_mark:
        return held("outcome", exchange=last)
    if turn.error_mark is None:
        return unclear("the loop tells neither a status nor what it showed", exchange=last)
    return broken(
        expected="A report, or an outcome that says that the turn stopped between two pauses.",
        happened=f"The turn ended as {turn.ending}, and nothing was reported.",
        evidence="outcome",
        exchange=last,
    )


@check("PAUSE-5")
def a_paused_text_is_not_the_answer(run: Run) -> Iterator[Finding]:
    """Where the turn stops on a pause it is marked; where it went on, the later text is shown."""
    for turn in run.turns:
        last = turn.last
        if turn.ended is None or turn.cancels or last is None or last.stop_reason is None:
            continue
        if last.stop_reason == PAUSED:
            yield _unfinished(turn, last)
        elif any(one.stop_reason == PAUSED for one in turn.rounds):
            yield from _answered_later(turn, last)


def _unfinished(turn: TurnView, last: Exchange) -> Finding:
    if turn.error_mark or (turn.reports and cut_short(turn, last)):
        return held("outcome", exchange=last)
    if turn.error_mark is None:
        return unclear("the loop tells neither a status nor what it showed", exchange=last)
    shown = " / ".join(one.text for one in turn.shown or []) or "nothing"
    return broken(
        expected="An answer from a reply that ended, or a mark that this one did not.",
        happened=f"The last reply stopped for `{PAUSED}`, and the turn ended as "
        f"{turn.ending}, showing: {brief(shown)}",
        evidence="outcome",
        exchange=last,
    )


def _answered_later(turn: TurnView, last: Exchange) -> Iterator[Finding]:
    if turn.shown is None or turn.error_mark or not last.texts:
        return
    shown = "\n".join(one.text for one in turn.shown)
    paused = [text for one in turn.rounds if one.stop_reason == PAUSED for text in one.texts]
    if any(text.strip() in shown for text in last.texts):
        yield held("outcome", exchange=last)
    elif any(text.strip() in shown for text in paused):
        yield broken(
            expected=f"The text of the reply to {request(last)}: {brief(last.texts[-1])}",
            happened=f"Only text from before the pause was shown: {brief(shown)}",
            evidence="outcome",
            exchange=last,
        )
