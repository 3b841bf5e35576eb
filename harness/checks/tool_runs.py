"""TOOL-6 to TOOL-11: what runs, how often, with what input; and what must not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..evidence import Exchange, Run, ToolRun, TurnView
from ..wire.same import Json, Piece, brief
from .base import Finding, broken, check, held, named, note, request, unclear
from .calls import (
    Answers,
    Key,
    answers,
    call_key,
    carries,
    has_content,
    is_error,
    returned,
    run_key,
    runs_for,
    succeeded,
)
from .tool import CALLING

_SLOW = 0.2
"""Seconds a tool takes longer than its sibling to count as slow."""
_SPINS = 5
"""Replies without a call after which asking again is spinning."""


@check("TOOL-6")
def calls_run_once_with_their_input(run: Run) -> Iterator[Finding]:
    """Each run is one the model asked for, and no call ran twice."""
    for turn, calling in run.stopped(CALLING):
        if not calling.calls:
            continue
        problems = [*_invented(turn, calling), *_repeated(turn, calling), *_never_ran(turn, calling)]
        if problems:
            yield from problems
        elif turn.called(calling):
            yield held("hook", exchange=calling)


def _invented(turn: TurnView, calling: Exchange) -> Iterator[Finding]:
    asked = set(map(call_key, calling.calls))
    for one in turn.called(calling):
        if run_key(one) in asked or _asked_before(turn, calling, run_key(one)):
            continue
        given = [call.get("input", {}) for call in calling.calls if call.get("name") == one.name]
        expected = f"{one.name} runs with {brief(given[0])}" if given else f"{one.name} does not run"
        yield broken(
            expected=f"{expected}, as the reply to {request(calling)} has it.",
            happened=f"{one.name} ran with {brief(one.started.input)}, which the model did not give.",
            evidence="hook",
            exchange=calling,
        )


def _asked_before(turn: TurnView, calling: Exchange, key: Key) -> bool:
    """Whether an earlier reply of the turn made the call: its run may have been late."""
    earlier = (one for one in turn.rounds if one.number < calling.number)
    return any(call_key(call) == key for one in earlier for call in one.calls)


def _repeated(turn: TurnView, calling: Exchange) -> Iterator[Finding]:
    calls = Counter(map(call_key, calling.calls))
    good = Counter(run_key(one) for one in turn.called(calling) if succeeded(one))
    for key, times in good.items():
        if 0 < calls[key] < times:
            yield broken(
                expected=f"{key[0]} runs {_times(calls[key])} for the reply to {request(calling)}.",
                happened=f"{key[0]} ran {_times(times)} with the same input.",
                evidence="hook",
                exchange=calling,
            )


def _never_ran(turn: TurnView, calling: Exchange) -> Iterator[Finding]:
    """A result that claims success for a call that never ran. Identical calls may share one run."""
    found = answers(calling) or _answers_later(turn, calling)
    if found is None:
        return
    asked = set(map(call_key, calling.calls))
    # A run of the same tool with an input nobody gave is reported as such, not a second time.
    invented = {one.name for one in turn.called(calling) if run_key(one) not in asked}
    known = set(turn.began.tools) - invented
    for call in calling.calls:
        claimed = [piece for piece in found.of(call.get("id")) if not is_error(piece)]
        name = call.get("name")
        if claimed and name in known and not _ran_before(turn, call):
            yield broken(
                expected=f"{name} runs with {brief(call.get('input', {}))}.",
                happened=f"{name} did not run, and {request(found.later)} claims that it succeeded.",
                evidence="hook",
                exchange=found.later,
                # What an unmarked result says may be true all the same: that the user has stopped it.
                level=None if calling.next is found.later else "SHOULD",
                advice="" if calling.next is found.later else "Answer a call that did not run with an error.",
            )


def _answers_later(turn: TurnView, calling: Exchange) -> Answers | None:
    """What the next turn says of the calls on which this one was stopped."""
    following = turn.following
    stopped = calling is turn.last and following is not None and following.rounds
    return Answers(calling, following.rounds[0]) if stopped and following else None


def _ran_before(turn: TurnView, call: Json) -> bool:
    """Whether the same call ran earlier in the conversation: a loop may remember results."""
    wanted = call_key(call)
    return any(
        run_key(one) == wanted for earlier in turn.run.turns[: turn.index + 1] for one in earlier.tools
    )


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


@check("TOOL-7")
def server_calls_are_left_alone(run: Run) -> Iterator[Finding]:
    """No result goes back for a call that was the server's, and no client tool runs for it."""
    for turn in run.turns:
        for called in turn.rounds:
            if not called.whole or not called.server_calls:
                continue
            problems = [*_answered_for_server(turn, called), *_executed_for_server(turn, called)]
            if problems:
                yield from problems
            elif called.next is not None or turn.following is not None:
                yield held(exchange=called)


def _answered_for_server(turn: TurnView, called: Exchange) -> Iterator[Finding]:
    ids = {str(call.get("id")) for call in called.server_calls}
    following = turn.following
    later = called.next or (following.rounds[0] if following and following.rounds else None)
    if later is None:
        return
    for piece in later.pieces:
        if _is_result_for(piece, ids):
            yield broken(
                expected=f"No `tool_result` for {piece.block['tool_use_id']}, which the server runs.",
                happened=f"{named(later)} answers a server call at {piece.path}: {brief(piece.block)}",
                exchange=later,
                block=piece.index,
            )


def _executed_for_server(turn: TurnView, called: Exchange) -> Iterator[Finding]:
    own = {call_key(call) for one in turn.rounds if one.number <= called.number for call in one.calls}
    server = {call_key(call) for call in called.server_calls} - own
    for one in turn.called(called):
        if run_key(one) in server:
            yield broken(
                expected=f"The client does not run {one.name}: the call is the server's.",
                happened=f"The client ran {one.name} with {brief(one.started.input)}.",
                evidence="hook",
                exchange=called,
            )


@check("TOOL-8")
def mixed_calls_are_answered_apart(run: Run) -> Iterator[Finding]:
    """Beside an unanswered server call, the next message has the client's results and nothing else."""
    for _, calling in run.stopped(CALLING):
        found = answers(calling)
        if found is None or not calling.calls or not _unanswered(calling) or not found.segment:
            continue
        ids = set(found.ids)
        foreign = [piece for piece in found.segment if not _is_result_for(piece, ids)]
        if not foreign:
            yield held(exchange=found.later)
            continue
        yield broken(
            expected=f"Nothing but results for {', '.join(found.ids)}: the server's own call is still open.",
            happened=f"{named(found.later)} has {brief(foreign[0].block)} ({foreign[0].path}).",
            exchange=found.later,
            block=foreign[0].index,
        )


def _unanswered(exchange: Exchange) -> bool:
    """Whether a server call of the reply has no result in it."""
    done = {block.get("tool_use_id") for block in exchange.content}
    return any(call.get("id") not in done for call in exchange.server_calls)


def _is_result_for(piece: Piece, ids: set[str]) -> bool:
    return piece.type == "tool_result" and piece.block.get("tool_use_id") in ids


@check("TOOL-9")
def a_slow_tool_costs_its_siblings_nothing(run: Run) -> Iterator[Finding]:
    """What a sibling returned in time reaches the model; a wall clock should bound a tool that hangs."""
    for turn, calling in run.stopped(CALLING):
        runs = turn.called(calling)
        yield from _hanging(turn, calling, runs)
        found = answers(calling)
        if len(calling.calls) < 2 or found is None or not found.results or not _uneven(runs):
            continue
        lost = [*_lost_siblings(turn, found)]
        yield from lost or [held("hook", exchange=found.later)]


def _uneven(runs: list[ToolRun]) -> bool:
    """Whether one of the tools was much slower than another, failed, or never returned."""
    took = [one.ended.at - one.started.at for one in runs if one.ended is not None and succeeded(one)]
    return bool(took) and (len(took) < len(runs) or max(took) - min(took) >= _SLOW)


def _lost_siblings(turn: TurnView, found: Answers) -> Iterator[Finding]:
    for call in found.exchange.calls:
        values = returned(runs_for(turn, found.exchange, call), found.later.first_at)
        pieces = found.of(call.get("id"))
        kept = any(carries(piece, value) for piece in pieces for value in values)
        failed = not pieces or is_error(pieces[0]) or not has_content(pieces[0])
        if values and not kept and failed:
            yield broken(
                expected=f"For {call.get('id')}, what {call.get('name')} had returned: {brief(values[0])}",
                happened=f"{named(found.later)} has "
                + (f"{brief(pieces[0].block)} ({pieces[0].path})." if pieces else "no result for it."),
                exchange=found.later,
            )


def _hanging(turn: TurnView, calling: Exchange, runs: list[ToolRun]) -> Iterator[Finding]:
    stuck = [one for one in runs if one.ended is None or one.ended.abandoned]
    if not stuck or turn.caps.wall_clock is None or turn.cancels:
        return
    if turn.ended is not None:
        yield held("hook", exchange=calling)
    else:
        yield broken(
            expected=f"The wall-clock budget of {turn.caps.wall_clock:g} s ends a turn whose tool hangs.",
            happened=f"{stuck[0].name} was still running when the loop was stopped.",
            evidence="hook",
            exchange=calling,
            level="SHOULD",
        )


@check("TOOL-10")
def a_tool_use_stop_without_a_call_does_not_spin(run: Run) -> Iterator[Finding]:
    """The loop ends soon, and its outcome is no finished answer."""
    for turn in run.turns:
        empty = [one for one in turn.rounds if one.stop_reason == CALLING and not one.calls]
        if not empty:
            continue
        last = turn.last
        if len(empty) >= _SPINS:
            yield broken(
                expected="The turn ends when there is nothing to run.",
                happened=f"The loop asked again after {len(empty)} replies that called no tool.",
                exchange=empty[-1],
            )
        elif run.recorded:
            continue
        elif turn.ended is None:
            yield broken(
                expected="The turn ends when there is nothing to run.",
                happened="The turn was still going after a `tool_use` stop without a call.",
                exchange=empty[-1],
            )
        elif last is empty[-1]:
            yield _not_an_answer(turn, empty[-1])
        else:
            yield note("after a `tool_use` stop without a call the loop asked again", exchange=empty[-1])


def _not_an_answer(turn: TurnView, last: Exchange) -> Finding:
    if turn.error_mark is None or turn.cancels:
        return unclear("the loop tells neither a status nor what it showed", exchange=last)
    if turn.error_mark:
        return held("outcome", exchange=last)
    return broken(
        expected="An outcome that says that the turn did not end well.",
        happened=f"The reply to {request(last)} stopped for `tool_use` and called nothing; the turn ended as "
        f"{turn.ending}.",
        evidence="outcome",
        exchange=last,
    )


@check("TOOL-11")
def calls_under_another_stop_reason_do_not_run(run: Run) -> Iterator[Finding]:
    """A call in a reply that did not stop for `tool_use` is left alone."""
    for turn, stopped in run.rounds():
        if stopped.stop_reason in (None, CALLING) or not stopped.calls:
            continue
        ran = not_asked_for(turn, stopped)
        if not ran:
            yield held("hook", exchange=stopped)
        for one in ran:
            yield broken(
                expected=f"No tool runs for the reply to {request(stopped)}: it stopped for "
                f"`{stopped.stop_reason}`.",
                happened=f"{one.name} ran with {brief(one.started.input)}.",
                evidence="hook",
                exchange=stopped,
            )


def not_asked_for(turn: TurnView, stopped: Exchange) -> list[ToolRun]:
    """The runs of tools this reply names that no earlier call accounts for."""
    names = {call.get("name") for call in stopped.calls}
    earlier: set[Key] = {
        call_key(call)
        for one in turn.rounds
        if one.number < stopped.number and one.stop_reason == CALLING
        for call in one.calls
    }
    return [one for one in turn.called(stopped) if one.name in names and run_key(one) not in earlier]
