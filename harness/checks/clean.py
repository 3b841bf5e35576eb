"""CLEAN: every exit path lands in the same place."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Run, TurnView
from ..history import Ended, StoreDeleted, StoreSet
from ..keys import Kind, given_key, is_key
from ..wire.same import brief
from .base import Finding, broken, check, count, held, request


@check("CLEAN-1")
def the_checkpoint_is_gone(run: Run) -> Iterator[Finding]:
    """Where the turn wrote one, or found one, it is gone when the turn is over."""
    for turn, _ in _ended(run):
        keys = {one.key for one in turn.store if isinstance(one, StoreSet)} | set(turn.began.store_keys)
        for key in sorted(keys):
            if _is_key(turn, key, "checkpoint"):
                yield _gone(turn, key, "checkpoint")


@check("CLEAN-2")
def the_cancel_flag_is_gone(run: Run) -> Iterator[Finding]:
    """Where the turn was cancelled, the flag is gone when the turn is over.

    A loop that has never looked into the store is warned: the flag may be the affair of its adapter. The
    harness has taken it away, and the next turn begins without it.
    """
    for turn, ended in _ended(run):
        taken = [one.key for one in turn.store if isinstance(one, StoreDeleted) and one.by == "harness"]
        if taken:
            yield broken(
                expected="The cancel flag is gone when the turn is over.",
                happened=f"{taken[0]} was still in the store when the turn ended as {_end(turn)}. The loop "
                "never looked into the store, so the flag was taken away for it.",
                evidence="hook",
                turn=turn,
                level="SHOULD",
            )
            continue
        keys = {one.key for one in turn.store} | set(turn.began.store_keys)
        flags = [key for key in sorted(keys) if _is_key(turn, key, "cancel")]
        if turn.flagged and turn.cancels[0].at <= ended.at:
            for key in flags or [given_key("cancel", turn.began.conversation)]:
                yield _gone(turn, key, "cancel flag")


@check("CLEAN-3")
def activity_is_empty_at_the_end(run: Run) -> Iterator[Finding]:
    """The state that stays does not say that anything is under way."""
    for turn, _ in _ended(run):
        if not turn.publishes or "publish" in turn.failed_hooks:
            continue
        activity = turn.publishes[-1].state.get("activity")
        if not activity:
            yield held("hook", turn=turn)
        else:
            yield broken(
                expected="An empty `activity` in the last published state.",
                happened=f"It says {brief(activity)}, and the turn ended as {_end(turn)}.",
                evidence="hook",
                turn=turn,
            )


@check("CLEAN-4")
def done_is_published_once_and_last(run: Run) -> Iterator[Finding]:
    """Judged where the loop is known to use `done` at all."""
    uses = run.exposed("done") or any(one.done for turn in run.turns for one in turn.publishes)
    for turn, _ in _ended(run) if uses else ():
        if "publish" in turn.failed_hooks:
            continue
        done = [number for number, one in enumerate(turn.publishes) if one.done]
        if len(done) == 1 and done[0] == len(turn.publishes) - 1:
            yield held("hook", turn=turn)
        else:
            what = {0: "None carried it", 1: "Another publish followed it"}
            yield broken(
                expected="Exactly one publish with `done`, the last of the turn.",
                happened=f"{what.get(len(done), f'{len(done)} carried it')}; the turn ended as {_end(turn)}, "
                f"after {count(len(turn.publishes), 'publish', 'publishes')}.",
                evidence="hook",
                turn=turn,
            )


@check("CLEAN-5")
def usage_is_recorded_once(run: Run) -> Iterator[Finding]:
    """One record a turn; told with the outcome it can only be one."""
    for turn, ended in _ended(run):
        if "usage" in turn.failed_hooks:
            continue  # a call that failed may be made again
        count = len(turn.usages)
        if count == 1 or (count == 0 and ended.usage is not None):
            yield held("hook" if count else "outcome", turn=turn)
        elif count > 1:
            yield broken(
                expected="One record of the turn's usage.",
                happened=f"There were {count}, and the turn ended as {_end(turn)}.",
                evidence="hook",
                turn=turn,
            )
        elif usage_is_missing(turn):
            yield broken(
                expected="One record of the turn's usage.",
                happened=f"There was none, and the turn ended as {_end(turn)}.",
                evidence="hook",
                turn=turn,
            )


@check("CLEAN-6")
def a_hook_that_fails_hides_nothing(run: Run) -> Iterator[Finding]:
    """What became of the turn is told all the same; nothing but the hook has failed."""
    for turn, _ in _ended(run):
        if not turn.failed_by_hooks_alone:
            continue
        hooks = " and ".join(sorted(turn.failed_hooks))
        if not turn.ended_by_hook:
            yield held("outcome", turn=turn)
        else:
            yield broken(
                expected=f"The outcome of the turn, although the hook {hooks} failed.",
                happened=f"The turn ended as {_end(turn)}.",
                evidence="outcome",
                turn=turn,
            )


@check("CLEAN-8")
def nothing_is_asked_after_the_outcome(run: Run) -> Iterator[Finding]:
    """No request of the conversation arrives once the loop has said that the turn is over."""
    for turn, ended in _ended(run):
        late = next((one for one in turn.exchanges if one.seen.at > ended.at and one.kind != "side"), None)
        if late is None:
            yield held(turn=turn)
        else:
            yield broken(
                expected=f"No request after the outcome of turn {turn.number}.",
                happened=f"{request(late).capitalize()} came {late.seen.at - ended.at:.3f} s after the "
                "outcome.",
                turn=turn,
                exchange=late,
            )


def usage_is_missing(turn: TurnView) -> bool:
    """Whether there was usage to record, and nothing kept a right loop from recording it."""
    replies = any(one.stop_reason is not None for one in turn.rounds)
    # An exception that stands for a status cannot carry usage; a loop may tell usage by its outcome alone.
    excused = turn.declared_status is not None and not any(one.usages for one in turn.run.turns)
    return replies and not excused and not turn.torn


def _ended(run: Run) -> Iterator[tuple[TurnView, Ended]]:
    """The turns whose loop came to an exit of its own; where it was torn down it had no chance to."""
    for turn in run.turns:
        if turn.ended is not None and not turn.torn:
            yield turn, turn.ended


def _end(turn: TurnView) -> str:
    raised = turn.ended.raised if turn.ended else None
    return f"the exception {raised.type}" if raised else turn.status or "no status told"


def _is_key(turn: TurnView, key: str, kind: Kind) -> bool:
    return is_key(kind, key, turn.began.conversation, turn.run.declaration)


def _gone(turn: TurnView, key: str, what: str) -> Finding:
    there = True
    for event in turn.store:
        if event.key == key:
            there = isinstance(event, StoreSet)
    if not there:
        return held("hook", turn=turn)
    return broken(
        expected=f"The {what} is gone when the turn is over.",
        happened=f"{key} is still in the store, and the turn ended as {_end(turn)}.",
        evidence="hook",
        turn=turn,
    )
