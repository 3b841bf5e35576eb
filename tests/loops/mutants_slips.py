"""Mutants with a slip of one sign or one value, which a mutation tool made first and no scenario noticed."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any

from harness.loops.reference import ReferenceTurn
from harness.loops.reference.effects import Block, Call, Effect, Failed, Ran, RunTools
from harness.loops.reference.ends import End
from harness.loops.reference.receive import Accumulator
from harness.loops.reference.state import blocks_of
from tests.loops.mutant import breaks


@breaks("TOOL-3", on=("tool/one", "tool/parallel"))
class TakesSuccessForFailure(ReferenceTurn):
    """Marks the result of every tool as an error."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        ran = yield from super().run_call(call)
        return replace(ran, is_error=True)


@breaks("TOOL-3", on=("tool/slow",))
class GivesUpOnToolsAtOnce(ReferenceTurn):
    """Waits a tenth of a second for a tool, however much time there is."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        results: list[Ran] = yield RunTools((call,), 0.1)
        return results[0]


@breaks("HIST-11", on=("text/followed-up", "tool/kept"))
class LeavesNothingBehind(ReferenceTurn):
    """Empties the history when it tidies it up at the end."""

    def settle(self) -> None:
        self.messages = []


@breaks("PAUSE-1", "EXPECT", on=("pause/tool-between",))
class CountsThePausesOfTheTurn(ReferenceTurn):
    """Holds all pauses of a turn against a limit for those in a row."""

    def on_tools(self, content: list[Block]) -> Generator[Effect, Any, End | None]:
        pauses = self.pauses
        end = yield from super().on_tools(content)
        self.pauses = pauses
        return end


class Uncited(Accumulator):
    """Keeps the words of a text, and not what they rest on."""

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        if delta.get("type") != "citations_delta":
            super()._delta(index, delta)


@breaks("HIST-1", on=("text/cited",), variants=("sse",))
class LosesCitations(ReferenceTurn):
    """Passes over the citations of a stream."""

    def accumulator(self) -> Accumulator:
        return Uncited()


@breaks("HIST-1", on=("tool/server-run", "text/cited"))
class TakesAnsweredSearchesForOpenOnes(ReferenceTurn):
    """Drops every server-run call at the end of the turn, answered or not."""

    def settle(self) -> None:
        super().settle()
        for message in self.messages[self.start :]:
            if message["role"] == "assistant":
                message["content"] = [
                    block for block in blocks_of(message) if block.get("type") != "server_tool_use"
                ]


@breaks("EXPECT", on=("cap/iterations-reached",))
class AllowsOneIterationTooFew(ReferenceTurn):
    """Ends before the last request that the cap allows."""

    def iteration_cap(self) -> int:
        return super().iteration_cap() - 1


@breaks("SHOW-1", on=("text/parted",))
class PutsTheEndBeforeTheMiddle(ReferenceTurn):
    """Puts a text that continues its neighbour behind the first text of the reply."""

    def show(self, content: list[Block]) -> None:
        self.display.say(_gathered(content))


@breaks("EXPECT", on=("fault/overloaded-once", "fault/server-error-first", "fault/reset", "fault/no-advice"))
class GivesUpAtOnce(ReferenceTurn):
    """Declares that it tries again what failed, and does not."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        return None


def _gathered(content: Iterable[Block]) -> str:
    parts: list[str] = []
    joined = False
    for block in content:
        text = str(block.get("text", "")) if block.get("type") == "text" else ""
        if text and joined:
            parts[0] += text
        elif text:
            parts.append(text)
        joined = bool(text)
    return "\n\n".join(part for part in parts if part.strip())
