"""RESUME: a process that is killed in mid-turn, and the one that plays the turn again."""

from __future__ import annotations

from collections.abc import Iterator

from ..crash import Crash
from ..display import all_texts
from ..evidence import FINAL, GOING_ON, Exchange, Run, ToolRun, TurnView
from ..wire.same import brief
from .base import Finding, broken, check, departure, happened_at, held, named, request, unclear
from .usage import totals_fit


@check("RESUME-1")
def a_rerun_goes_on_from_the_checkpoint(run: Run) -> Iterator[Finding]:
    """Judged by the first request of the rerun, against the last reply a checkpoint was written after."""
    for turn, crash in _crashes(run):
        yield from _kept_before_its_tools(turn, crash)
        last = next((one for one in reversed(crash.kept) if one.stop_reason is not None), None)
        if crash.rerun is None or last is None:
            continue
        first = next((one for one in turn.exchanges if one.seen.at > crash.at), None)
        if first is None:
            # Whether a turn that has to go on may end without a request is what other clauses are about.
            if last.stop_reason not in GOING_ON or turn.cancels:
                yield held(exchange=last)
            continue
        if last.stop_reason not in (*FINAL, *GOING_ON):
            continue  # a policy may ask for more
        expected = (
            f"The rerun goes on after the reply to {request(last)}, which a checkpoint was written after."
        )
        found = departure(last, first)
        if last.stop_reason in FINAL:
            yield broken(
                expected=f"Nothing is asked: the reply to {request(last)} was the last of the turn.",
                happened=f"{named(first)} asked the provider again.",
                exchange=first,
            )
        elif found is not None:
            yield broken(expected=expected, happened=happened_at(first, found), exchange=first, diff=found)
        else:
            yield held(exchange=first)


def _kept_before_its_tools(turn: TurnView, crash: Crash) -> Iterator[Finding]:
    """A reply whose tools already run, and which nothing remembers, is decided anew by the model."""
    for one in crash.exchanges:
        if one.delivered is None or any(at > one.delivered.at for at in crash.written):
            continue
        begun = next((run for run in crash.tools if run.started.at > one.delivered.at), None)
        if begun is not None:
            yield broken(
                level="SHOULD",
                expected=f"A checkpoint holds the reply to {request(one)} before its tools run.",
                happened=f"{begun.name} was started, and none had been written since the reply came.",
                evidence="hook",
                turn=turn,
                exchange=one,
            )


@check("RESUME-2")
def no_tool_runs_twice(run: Run) -> Iterator[Finding]:
    """Runs are told apart by name and input; a call the model makes twice may run twice."""
    for turn, crash in _resumed(run):
        remembered = [one for one in crash.tools if one not in crash.lost_tools]
        for one in remembered:
            runs = [other for other in turn.tools if _same(other, one)]
            calls = [block for reply in turn.rounds for block in reply.calls if _is_call(block, one)]
            # One that failed may have been tried again at once, by the same process.
            again = any(other.started.at > crash.at for other in runs)
            if again and len(runs) > max(1, len(calls)):
                yield broken(
                    expected=f"{one.name} runs once: a checkpoint was written after it had returned.",
                    happened=f"It was run again with {brief(one.started.input)} after the crash.",
                    evidence="hook",
                    turn=turn,
                )
            else:
                yield held("hook", turn=turn)
        for one in crash.lost_tools:
            yield from _interrupted(turn, crash, one)


def _interrupted(turn: TurnView, crash: Crash, one: ToolRun) -> Iterator[Finding]:
    """A tool nobody knows the end of, called by a reply that is remembered."""
    asked = next((r for r in crash.kept if any(_is_call(block, one) for block in r.calls)), None)
    if asked is None:
        return
    again = any(_same(other, one) for other in turn.tools if other.started.at > crash.at)
    call = next(block for block in asked.calls if _is_call(block, one))
    answer = _answer_to(str(call.get("id")), asked.next)
    if answer is None:
        if asked.next is None and not turn.cancels and turn.ended is not None:
            yield unclear(f"no request answers the call of {one.name}", turn=turn)
        return
    policy = turn.run.policy("on_crash")
    told = answer.get("is_error") is True
    if again if policy == "repeat" else told and not again if policy == "answer" else again or told:
        yield held("hook", turn=turn, exchange=asked.next)
        return
    wanted = {"repeat": "It is run again", "answer": "It is answered with `is_error` and not run again"}
    did = "It was run again" if again else "It was not run again"
    yield broken(
        expected=f"{one.name} was running when the process died. "
        + wanted.get(policy or "", "It is run again, or answered with `is_error`")
        + (f", as declared (on_crash: {policy})." if policy else "."),
        happened=f"{did}, and its result {'is' if told else 'is not'} marked `is_error`.",
        evidence="hook",
        turn=turn,
        exchange=asked.next,
    )


@check("RESUME-3")
def both_runs_are_counted_as_one(run: Run) -> Iterator[Finding]:
    """Of a turn that was resumed: totals of all replies, one `done`."""
    for turn, crash in _resumed(run):
        if turn.ended is None:
            continue
        for evidence, wrong in totals_fit(turn):
            if wrong is None:
                yield held(evidence, turn=turn)
            else:
                yield broken(
                    expected=f"Over both runs {wrong[0]}", happened=wrong[1], evidence=evidence, turn=turn
                )
        done = sum(one.done for one in turn.publishes)
        if done > 1:
            yield broken(
                expected="One publish with `done` over both runs.",
                happened=f"{done} carried it; the process died after {crash.event.after}.",
                evidence="hook",
                turn=turn,
            )


@check("RESUME-4")
def a_turn_has_one_worker(run: Run) -> Iterator[Finding]:
    """A second one, begun while the first waited for an answer, asked the provider nothing until it ended."""
    for turn in run.turns:
        noted = [note for note in turn.notes if note.kind == "rival"]
        lost = next((note.detail for note in noted if note.detail.startswith("lost")), None)
        asked = next((note for note in noted if note.detail == "asked the provider"), None)
        if asked is not None:
            since = asked.at - noted[0].at
            yield broken(
                expected="A second worker that is given the turn leaves it alone, for the first is at work.",
                happened=f"It asked the provider, {since:.2f} s after it had begun.",
                turn=turn,
            )
        elif lost is not None:
            yield unclear(f"the second worker could not be tried: {lost}", turn=turn)
        elif noted:
            yield held(turn=turn)


@check("RESUME-5")
def an_old_checkpoint_is_thrown_away(run: Run) -> Iterator[Finding]:
    """The user went on: the first request of the next turn is about the new message."""
    for turn, crash in _crashes(run):
        after = turn.following
        if crash.rerun is not None or crash.kept_at is None or after is None:
            continue
        if not after.rounds:
            if after.ended is not None and not after.cancels:
                yield broken(
                    expected=f"The provider is asked for an answer to the message of turn {after.number}.",
                    happened="Nothing was asked: the turn before was resumed, or nothing was done.",
                    turn=after,
                )
            continue
        first = after.rounds[0]
        last = first.transcript[-1] if first.transcript else {}
        if isinstance(last, dict) and any(after.prompt in words for words in _words(last)):
            yield held(exchange=first)
        else:
            yield broken(
                expected=f"{named(first)} ends with the user's new message.",
                happened=f"It ends with {brief(last)}: the checkpoint of the turn before was resumed.",
                exchange=first,
            )


@check("RESUME-6")
def a_cancel_while_nothing_ran_holds(run: Run) -> Iterator[Finding]:
    """Set before the rerun began, it lets the rerun ask nothing."""
    for turn, crash in _crashes(run):
        if crash.rerun is None or not any(one.point == "crash" for one in turn.cancels):
            continue
        first = next((one for one in turn.exchanges if one.seen.at > crash.rerun.at), None)
        if first is None and turn.ended is not None:
            yield held(turn=turn)
        elif first is not None:
            yield broken(
                expected="The turn was cancelled before it began again, so nothing is asked.",
                happened=f"{named(first)} came {first.seen.at - crash.rerun.at:.3f} s after the new start.",
                exchange=first,
            )


def _crashes(run: Run) -> Iterator[tuple[TurnView, Crash]]:
    for turn in run.turns:
        if turn.crash is not None:
            yield turn, turn.crash


def _resumed(run: Run) -> Iterator[tuple[TurnView, Crash]]:
    """The turns that had a checkpoint to go on from, and were played again."""
    for turn, crash in _crashes(run):
        if crash.kept_at is not None and crash.rerun is not None:
            yield turn, crash


def _same(one: ToolRun, other: ToolRun) -> bool:
    return one.name == other.name and one.started.input == other.started.input


def _is_call(block: dict[str, object], run: ToolRun) -> bool:
    return block.get("name") == run.name and (block.get("input") or {}) == (run.started.input or {})


def _answer_to(call: str, later: Exchange | None) -> dict[str, object] | None:
    for message in later.transcript if later else ():
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("tool_use_id") == call:
                return block
    return None


def _words(message: dict[str, object]) -> list[str]:
    return all_texts(message.get("content"))
