"""EXPECT: what the scenario itself expects, never harsher than the choices a loop has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import display
from ..evidence import CUT, FINAL, Exchange, Run, ToolRun, TurnView
from ..scenario.model import Expect
from ..wire.same import brief
from .base import Finding, broken, check, count, held, note, request, unclear


@check("EXPECT")
def what_the_scenario_expects_holds(run: Run) -> Iterator[Finding]:
    """Requests, status, answer, what was shown, and tool runs, where the scenario says them."""
    for turn in run.turns:
        script = turn.script
        if script is None or turn.ended is None or script.expect == Expect():
            continue
        other_course = _other_course(turn)
        if other_course:
            yield note(f"the scenario's expectations were not judged: {other_course}", turn=turn)
            continue
        yield from _requests(turn, script.expect.requests)
        yield from _status(turn, script.expect.status)
        yield from _answer(turn, script.expect.answer)
        yield from _shown(turn, script.expect.shown)
        yield from _tools(turn, script.expect.tools)


def _other_course(turn: TurnView) -> str | None:
    """Why this turn rightly took another course than the scenario's; None where it did not."""
    run = turn.run
    names = {"max_iterations": "iterations", "wall_clock": "wall_clock", "pauses": "pauses"}
    for key, name in names.items():
        if key in turn.began.limits and not run.exposed(name):
            return f"the loop does not take the limit `{key}`"
    if turn.script and turn.script.cancel and not turn.cancels:
        return f"the turn was over before it could be cancelled ({turn.script.cancel.at})"
    if own := _own_cap(turn):
        return own
    if turn.cancels and (why := _not_cancelled(turn)):
        return why
    if turn.script is not None and turn.script.crash is not None and turn.crash is None:
        return "the loop never wrote the checkpoint after which it was to be killed"
    return _other_policy(turn)


def _own_cap(turn: TurnView) -> str | None:
    """Which cap of the loop's own stood in place of the scenario's, or was reached where that has none."""
    given = turn.began.limits
    for name, cap in turn.run.declaration.caps.items():
        limit = given.get("max_iterations" if name == "iterations" else name)
        if limit is not None and limit != cap:
            return f"the loop has a limit of its own: `{name}`, {cap:g}"
        if limit is None and name == "iterations" and len(turn.rounds) >= cap:
            return f"the loop's own cap of {count(int(cap), 'request')} was reached"
    return None


def _not_cancelled(turn: TurnView) -> str | None:
    if not turn.run.exposed("cancel"):
        return "the loop cannot be cancelled"
    at = turn.cancelled_at
    if at is not None and any(at < one.first_at <= at + turn.notice for one in turn.rounds):
        return "a request was on its way when the client left"
    return None


def _other_policy(turn: TurnView) -> str | None:
    for one in turn.rounds:
        if one.next is not None and one.stop_reason in CUT:
            return f"the loop went on after `{one.stop_reason}`"
        if one.next is not None and one.stop_reason == "refusal":
            return "the loop went on after a refusal"
        if one.next is not None and one.stop_reason in FINAL and not one.content:
            return "the loop asked again after an empty reply"
    stopped = turn.status == "failed" and turn.last is not None and turn.last.stop_reason == "tool_use"
    offered = set(turn.began.tools)
    unknown = stopped and turn.last and any(call.get("name") not in offered for call in turn.last.calls)
    if stopped and (unknown or any(tool.failed for tool in turn.tools)):
        return "a tool that fails ends the turn (`on_tool_error: raise`)"
    return None


def _requests(turn: TurnView, expected: int | None) -> Iterator[Finding]:
    if expected is None:
        return
    made = len(turn.rounds)
    if made == expected:
        yield held(turn=turn)
        return
    yield broken(
        expected=f"{count(expected, 'request')} in turn {turn.number}, retries not counted.",
        happened=f"The loop made {count(made, 'request')}, not {expected}.",
        turn=turn,
        exchange=turn.last,
    )


def _status(turn: TurnView, expected: Sequence[str] | None) -> Iterator[Finding]:
    raised = turn.ended.raised if turn.ended else None
    if expected is None or not (turn.run.exposed("status") or raised):
        return
    right = [expected] if isinstance(expected, str) else list(expected)
    if turn.status not in right and "cancelled" in right and _finished_first(turn):
        return  # whether that is right is for CANCEL-2 and CANCEL-4 to say
    if turn.status in right and (once := _tried_once(turn)):
        yield broken(
            expected=f"One more request after the failure of {request(once)}, as declared (on_fault: retry).",
            happened=f"The turn failed with {request(once)}, which might have been answered had it been sent "
            "again.",
            turn=turn,
            exchange=once,
        )
    elif turn.status in right:
        yield held("outcome", turn=turn)
    elif raised and turn.declared_status is None and "completed" not in right and not turn.slipped:
        # A loop that returns its answer and nothing else has no other way to say that there is none.
        yield unclear(
            f"the loop raised {raised.type}; to have that judged, declare what it stands for: "
            f"`raises: {{{raised.type}: {right[0]}}}`",
            evidence="outcome",
            turn=turn,
        )
    elif raised and turn.declared_status is None and "completed" not in right:
        yield broken(
            expected=f"An outcome with the status {' or '.join(right)}.",
            happened=f"The loop raised {raised.type}: {raised.message}",
            evidence="outcome",
            turn=turn,
            level="SHOULD",
            advice=f"{raised.type} is what a slip raises. If it is meant, declare it: "
            f"`raises: {{{raised.type}: {right[0]}}}`.",
        )
    else:
        what = f"raised {raised.type}: {raised.message}" if raised else f"told {turn.status or 'no status'}"
        yield broken(
            expected=f"An outcome with the status {' or '.join(right)}.",
            happened=f"The loop {what}.",
            evidence="outcome",
            turn=turn,
        )


def _finished_first(turn: TurnView) -> bool:
    """Whether the last reply, on its way at the cancellation, ended a turn that looks between requests."""
    at, last = turn.cancelled_at, turn.last
    if at is None or last is None or last.first_at > at or turn.run.policy("cancel") == "at_once":
        return False
    return turn.ended_by_reply


def _tried_once(turn: TurnView) -> Exchange | None:
    """The request that failed in passing and was not sent again, by a loop that declares to do that."""
    if turn.run.policy("on_fault") != "retry" or turn.status != "failed" or turn.cancels:
        return None
    if turn.began.limits.get("wall_clock") is not None:
        return None  # there may have been no time for it
    failed = [exchange for exchange in turn.exchanges[-2:] if exchange.invites_retry]
    # Two in a row: the second is the first once more.
    return failed[0] if len(failed) == 1 and failed[0] is turn.exchanges[-1] else None


def _answer(turn: TurnView, expected: list[str] | None) -> Iterator[Finding]:
    if not expected or turn.shown is None:
        return
    shown = display.joined(turn.shown)
    missing = display.missing_in_order(expected, shown)
    twice = next((text for text in expected if shown.count(display.squeezed(text)) > 1), None)
    if missing is None and twice is None:
        yield held("outcome", turn=turn)
        return
    problem = "more than once" if missing is None else "not in its place, or not at all"
    yield broken(
        expected=f"The answer shown once, in order: {' | '.join(expected)}",
        happened=f"This text was shown {problem}: {brief(missing or twice)} "
        f"(shown: {brief(shown) or 'nothing'})",
        evidence="outcome",
        turn=turn,
    )


def _shown(turn: TurnView, expected: list[str] | None) -> Iterator[Finding]:
    gives_a_list = bool(turn.ended and turn.ended.returned == "outcome" and turn.ended.shown is not None)
    if expected is None or turn.shown is None or not (gives_a_list or turn.publishes):
        return
    shown = display.joined([one for one in turn.shown if not one.is_error])
    rest = shown
    for text in expected:
        rest = rest.replace(display.squeezed(text), " ", 1)
    if rest.split():
        yield broken(
            expected=f"Nothing but: {' | '.join(expected) or '(nothing)'}",
            happened=f"This was shown too: {brief(display.squeezed(rest))}",
            evidence="outcome",
            turn=turn,
        )
    elif expected and display.missing_in_order(expected[-1:], shown):
        yield broken(
            expected=f"The last text of the turn: {brief(expected[-1])}",
            happened=f"The last text was not shown (shown: {brief(shown) or 'nothing'}).",
            evidence="outcome",
            turn=turn,
        )
    else:
        yield held("outcome", turn=turn)


def _tools(turn: TurnView, expected: dict[str, int] | None) -> Iterator[Finding]:
    own = turn.run.declaration.tools != "turn" or not turn.run.exposed("tools")
    if not expected or own or turn.cancels:
        return
    wrong = False
    for name, times in expected.items():
        ran = len([tool for tool in turn.tools if tool.started.name == name and not _repeated(turn, tool)])
        if ran != times:
            wrong = True
            yield broken(
                expected=f"The tool {name} runs {count(times, 'time')}.",
                happened=f"The tool {name} ran {count(ran, 'time')}, not {times}.",
                evidence="hook",
                turn=turn,
            )
    if not wrong:
        yield held("hook", turn=turn)


def _repeated(turn: TurnView, tool: ToolRun) -> bool:
    """Whether the same was tried again after it had failed: it counts as one run."""
    later = turn.tools[turn.tools.index(tool) + 1 :]
    return tool.failed and any(
        one.name == tool.name and one.started.input == tool.started.input for one in later
    )
