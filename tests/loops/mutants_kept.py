"""Mutants that lose what was said before, change what is not theirs, or take a summary for an end."""

from __future__ import annotations

import copy
from collections.abc import Generator
from dataclasses import replace
from typing import Any

from harness.loops.reference import ReferenceTurn, ends
from harness.loops.reference.effects import Ask, Block, Call, Effect, Message, Publish, Ran
from harness.loops.reference.ends import End
from harness.loops.reference.state import blocks_of
from harness.turn import Turn
from tests.loops.mutant import at_once, breaks


@breaks("END-3", on=("thinking/only",))
class ShowsItsThoughts(ReferenceTurn):
    """Shows whatever a reply begins with."""

    def show(self, content: list[Block]) -> None:
        first = content[0] if content else {}
        self.display.say(str(first.get("thinking") or ""))
        super().show(content)


@breaks("END-3", on=("thinking/only",))
class IsDoneWithoutAWord(ReferenceTurn):
    """Takes a reply that only thought for an answer."""

    def on_thought_only(self) -> End:
        return ends.completed()


@breaks("COMPACT-1", on=("compact/tool-turn",))
class TakesASummaryForTheEnd(ReferenceTurn):
    """Ends the turn where the conversation was summarized."""

    def on_pause(self, content: list[Block], *, compaction: bool) -> Any:
        return at_once(self.on_end(content)) if compaction else super().on_pause(content, compaction=False)


@breaks("COMPACT-1", on=("compact/tool-turn",))
class DropsTheSummary(ReferenceTurn):
    """Asks again after a summary, without it."""

    def add_reply(self, content: list[Block]) -> None:
        super().add_reply([block for block in content if block["type"] != "compaction"])


@breaks("COMPACT-1", on=("compact/tool-turn",))
class TellsTheSummaryItself(ReferenceTurn):
    """Makes a message of its own of the summary."""

    def add_reply(self, content: list[Block]) -> None:
        if content and content[0]["type"] == "compaction":
            told = f"So far: {content[0]['content']}"
            self.messages.append({"role": "user", "content": [{"type": "text", "text": told}]})
        else:
            super().add_reply(content)


@breaks("HIST-10", on=("history/long",))
class CutsBetweenPairs(ReferenceTurn):
    """Keeps the last six messages, whatever they are."""

    def outgoing(self) -> list[Message]:
        return super().outgoing()[-6:]


@breaks("HIST-10", on=("history/long",))
class NumbersCallsWithinTheirReply(ReferenceTurn):
    """Gives each call the id of its place among the calls of its reply."""

    def outgoing(self) -> list[Message]:
        messages = copy.deepcopy(super().outgoing())
        names: dict[str, str] = {}
        for message in messages:
            calls = [block for block in blocks_of(message) if block.get("type") == "tool_use"]
            for place, block in enumerate(calls):
                names[block["id"]] = block["id"] = f"toolu_{place:020}"
        for message in messages:
            for block in blocks_of(message):
                if block.get("type") == "tool_result":
                    block["tool_use_id"] = names.get(block["tool_use_id"], block["tool_use_id"])
        return messages


@breaks("HIST-11", on=("text/followed-up", "history/long"))
class ForgetsTheConversation(ReferenceTurn):
    """Begins each turn with what the user says, and nothing before."""

    def outgoing(self) -> list[Message]:
        return super().outgoing()[self.start - 1 :]


@breaks("HIST-11", on=("text/followed-up",))
class AnswersTheMessageBefore(ReferenceTurn):
    """Loads the conversation before the new message is stored in it."""

    def outgoing(self) -> list[Message]:
        messages = super().outgoing()
        return [*messages[: self.start - 2], *messages[self.start :]] if self.start > 2 else messages


@breaks("SHOW-5", on=("tool/server-run",))
class PublishesWhatItCanRender(ReferenceTurn):
    """Leaves the results of server-run tools out of what it publishes."""

    def rendered(self, shown: Publish) -> Publish:
        history = [
            {**message, "content": [b for b in blocks_of(message) if "tool_result" not in b["type"]]}
            for message in shown.history
        ]
        return replace(shown, history=history)

    def showing(self, activity: str) -> Publish:
        return self.rendered(super().showing(activity))

    def shown_at_end(self, end: End) -> Publish:
        return self.rendered(super().shown_at_end(end))


@breaks("OWN-1", on=("text/followed-up", "tool/one"))
class MarksTheCallersMessages(ReferenceTurn):
    """Puts its cache mark into the message it was handed."""

    def outgoing(self) -> list[Message]:
        prompt = self.turn.messages[-1]
        prompt["content"] = [{**block, "cache_control": {"type": "ephemeral"}} for block in blocks_of(prompt)]
        return super().outgoing()


@breaks("OWN-1", on=("text/followed-up", "tool/one"))
class WritesIntoTheCallersList(ReferenceTurn):
    """Appends to the very list it was handed."""

    def __init__(self, turn: Turn, *more: Any) -> None:
        super().__init__(turn, *more)
        self.messages = turn.messages


@breaks("OWN-1", on=("tool/one", "tool/parallel"))
class TightensTheSchemas(ReferenceTurn):
    """Changes the schemas of the tools to what it would rather have."""

    def tool_params(self) -> list[dict[str, Any]]:
        for tool in self.turn.tools:
            tool.input_schema["additionalProperties"] = False
        return super().tool_params()


@breaks("OWN-1", on=("tool/result-blocks",))
class MarksWhatAToolReturned(ReferenceTurn):
    """Puts its cache mark into the blocks that belong to the tool."""

    def add_results(self, calls: Any) -> None:
        for ran in self.ran.values():
            if isinstance(ran.content, list):
                ran.content[-1]["cache_control"] = {"type": "ephemeral"}
        super().add_results(calls)


@breaks("CAP-6", on=("cap/call-outlasts-clock",))
class WaitsAsLongAsItsClient(ReferenceTurn):
    """Looks at the clock between two requests, and lets each take as long as it takes."""

    def ask(self) -> Generator[Effect, Any, Message | End]:
        asking = super().ask()
        effect = next(asking)
        while True:
            if isinstance(effect, Ask):
                effect = replace(effect, timeout=60.0)
            try:
                result = yield effect
                effect = asking.send(result)
            except StopIteration as stop:
                answer: Message | End = stop.value
                return answer


@breaks("CAP-7", on=("cap/iterations-mixed",))
class CountsPausesApart(ReferenceTurn):
    """Does not count the requests that resume a pause."""

    resumed = 0

    def on_pause(self, content: list[Block], *, compaction: bool) -> Generator[Effect, Any, End | None]:
        self.resumed += 1
        return (yield from super().on_pause(content, compaction=compaction))

    def iteration_cap(self) -> int:
        return super().iteration_cap() + self.resumed


@breaks("TOOL-4", on=("tool/raises-its-own",))
class CatchesWhatItExpectsOfTools(ReferenceTurn):
    """Lets out what a tool raises unless it is the exception that tools are to raise."""

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        ran = yield from super().run_call(call)
        if ran.is_error and str(ran.content).startswith(("TimeoutError: ", "KeyError: ")):
            raise RuntimeError(ran.content)
        return ran
