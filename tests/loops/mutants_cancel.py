"""Mutants that do not stop where they are stopped, or are torn when they are interrupted."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Generator, Iterator
from typing import Any

from harness.loops.reference import ReferenceTurn, ends
from harness.loops.reference.effects import Call, Effect, Failed, Finish, Hook, Message
from harness.loops.reference.ends import End
from tests.loops.mutant import breaks

EXCEPTIONS = (KeyboardInterrupt, asyncio.CancelledError)
WHILE_A_TOOL_RUNS = ("cancel/tool-interrupt", "cancel/tool-asyncio")


class Deaf(ReferenceTurn):
    """Does not look at the flag while something is under way."""

    deaf = False

    def cancelled(self) -> bool:
        return not self.deaf and super().cancelled()


@breaks("CANCEL-2", on=("cancel/mid-stream-flag",))
class HearsNothingWhileItStreams(Deaf):
    """Reads a stream to its end, cancelled or not."""

    def request(self) -> dict[str, Any]:
        self.deaf = True
        return super().request()

    def count(self, reply: Message) -> None:
        self.deaf = False
        super().count(reply)


@breaks("CANCEL-2", on=("cancel/retry-flag",))
class TriesAgainForNobody(Deaf):
    """Waits and sends a failed request again, and only then looks whether anybody still wants the answer."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        self.deaf = True
        return super().pause_before_retry(failure, attempt)

    def count(self, reply: Message) -> None:
        self.deaf = False
        super().count(reply)


@breaks("CANCEL-3", on=("cancel/between-tools-flag",))
class FinishesItsListOfTools(Deaf):
    """Looks at the flag before the calls of a reply, and not between them."""

    def run_calls(self, calls: list[Call]) -> Generator[Effect, Any, None]:
        self.deaf = True
        yield from super().run_calls(calls)
        self.deaf = False


@breaks("CANCEL-1", on=WHILE_A_TOOL_RUNS)
class TakesAnInterruptForAToolThatFailed(ReferenceTurn):
    """Catches every exception of a tool, Ctrl-C and a cancelled task among them, and goes on."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Any]:
        try:
            return (yield from super().run_call(call))
        except EXCEPTIONS:
            return self.not_run(call)


@breaks("CANCEL-4", on=("cancel/first-byte-interrupt", "cancel/first-byte-asyncio"))
class TakesAnInterruptForAFailure(ReferenceTurn):
    """Ends an interrupted turn as one that failed."""

    def steps(self) -> Generator[Effect, Any, None]:
        right = super().steps()
        effect = next(right)
        while not isinstance(effect, Finish):
            try:
                result = yield effect
            except BaseException as error:  # noqa: BLE001 - handed on
                effect = right.throw(error)
            else:
                effect = right.send(result)
        yield Finish(self.outcome(ends.failed("interrupted"))) if effect.error else effect


@breaks("CLEAN-1", "CLEAN-3", "CLEAN-4", "CLEAN-5", "USAGE-2", on=WHILE_A_TOOL_RUNS)
class CleansUpOnlyAfterErrors(ReferenceTurn):
    """Cleans up after `Exception`, which neither Ctrl-C nor a cancelled task is."""

    def land(self, end: End) -> Generator[Effect, Any, None]:
        if end.status != "cancelled":
            yield from super().land(end)


@breaks("CANCEL-5", "HIST-8", on=WHILE_A_TOOL_RUNS)
class LeavesTheInterruptedCallOpen(ReferenceTurn):
    """Keeps the reply whose call was interrupted, without a result."""

    def settle(self) -> None:
        self.messages = list(self.messages)


@breaks("CLEAN-6", on=("exit/unseen-1", "exit/uncounted-1"))
class LetsAFailingHookOut(ReferenceTurn):
    """Calls its hooks unguarded."""

    def attempt(self, hook: Hook) -> Generator[Effect, Any, None]:
        yield hook


@breaks("CLEAN-1", "CLEAN-3", "CLEAN-4", on=("exit/uncounted-1", "exit/uncounted-3"))
class GivesUpCleaningAtTheFirstFailure(ReferenceTurn):
    """Guards its clean-up as a whole: what comes after a step that fails is not done."""

    def landing(self, end: End) -> Iterator[Hook]:
        for hook in super().landing(end):
            if not self.failed:
                yield hook

    failed = False

    def attempt(self, hook: Hook) -> Generator[Effect, Any, None]:
        try:
            yield hook
        except Exception:  # noqa: BLE001 - whatever it is
            self.failed = True


@breaks("CLEAN-7", on=("exit/finished-3",))
class LeavesAThreadBehind(ReferenceTurn):
    """Starts a thread for each turn, which waits for more of it."""

    def outcome(self, end: End) -> Any:
        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        return super().outcome(end)
