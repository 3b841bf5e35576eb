"""Mutants that do not know when to end, or how to run and answer tool calls."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any

from harness.display import texts_of
from harness.loops.reference import ReferenceTurn
from harness.loops.reference.effects import Block, Call, Effect, Message, Ran
from harness.loops.reference.ends import End
from harness.loops.reference.state import client_calls, server_calls
from tests.loops.mutant import at_once, breaks

Branch = Generator[Any, Any, End | None]


def user(words: str) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": words}]}


@breaks("END-1", on=("text/one",))
class AsksAgainAfterTheEnd(ReferenceTurn):
    """Asks whether that was all, after each answer."""

    asked = False

    def on_end(self, content: list[Block]) -> Any:
        end = super().on_end(content)
        if self.asked:
            return end
        self.asked = True
        self.messages.append(user("Is that all?"))
        return None


@breaks("END-2", on=("text/empty", "tool/empty-end"))
class KeepsTheEmptyReply(ReferenceTurn):
    """Appends an empty reply to the history like any other."""

    def add_last_reply(self, content: list[Block]) -> None:
        self.messages.append({"role": "assistant", "content": content})


@breaks("END-2", on=("text/empty", "tool/empty-end"))
class CrashesOnAnEmptyReply(ReferenceTurn):
    """Takes it for granted that a reply has a first block."""

    crash: Exception | None = None

    def on_end(self, content: list[Block]) -> End:
        assert content[0]["type"]
        return super().on_end(content)

    def crashed(self, crash: Exception) -> End:
        self.crash = crash
        return super().crashed(crash)

    def land(self, end: End) -> Generator[Effect, Any, None]:
        yield from super().land(end)
        if self.crash is not None:
            raise self.crash


@breaks("TOOL-1", on=("tool/one",))
class StopsAtAToolCall(ReferenceTurn):
    """Takes a reply that calls a tool for the last one."""

    def on_tools(self, content: list[Block]) -> Branch:
        return at_once(self.on_end(content))


@breaks("TOOL-2", on=("tool/parallel",))
class AnswersOnlyTheFirstCall(ReferenceTurn):
    """Answers one of several parallel calls."""

    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(list(calls)[:1])


@breaks("TOOL-2", on=("tool/parallel",))
class AnswersUnderAnIdOfItsOwn(ReferenceTurn):
    """Makes up the id of its last result."""

    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(calls)
        block = self.messages[-1]["content"][-1]
        block["tool_use_id"] = "toolu_01" + block["tool_use_id"][:7:-1]


@breaks("TOOL-3", on=("tool/parallel", "tool/slow"))
class SwapsResults(ReferenceTurn):
    """Gives each call the result of its neighbour."""

    def add_results(self, calls: Iterable[Call]) -> None:
        calls = list(calls)
        ids = [call.id for call in calls]
        super().add_results(calls)
        blocks = self.messages[-1]["content"]
        for block, other in zip(blocks, [*ids[1:], *ids[:1]], strict=True):
            block["tool_use_id"] = other


@breaks("TOOL-3", on=("tool/one",))
class PutsTextBeforeResults(ReferenceTurn):
    """Introduces the results, in the message that carries them."""

    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(calls)
        self.messages[-1]["content"].insert(0, {"type": "text", "text": "Here are the results:"})


@breaks("TOOL-3", on=("tool/result-image",))
class HandsOnWordsAlone(ReferenceTurn):
    """Takes the texts out of what a tool returned, and leaves its pictures."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        ran = yield from super().run_call(call)
        words = ran.content if isinstance(ran.content, str) else "\n".join(texts_of(ran.content))
        return replace(ran, content=words)


@breaks("TOOL-4", on=("tool/raises",))
class HidesToolErrors(ReferenceTurn):
    """Returns the error of a tool as if it were its result."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        ran = yield from super().run_call(call)
        return replace(ran, is_error=ran.is_error and call.name not in self.tools)


@breaks("TOOL-4", on=("tool/raises",))
class GivesUpWhenAToolRaises(ReferenceTurn):
    """Lets the error of a tool end the turn, and declares no such policy."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        ran = yield from super().run_call(call)
        if ran.is_error and call.name in self.tools:
            raise RuntimeError(f"{call.name}: {ran.content}")
        return ran


@breaks("TOOL-5", on=("tool/unknown",))
class AnswersUnknownToolsAsIfTheyRan(ReferenceTurn):
    """Says "ok" for a tool that does not exist."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        ran = yield from super().run_call(call)
        return ran if call.name in self.tools else Ran("ok")


@breaks("TOOL-5", on=("tool/unknown",))
class CrashesOnUnknownTools(ReferenceTurn):
    """Looks a tool up without asking whether there is one."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        assert self.tools[call.name]
        return (yield from super().run_call(call))


@breaks("TOOL-6", on=("tool/one",))
class RunsEachCallTwice(ReferenceTurn):
    """Runs a tool again to be sure of its result."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        yield from super().run_call(call)
        return (yield from super().run_call(call))


@breaks("TOOL-6", on=("tool/no-arguments",))
class TurnsAnEmptyObjectIntoAList(ReferenceTurn):
    """Loses the difference between `{}` and `[]` on the way to the tool."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        return (yield from super().run_call(replace(call, input=call.input or [])))


@breaks("TOOL-6", on=("tool/big-integers",))
class ReadsIntegersAsFloats(ReferenceTurn):
    """Hands a tool its integers rounded to 53 bits."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        return (yield from super().run_call(replace(call, input=self.rounded(call.input))))

    def rounded(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.rounded(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.rounded(inner) for inner in value]
        return int(float(value)) if type(value) is int else value


@breaks("TOOL-7", on=("tool/mixed",))
class AnswersServerCalls(ReferenceTurn):
    """Answers the calls of server-run tools as if they were its own."""

    def add_results(self, calls: Iterable[Call]) -> None:
        content = self.messages[-1]["content"]
        server = [Call(block["id"], block["name"], block.get("input")) for block in server_calls(content)]
        super().add_results([*calls, *server])


@breaks("TOOL-8", on=("tool/mixed",))
class AddsTextBesideResults(ReferenceTurn):
    """Adds a reminder after the results, also where a server-run call is open."""

    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(calls)
        self.messages[-1]["content"].append({"type": "text", "text": "Remember to be brief."})


@breaks("TOOL-9", on=("tool/one-of-three-raises",))
class OneFailureCostsTheSiblings(ReferenceTurn):
    """Throws away all results of a reply when one of its tools raises."""

    def add_results(self, calls: Iterable[Call]) -> None:
        if any(ran.is_error for ran in self.ran.values()):
            self.ran = {call: Ran("a tool of this group failed", is_error=True) for call in self.ran}
        super().add_results(calls)


@breaks("TOOL-10", on=("tool/stop-without-call",))
class SpinsWithoutACall(ReferenceTurn):
    """Asks again when the model stops for a tool and calls none."""

    def on_missing_call(self, content: list[Block]) -> Any:
        self.add_reply(content)
        self.messages.append(user("Go on."))


@breaks("TOOL-10", on=("tool/stop-without-call",))
class TakesAMissingCallForTheEnd(ReferenceTurn):
    """Takes a stop for a tool without a call for a finished answer."""

    def on_missing_call(self, content: list[Block]) -> End:
        return self.on_end(content)


@breaks("TOOL-11", on=("tool/call-without-stop",))
class RunsCallsUnderAnyStopReason(ReferenceTurn):
    """Looks at the blocks alone, never at the stop reason."""

    def take(self, reply: Message) -> Branch:
        if client_calls(reply["content"]):
            return self.on_tools(reply["content"])
        return super().take(reply)
