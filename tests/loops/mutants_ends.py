"""Mutants that do not stop when they must, or leave without cleaning up or counting."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from harness.loops.reference import ReferenceTurn, ends
from harness.loops.reference.effects import (
    Ask,
    Call,
    Drop,
    Effect,
    Finish,
    Hook,
    Message,
    Publish,
    RecordUsage,
)
from harness.loops.reference.ends import End
from harness.loops.reference.receive import Accumulator
from harness.loops.reference.sync_driver import ask as ask_now
from harness.turn import Outcome
from tests.loops.mutant import breaks


def without_usage(outcome: Outcome) -> Outcome:
    return msgspec.structs.replace(outcome, usage=None)


@breaks("CAP-1", on=("cap/iterations", "cap/iterations-paused"))
class HasNoIterationCap(ReferenceTurn):
    """Goes on for as long as the model does."""

    def iteration_cap(self) -> int:
        return 10**9

    def pause_cap(self) -> int:
        return 10**9


@breaks("CAP-1", on=("cap/iterations", "cap/iterations-one"))
class AllowsOneIterationTooMany(ReferenceTurn):
    """Compares with the cap after the request instead of before it."""

    def iteration_cap(self) -> int:
        return super().iteration_cap() + 1


@breaks("CAP-2", on=("cap/iterations", "cap/iterations-paused"))
class HitsTheCapInSilence(ReferenceTurn):
    """Ends at the iteration cap as if the model were done."""

    def must_stop(self) -> End | None:
        end = super().must_stop()
        return ends.completed() if end and "iterations" in str(end.problem) else end


@breaks("CAP-3", on=("cap/wall-clock", "cap/slow-tool"))
class HasNoWallClock(ReferenceTurn):
    """Does not look at the clock."""

    def left(self) -> float:
        return 600.0


@breaks("CAP-4", on=("cap/wall-clock", "cap/slow-tool"))
class RunsOutOfTimeInSilence(ReferenceTurn):
    """Ends at the deadline as if the model were done."""

    def must_stop(self) -> End | None:
        end = super().must_stop()
        return ends.completed() if end and "wall-clock" in str(end.problem) else end


@breaks("CAP-5", on=("cap/clock-first", "cap/clock-first-paused"))
class KnowsOnlyOneCapAtATime(ReferenceTurn):
    """Looks at the clock only where iterations are not limited."""

    def left(self) -> float:
        return 600.0 if self.turn.limits.max_iterations is not None else super().left()


@breaks("BOUND-1", on=("pause/endless",))
class NeverEnds(ReferenceTurn):
    """Waits for something that does not come, once the pauses are too many."""

    def must_stop(self) -> End | None:
        return None

    def pause_cap(self) -> int:
        return 10**9


@breaks("CANCEL-1", on=("cancel/between-requests", "cancel/paused"))
class CancelsButAsksOnceMore(ReferenceTurn):
    """Notices a cancellation only when the next reply is there."""

    noticed: int | None = None

    def cancelled(self) -> bool:
        if super().cancelled() and self.noticed is None:
            self.noticed = self.iterations
        return self.noticed is not None and self.iterations > self.noticed + 1


@breaks("CANCEL-3", on=("cancel/tool-with-sibling",))
class StartsTheNextToolAfterACancel(ReferenceTurn):
    """Runs all calls of a reply to the end, cancelled or not."""

    deaf = False

    def run_calls(self, calls: list[Call]) -> Generator[Effect, Any, None]:
        self.deaf = True
        yield from super().run_calls(calls)
        self.deaf = False

    def cancelled(self) -> bool:
        return not self.deaf and super().cancelled()


@breaks("CANCEL-4", on=("cancel/tool", "cancel/start"))
class TakesACancellationForAFailure(ReferenceTurn):
    """Ends a cancelled turn as a failed one."""

    def land(self, end: End) -> Generator[Effect, Any, None]:
        self.was_cancelled = end.status == "cancelled"
        return super().land(ends.failed("aborted") if self.was_cancelled else end)

    was_cancelled = False

    def outcome(self, end: End) -> Any:
        return super().outcome(ends.failed("aborted") if self.was_cancelled else end)


@breaks("CANCEL-4", on=("cancel/tool", "cancel/start"))
class TakesACancellationForAnAnswer(ReferenceTurn):
    """Ends a cancelled turn as a finished one."""

    def outcome(self, end: End) -> Any:
        return super().outcome(ends.completed() if end.status == "cancelled" else end)


@breaks("CANCEL-5", on=("cancel/start", "cancel/tool"))
class IsCancelledForGood(ReferenceTurn):
    """Leaves the cancel flag of a cancelled turn, so that the next one is cancelled as well."""

    def landing(self, end: End) -> Iterator[Hook]:
        for hook in super().landing(end):
            if not (
                isinstance(hook, Drop) and hook.key == self.turn.cancel_key and end.status == "cancelled"
            ):
                yield hook


@breaks("CLEAN-1", "CLEAN-3", "CLEAN-4", "CLEAN-5", "USAGE-2", on=("truncate/text", "cap/iterations"))
class ReturnsInsteadOfBreaking(ReferenceTurn):
    """Leaves a turn that did not finish without any clean-up."""

    def land(self, end: End) -> Generator[Effect, Any, None]:
        if end.status == "completed":
            yield from super().land(end)
        else:
            self.settle()
            self.display.say(end.note, is_error=end.is_error)

    def outcome(self, end: End) -> Any:
        outcome = super().outcome(end)
        return outcome if end.status == "completed" else without_usage(outcome)


@breaks("CLEAN-1", on=("text/one", "tool/one"))
class KeepsTheCheckpoint(ReferenceTurn):
    """Leaves the checkpoint of a turn that is over."""

    def landing(self, end: End) -> Iterator[Hook]:
        return (hook for hook in super().landing(end) if hook != Drop(self.turn.checkpoint_key))


@breaks("CLEAN-2", on=("cancel/tool", "cancel/start"))
class KeepsTheCancelFlag(ReferenceTurn):
    """Leaves the cancel flag of a turn that is over."""

    def landing(self, end: End) -> Iterator[Hook]:
        return (hook for hook in super().landing(end) if hook != Drop(self.turn.cancel_key))


@breaks("CLEAN-3", on=("tool/one", "text/one"))
class StaysBusy(ReferenceTurn):
    """Leaves an activity in the last state it publishes."""

    def shown_at_end(self, end: End) -> Publish:
        last = super().shown_at_end(end)
        return replace(last, state={**last.state, "activity": "Finishing"})


@breaks("CLEAN-4", on=("text/one", "tool/one"))
class IsDoneTwice(ReferenceTurn):
    """Publishes the end, and then publishes it again."""

    def landing(self, end: End) -> Iterator[Hook]:
        yield from super().landing(end)
        yield self.shown_at_end(end)


@breaks("CLEAN-4", on=("text/one", "tool/one"))
class PublishesAfterTheEnd(ReferenceTurn):
    """Publishes once more after it said that it is done."""

    def landing(self, end: End) -> Iterator[Hook]:
        yield from super().landing(end)
        yield replace(self.shown_at_end(end), done=False)


@breaks("CLEAN-4", on=("truncate/text", "cap/iterations"))
class IsNotDoneWhereItWasCut(ReferenceTurn):
    """Publishes the last state of a truncated or capped turn without saying that it is the last."""

    def shown_at_end(self, end: End) -> Publish:
        return replace(super().shown_at_end(end), done=end.status not in ("truncated", "capped"))


@breaks("CLEAN-5", on=("usage/tool-turn", "tool/one"))
class RecordsUsageForEachRequest(ReferenceTurn):
    """Records usage whenever a reply arrives."""

    def ask(self) -> Generator[Effect, Any, Message | End]:
        answer = yield from super().ask()
        if not isinstance(answer, End):
            usage = answer.get("usage", {})
            tokens = {name: usage[name] for name in ("input_tokens", "output_tokens")}
            yield from self.attempt(RecordUsage(1, tokens))
        return answer

    def landing(self, end: End) -> Iterator[Hook]:
        return (hook for hook in super().landing(end) if not isinstance(hook, RecordUsage))


@breaks("CLEAN-8", on=("text/one", "tool/one"))
class AsksAfterTheOutcome(ReferenceTurn):
    """Lets a thread of its own ask once more, after the caller was told that the turn is over."""

    def outcome(self, end: End) -> Any:
        late = threading.Timer(0.04, lambda: ask_now(self, Ask(self.request(), 1.0)))
        late.daemon = True
        late.start()
        return super().outcome(end)


class Summing(Accumulator):
    """Adds up the usage of a stream's events, although each has the total so far."""

    def _message_delta(self, event: dict[str, Any]) -> None:
        before = dict(self.usage)
        super()._message_delta(event)
        for name in ("input_tokens", "output_tokens"):
            self.message["usage"][name] = before.get(name, 0) + event["usage"].get(name, 0)


@breaks("USAGE-1", on=("usage/tool-turn", "usage/paused"), variants=("sse",))
class SumsTheUsageOfAStream(ReferenceTurn):
    """Counts the cumulative values of a stream twice."""

    def accumulator(self) -> Accumulator:
        return Summing()


@breaks("USAGE-1", on=("usage/tool-turn", "usage/paused"))
class CountsOnlyTheLastReply(ReferenceTurn):
    """Records what the last reply used."""

    def count(self, reply: Message) -> None:
        self.usage.tokens = {}
        super().count(reply)


@breaks("USAGE-2", on=("usage/refused", "usage/capped"))
class RecordsUsageOnlyOfSuccess(ReferenceTurn):
    """Records no usage where the turn did not finish."""

    def landing(self, end: End) -> Iterator[Hook]:
        hooks = super().landing(end)
        return (hook for hook in hooks if end.status == "completed" or not isinstance(hook, RecordUsage))

    def outcome(self, end: End) -> Any:
        outcome = super().outcome(end)
        return outcome if end.status == "completed" else without_usage(outcome)


@breaks("USAGE-3", on=("usage/tool-turn", "usage/paused"))
class CountsATurnAsOneRequest(ReferenceTurn):
    """Records one iteration, however many there were."""

    def landing(self, end: End) -> Iterator[Hook]:
        return (
            replace(hook, iterations=1) if isinstance(hook, RecordUsage) else hook
            for hook in super().landing(end)
        )


@breaks("EXPECT", on=("tool/one",))
class RaisesInsteadOfReturning(ReferenceTurn):
    """Ends with an exception although the turn went well."""

    def steps(self) -> Generator[Effect, Any, None]:
        for_sure = super().steps()
        effect = next(for_sure)
        while not isinstance(effect, Finish):
            try:
                result = yield effect
            except BaseException as error:  # noqa: BLE001 - handed on
                effect = for_sure.throw(error)
            else:
                effect = for_sure.send(result)
        yield Finish(effect.outcome, RuntimeError("lost"))
