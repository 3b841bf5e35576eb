"""TOOL-1 to TOOL-5: calls of client tools continue the turn, and each gets its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..evidence import Exchange, Run, TurnView
from ..wire.same import Json, Piece, brief
from .base import Finding, broken, check, cut_short, ended_as_asked, held, named, request, unclear
from .calls import (
    Answers,
    answers,
    carries,
    has_content,
    is_error,
    is_offered,
    lost_sight,
    returned,
    runs_for,
    succeeded,
    text_of,
)

CALLING = "tool_use"
_SHORT = 200
"""Characters up to which a result is expected to go back as it is."""
_PATIENCE = 1.0
"""Seconds that every loop gives a tool where nothing limits its time."""


@check("TOOL-1")
def a_tool_use_stop_continues(run: Run) -> Iterator[Finding]:
    """One more request follows, with results for the calls."""
    for turn, calling in run.stopped(CALLING):
        if not calling.calls:
            continue
        found = answers(calling)
        if found is not None and found.everywhere:
            yield held(exchange=calling)
        elif found is not None:
            yield broken(
                expected=f"The results of the calls in the reply to {request(calling)}.",
                happened=f"{named(found.later)} has no result for any call of the reply.",
                exchange=found.later,
            )
        elif ended_as_asked(turn, calling):
            continue
        elif excuse := cut_short(turn, calling) or _ended_by_another(turn, calling):
            yield unclear(excuse, exchange=calling)
        else:
            names = ", ".join(str(call.get("name")) for call in calling.calls)
            yield broken(
                expected=f"The calls in the reply to {request(calling)} ({names}) run, and one more request "
                "takes their results back.",
                happened=f"The turn ended on the calls ({names}): no request followed {request(calling)}.",
                exchange=calling,
            )


def _ended_by_another(turn: TurnView, calling: Exchange) -> str | None:
    """A tool that fails, hangs or does not exist has clauses of its own for what it may do; so has a hook."""
    if turn.ended_by_hook:
        return f"the hook {' and '.join(sorted(turn.failed_hooks))} ended the turn"
    names = [call.get("name") for call in calling.calls]
    unknown = [name for name in names if not is_offered(turn, calling, name)]
    failed = [one.name for one in turn.called(calling) if not succeeded(one)]
    if (unknown or failed) and (turn.error_mark or turn.reports):
        return f"the tool {(failed or unknown)[0]} ended the turn"
    return None


@check("TOOL-2")
def every_call_has_one_result(run: Run) -> Iterator[Finding]:
    """Exactly one result with the call's id, in the next message."""
    for _, calling in run.stopped(CALLING):
        found = answers(calling)
        if found is None or not (found.everywhere or found.strange) or len(set(found.ids)) < len(found.ids):
            # Without any result TOOL-1 is broken; ids that repeat are the script's own doing.
            continue
        wrong = False
        for identifier in found.ids:
            count = len(found.of(identifier))
            total = sum(piece.block.get("tool_use_id") == identifier for piece in found.everywhere)
            if count != 1 or total != 1:
                wrong = True
                yield _wrong_count(found, identifier, count, total)
        if not wrong:
            yield held(exchange=found.later)


def _wrong_count(found: Answers, identifier: str, count: int, total: int) -> Finding:
    where = f"{count} there and {total - count} elsewhere" if total > count else str(count or "no result")
    strange = ", ".join(str(piece.block.get("tool_use_id")) for piece in found.strange)
    instead = f", but one for {strange}, which the reply did not call" if strange and not total else ""
    return broken(
        expected=f"One result for {identifier} in the message after the reply to {request(found.exchange)}.",
        happened=f"{named(found.later)} has {where} for {identifier}{instead}.",
        exchange=found.later,
    )


@check("TOOL-3")
def results_are_placed_and_paired(run: Run) -> Iterator[Finding]:
    """Results first, each that of its own call; one message and the order of the calls are a SHOULD."""
    for turn, calling in run.stopped(CALLING):
        found = answers(calling)
        if found is None or not found.results:
            continue
        problems = [*_late_results(found), *_foreign_results(turn, found), *_loose_results(found)]
        yield from problems or [held(exchange=found.later)]


def _late_results(found: Answers) -> Iterator[Finding]:
    other: Piece | None = None
    for piece in found.segment:
        if piece.type != "tool_result":
            other = other or piece
        elif other is not None:
            yield broken(
                expected="Results before anything else the user's side says.",
                happened=f"{named(found.later)} has {brief(other.block)} ({other.path}) before "
                f"a result ({piece.path}).",
                exchange=found.later,
                block=other.index,
            )
            return


def _loose_results(found: Answers) -> Iterator[Finding]:
    if len({piece.message for piece in found.results}) > 1:
        yield broken(
            expected="All results of one reply in one message.",
            happened=f"{named(found.later)} has the results of one reply in several messages.",
            exchange=found.later,
            level="SHOULD",
        )
    order = [piece.block.get("tool_use_id") for piece in found.results]
    known = [identifier for identifier in order if identifier in found.ids]
    if known != sorted(known, key=found.ids.index):
        yield broken(
            expected=f"Results in the order of the calls: {', '.join(found.ids)}",
            happened=f"{named(found.later)} has the results in another order: {', '.join(map(str, known))}",
            exchange=found.later,
            level="SHOULD",
        )


def _foreign_results(turn: TurnView, found: Answers) -> Iterator[Finding]:
    """Results that are another call's, or lost what their tool returned."""
    if not turn.run.exposed("tools"):
        return
    given = [(call, _returned_to(turn, found, call)) for call in found.exchange.calls]
    for call, own in given:
        for piece in found.of(call.get("id")):
            if not own:
                yield from _given_up(turn, found, call, piece)
                continue
            told = [value for value in own if carries(piece, value)]
            if told:
                yield from _out_of_sight(found, call, piece, told)
                yield from _taken_for_a_failure(turn, found, call, piece)
                continue
            others = [
                other.get("id")
                for other, values in given
                if other is not call and any(_says(value) and carries(piece, value) for value in values)
            ]
            yield _not_its_own(found, piece, own[0], others)


def _returned_to(turn: TurnView, found: Answers, call: Json) -> list[object]:
    return returned(runs_for(turn, found.exchange, call), found.later.first_at)


def _out_of_sight(found: Answers, call: Json, piece: Piece, told: list[object]) -> Iterator[Finding]:
    """A result with all the words its tool returned, and without the picture or the file."""
    lost = [kind for value in told if (kind := lost_sight(found, piece, value)) is not None]
    if len(lost) == len(told):
        yield broken(
            expected=f"For {call.get('id')}, the `{lost[0]}` block that its tool returned, as a block.",
            happened=f"{named(found.later)} has no `{lost[0]}` in the result ({piece.path}) or behind it: "
            f"{brief(piece.block)}",
            exchange=found.later,
            block=piece.index,
            advice=f"Hand a list of blocks on as it is: `content` takes it. A text in place of the "
            f"`{lost[0]}` leaves the model to guess.",
        )


def _taken_for_a_failure(turn: TurnView, found: Answers, call: Json, piece: Piece) -> Iterator[Finding]:
    runs = runs_for(turn, found.exchange, call)
    said = [run.ended.result for run in runs if run.ended is not None and succeeded(run)]
    if is_error(piece) and len(said) == len(runs) and all(_says(value) for value in said):
        yield broken(
            expected=f"For {call.get('id')}, what its tool returned, without `is_error`: it did not fail.",
            happened=f"{named(found.later)} says of a call that succeeded that it failed ({piece.path}): "
            f"{brief(piece.block)}",
            exchange=found.later,
            block=piece.index,
            # What a tool returned may be the word of a failure, and be marked for that.
            level="SHOULD",
        )


def _given_up(turn: TurnView, found: Answers, call: Json, piece: Piece) -> Iterator[Finding]:
    """A result that was sent although its tool was still at work, and nothing pressed."""
    limits = {**turn.run.declaration.caps, **turn.began.limits}
    if turn.cancels or turn.crash is not None or limits.get("wall_clock") is not None:
        return
    for run in runs_for(turn, found.exchange, call):
        done = run.ended is not None and not run.ended.abandoned and run.ended.at <= found.later.first_at
        waited = found.later.first_at - run.started.at
        if not done and waited < _PATIENCE:
            yield broken(
                expected=f"For {call.get('id')}, what its tool returns: nothing limited its time.",
                happened=f"{named(found.later)} answers the call {waited:.2f} s after the tool was called, "
                f"which had not returned ({piece.path}): {brief(text_of(piece)) or 'nothing'}",
                exchange=found.later,
                block=piece.index,
                level="SHOULD",
            )
            return


def _says(value: object) -> bool:
    return bool(value) and brief(value).strip('" ') != ""


def _not_its_own(found: Answers, piece: Piece, own: object, others: list[object]) -> Finding:
    identifier = piece.block.get("tool_use_id")
    if not others and has_content(piece) and not is_error(piece) and len(brief(own, _SHORT + 1)) > _SHORT:
        return unclear(f"the result for {identifier} may be a shortened form", exchange=found.later)
    whose = f"that of {others[0]}" if others else "something else"
    return broken(
        expected=f"For {identifier}, what its tool returned: {brief(own)}",
        happened=f"{named(found.later)} has {whose} for {identifier} ({piece.path}): "
        f"{brief(text_of(piece)) or 'nothing'}",
        exchange=found.later,
        block=piece.index,
    )


@check("TOOL-4")
def a_tool_that_raises_is_answered(run: Run) -> Iterator[Finding]:
    """`is_error: true` with the tool's words, and the turn goes on; or the turn fails loudly, as declared."""
    if not run.exposed("tools"):
        return

    def failure(turn: TurnView, calling: Exchange, call: Json) -> str | None:
        runs = runs_for(turn, calling, call)
        errors = [one.ended.error for one in runs if one.ended is not None and one.ended.error is not None]
        # A loop may try a tool again: what counts is that it never succeeded.
        return errors[-1] if errors and len(errors) == len(runs) else None

    yield from _failed_calls(run, failure, "raised")


@check("TOOL-5")
def a_call_to_an_unknown_tool_is_answered(run: Run) -> Iterator[Finding]:
    """`is_error: true`, and the turn goes on; or the turn fails loudly, as declared."""

    def failure(turn: TurnView, calling: Exchange, call: Json) -> str | None:
        return None if is_offered(turn, calling, call.get("name")) else ""

    yield from _failed_calls(run, failure, "does not exist")


Failure = Callable[[TurnView, Exchange, Json], str | None]
"""What a call failed with; None where it did not fail."""


def _failed_calls(run: Run, failure: Failure, what: str) -> Iterator[Finding]:
    for turn, calling in run.stopped(CALLING):
        for call in calling.calls:
            words = failure(turn, calling, call)
            if words is None:
                continue
            found = answers(calling)
            if found is None and ended_as_asked(turn, calling):
                continue
            if found is None:
                excuse = cut_short(turn, calling)
                yield unclear(excuse, exchange=calling) if excuse else _stopped_by(turn, calling, call, what)
            elif found.everywhere:
                yield _answered(found, call, words, what)


def _answered(found: Answers, call: Json, words: str, what: str) -> Finding:
    results = found.of(call.get("id"))
    wanted = f"A result for {call.get('id')} with `is_error: true` and a text that says what failed"
    later = named(found.later)
    if not results:
        happened = f"{later} has no result for it; the tool {call.get('name')} {what}."
        return broken(expected=f"{wanted}.", happened=happened, exchange=found.later)
    piece = results[0]
    if not is_error(piece) or not has_content(piece):
        return broken(
            expected=f"{wanted}; the tool {call.get('name')} {what}.",
            happened=f"{later} has for a call that failed: {brief(piece.block)} ({piece.path}).",
            exchange=found.later,
            block=piece.index,
        )
    if words and not carries(piece, words):
        return broken(
            expected=f"A result that names the error: {brief(words)}",
            happened=f"{later} says of the failed call only: {brief(text_of(piece))} ({piece.path}).",
            exchange=found.later,
            block=piece.index,
            level="SHOULD",
        )
    return held(exchange=found.later)


def _stopped_by(turn: TurnView, calling: Exchange, call: Json, what: str) -> Finding:
    """The turn did not go on after a call that failed."""
    policy = turn.run.policy("on_tool_error")
    loud = bool(turn.error_mark or turn.reports)
    if policy == "raise" and loud:
        return held("outcome", exchange=calling)
    how = f"ended as {turn.ending}" if not loud else "failed, and said so"
    undeclared = loud and policy is None and not turn.slipped
    return broken(
        expected=f"The turn goes on with a result for {call.get('id')} that has `is_error: true`.",
        happened=f"The tool {call.get('name')} {what}, and the turn {how}.",
        evidence="outcome",
        exchange=calling,
        level="SHOULD" if undeclared else None,
        advice="If that is meant, declare it: `policies: {on_tool_error: raise}`." if undeclared else "",
    )
