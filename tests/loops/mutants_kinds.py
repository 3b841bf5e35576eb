"""Mutants with faults that public loops were reported for, where no other mutant has them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from harness.loops.reference import ReferenceTurn, ends
from harness.loops.reference.effects import Block, Call, Effect, Failed, Message, Publish, Ran, RunTools
from harness.loops.reference.ends import End
from harness.loops.reference.state import blocks_of, text_of
from tests.loops.mutant import breaks


@breaks("TOOL-3", on=("tool/parallel",))
class SendsResultsOneByOne(ReferenceTurn):
    """Sends each result in a message of its own."""

    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(calls)
        results = self.messages.pop()
        self.messages += [{**results, "content": [block]} for block in results["content"]]


@breaks("TRUNC-2", on=("truncate/text",))
class ContinuesByPrefill(ReferenceTurn):
    """Sends a cut reply back as the beginning of the next one."""

    tried = False

    def on_truncation(self, reason: str, content: list[Block]) -> Any:
        if self.tried:
            return super().on_truncation(reason, content)
        self.tried = True
        self.add_reply(content)
        return None


@breaks("HIST-3", on=("tool/many-steps",))
class MarksEveryMessage(ReferenceTurn):
    """Marks the last message for the cache, and never takes a mark away."""

    def outgoing(self) -> list[Message]:
        return [
            {
                **one,
                "content": [{**block, "cache_control": {"type": "ephemeral"}} for block in blocks_of(one)],
            }
            if one["role"] == "user"
            else one
            for one in super().outgoing()
        ]


@breaks("HIST-8", "TOOL-4", on=("tool/raises",))
class FailsWithTheCallOpen(ReferenceTurn):
    """Is ended by a tool that raises, and leaves its call unanswered."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        ran = yield from super().run_call(call)
        if ran.is_error:
            raise RuntimeError(ran.content)
        return ran

    def settle(self) -> None:
        """Leave everything as it is."""


@breaks("TOOL-9", on=("cap/hanging-tool",))
class WaitsForAToolForEver(ReferenceTurn):
    """Gives a tool all the time there is."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        running = super().run_call(call)
        effect = next(running)
        if isinstance(effect, RunTools):
            effect = replace(effect, timeout=600.0)
        try:
            running.send((yield effect))
        except StopIteration as stop:
            ran: Ran = stop.value
            return ran
        raise AssertionError("a call is one effect")


@breaks("TOOL-4", on=("tool/raises-in-silence",))
class SaysNothingOfASilentFailure(ReferenceTurn):
    """Sends what a tool said when it failed, also where that is nothing."""

    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(calls)
        for block in self.messages[-1]["content"]:
            if "failed without" in str(block.get("content")):
                del block["content"]


@breaks("TOOL-6", on=("cancel/tool-with-sibling", "cancel/between-requests"))
class SaysThatAStoppedCallWentWell(ReferenceTurn):
    """Answers the calls that a cancellation kept from running as if they had run."""

    def not_run(self, call: Call) -> Ran:
        return Ran("OK")


@breaks("USAGE-1", on=("fault/stream-error-after-tool",), variants=("sse",))
class ForgetsWhatABrokenStreamUsed(ReferenceTurn):
    """Counts the usage of a reply when it is whole, and never else."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        for name, count in failure.usage.items():
            if isinstance(count, int) and name in self.usage.tokens:
                self.usage.tokens[name] -= count
        return super().pause_before_retry(failure, attempt)


@breaks("CLEAN-3", on=("fault/overloaded-for-good", "fault/rejected"))
class StaysBusyWhenItFails(ReferenceTurn):
    """Leaves the spinner on where a turn ends in an error."""

    def shown_at_end(self, end: End) -> Publish:
        last = super().shown_at_end(end)
        return replace(last, state={**last.state, "activity": "Thinking"}) if end.is_error else last


@breaks("END-2", on=("text/empty", "tool/empty-end"))
class AsksTheSameAfterAnEmptyReply(ReferenceTurn):
    """Takes an empty reply for a failure and tries again."""

    tried = 0

    def on_end(self, content: list[Block]) -> Any:
        self.tried += 1
        return None if not content and self.tried < 3 else super().on_end(content)


@breaks("TOOL-2", on=("tool/dozen",))
class RunsOnlyFullBatches(ReferenceTurn):
    """Answers calls in batches of five, and forgets those behind the last full one."""

    def add_results(self, calls: Iterable[Call]) -> None:
        everything = list(calls)
        super().add_results(everything[: len(everything) // 5 * 5] or everything)


@breaks("TOOL-5", on=("tool/near-name",))
class TakesTheNearestTool(ReferenceTurn):
    """Runs the tool whose name is most like the one that was called."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        near = get_close_matches(call.name, self.tools, 1)
        return (yield from super().run_call(replace(call, name=near[0]) if near else call))


@breaks("TOOL-2", on=("tool/says-nothing",))
class SkipsEmptyResults(ReferenceTurn):
    """Sends back what a tool returned, where it returned something."""

    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(calls)
        results = self.messages[-1]["content"]
        self.messages[-1]["content"] = [block for block in results if block.get("content")]


@breaks("PAUSE-3", on=("pause/container-silent",))
class TakesTheContainerOfTheNewestReply(ReferenceTurn):
    """Resumes with the container of the reply before, also where that names none."""

    def on_pause(self, content: list[Block], *, compaction: bool) -> Any:
        if not any("code_execution" in str(block.get("name")) for block in content):
            self.container = None
        return super().on_pause(content, compaction=compaction)


@breaks("CAP-1", on=("cap/iterations-talking",))
class TakesATextForProgress(ReferenceTurn):
    """Counts anew whenever the model says something."""

    def show(self, content: list[Block]) -> None:
        super().show(content)
        if text_of(content):
            self.iterations = 0


@breaks("CAP-1", on=("thinking/still",))
class AsksUntilItSpeaks(ReferenceTurn):
    """Asks for an answer until there is one, and does not count that."""

    def on_thought_only(self) -> Any:
        self.messages.append({"role": "user", "content": "Please answer."})
        self.iterations = 0


@breaks("HIST-1", on=("text/cited-alone",))
class StoresASingleTextAsAString(ReferenceTurn):
    """Keeps a reply of one text block as its text."""

    def add_last_reply(self, content: list[Block]) -> None:
        super().add_last_reply(content)
        if len(content) == 1 and text_of(content) and self.messages:
            self.messages[-1] = {**self.messages[-1], "content": text_of(content)}


@breaks("EXPECT", on=("cap/attempts",))
class CountsItsAttempts(ReferenceTurn):
    """Takes each attempt at a request for an iteration."""

    attempts = 0

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        self.attempts += 1
        return super().pause_before_retry(failure, attempt)

    def must_stop(self) -> End | None:
        cap = self.turn.limits.max_iterations
        if cap is not None and self.attempts >= cap:
            return ends.capped(f"the cap of {cap} attempts was", self.iterations)
        return super().must_stop()
