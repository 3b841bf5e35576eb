"""Mutants that damage the history, or show the wrong thing."""

from __future__ import annotations

import copy
from typing import Any

from harness.loops.reference import ReferenceTurn
from harness.loops.reference.effects import Block, Message
from harness.loops.reference.ends import End
from harness.loops.reference.state import THINKING, is_blank, server_calls, text_of
from tests.loops.mutant import breaks

KNOWN = ("type", "text", "id", "name", "input", "thinking", "signature", "data", "tool_use_id", "content")


@breaks("HIST-1", on=("pause/mcp",))
class EchoesOnlyWhatItKnows(ReferenceTurn):
    """Rebuilds each block from the fields it knows."""

    def add_reply(self, content: list[Block]) -> None:
        super().add_reply([{k: v for k, v in block.items() if k in KNOWN} for block in content])


@breaks("HIST-1", on=("text/around-tools",))
class PutsTextFirst(ReferenceTurn):
    """Sorts the blocks of a reply: text, then the rest."""

    def add_reply(self, content: list[Block]) -> None:
        super().add_reply(sorted(content, key=lambda block: block["type"] != "text"))


@breaks("HIST-1", on=("tool/server-run",))
class DropsServerToolBlocks(ReferenceTurn):
    """Keeps of a reply only what it understands: text, thinking and its own calls."""

    def add_reply(self, content: list[Block]) -> None:
        super().add_reply([block for block in content if block["type"] in ("text", "tool_use", *THINKING)])


@breaks("HIST-1", on=("pause/no-arguments",))
class KeepsAnEmptyObjectAsAList(ReferenceTurn):
    """Keeps replies where lists and maps are one: an empty object comes back as an empty list."""

    def add_reply(self, content: list[Block]) -> None:
        super().add_reply([{key: [] if value == {} else value for key, value in b.items()} for b in content])


@breaks("HIST-2", on=("tool/chained",))
class TrimsOldResults(ReferenceTurn):
    """Replaces all but the last tool result, to save tokens."""

    def outgoing(self) -> list[Message]:
        messages = copy.deepcopy(self.messages)
        for message in messages[:-1]:
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] == "tool_result":
                    block["content"] = "[trimmed]"
        return messages


@breaks("HIST-2", on=("tool/chained",))
class DropsTheOldestRound(ReferenceTurn):
    """Leaves out the first round of tools once there is a second."""

    def outgoing(self) -> list[Message]:
        messages = super().outgoing()
        return [*messages[:1], *messages[3:]] if len(messages) > 3 else messages


@breaks("HIST-3", on=("tool/one",))
class StampsItsMessages(ReferenceTurn):
    """Sends a field of its own with each message, from the second request on."""

    def outgoing(self) -> list[Message]:
        late = self.iterations > 0
        return [
            {**message, "sent": index} if late else message for index, message in enumerate(self.messages)
        ]


@breaks("HIST-4", on=("thinking/tool-turn",))
class StripsThinking(ReferenceTurn):
    """Leaves the thinking out of the history."""

    def add_reply(self, content: list[Block]) -> None:
        super().add_reply([block for block in content if block["type"] != "thinking"])


@breaks("HIST-4", on=("thinking/redacted",))
class DropsRedactedThinking(ReferenceTurn):
    """Leaves out the block that it cannot read."""

    def add_reply(self, content: list[Block]) -> None:
        super().add_reply([block for block in content if block["type"] != "redacted_thinking"])


@breaks("HIST-4", on=("thinking/tool-turn",))
class LosesTheSignature(ReferenceTurn):
    """Keeps what was thought, but not its signature."""

    def add_reply(self, content: list[Block]) -> None:
        super().add_reply([b | {"signature": ""} if b["type"] == "thinking" else b for b in content])


@breaks("HIST-4", on=("thinking/interleaved",))
class GathersThinkingInFront(ReferenceTurn):
    """Moves all thinking before the calls it stood between."""

    def add_reply(self, content: list[Block]) -> None:
        super().add_reply(sorted(content, key=lambda block: block["type"] not in THINKING))


@breaks("HIST-5", on=("text/structured",))
class FlattensContent(ReferenceTurn):
    """Keeps an answer as a string."""

    def add_last_reply(self, content: list[Block]) -> None:
        if text_of(content):
            self.messages.append({"role": "assistant", "content": text_of(content)})


@breaks("HIST-6", on=("tool/blank-text-beside",))
class KeepsBlankText(ReferenceTurn):
    """Sends back a blank text block."""

    def add_reply(self, content: list[Block]) -> None:
        if content:
            self.messages.append({"role": "assistant", "content": content})


@breaks("HIST-7", on=("tool/one", "tool/chained"))
class RewritesTheSystemPrompt(ReferenceTurn):
    """Puts the number of the request into the system prompt."""

    def request(self) -> dict[str, Any]:
        body = super().request()
        body["system"] = f"{body.get('system', '')} (step {self.iterations + 1})".strip()
        return body


@breaks("HIST-8", "CANCEL-5", on=("cancel/between-requests", "cancel/tool"))
class LeavesCallsDangling(ReferenceTurn):
    """Leaves the history as it is, however the turn ends."""

    def settle(self) -> None:
        last = self.messages[-1]
        if last["role"] == "user" and isinstance(last["content"], list) and len(self.messages) > self.start:
            self.messages.pop()  # what was answered for calls that did not run


@breaks("HIST-9", on=("text/one", "tool/one"))
class SavesWhatNobodySaid(ReferenceTurn):
    """Closes the saved history with a message of its own."""

    def settle(self) -> None:
        super().settle()
        self.messages.append({"role": "assistant", "content": [{"type": "text", "text": "(end of turn)"}]})


@breaks("SHOW-1", on=("text/two", "text/many"))
class ShowsTheFirstTextOnly(ReferenceTurn):
    """Shows one text block of a reply."""

    def show(self, content: list[Block]) -> None:
        super().show([block for block in content if block["type"] == "text" and not is_blank(block)][:1])


@breaks("SHOW-1", on=("text/two", "text/many"))
class ShowsTextInTheWrongOrder(ReferenceTurn):
    """Shows the text blocks of a reply from the last to the first."""

    def show(self, content: list[Block]) -> None:
        super().show(content[::-1])


@breaks("SHOW-2", on=("tool/tools-only",))
class ShowsABlankBubble(ReferenceTurn):
    """Adds a message for every reply, also for one without text."""

    def show(self, content: list[Block]) -> None:
        shown = {"role": "assistant", "content": text_of(content), "is_error": False}
        self.display.shown.append(shown)


@breaks("SHOW-3", on=("text/one", "text/two"))
class ShowsTheAnswerTwice(ReferenceTurn):
    """Shows a reply when it comes, and once more at the end."""

    def on_end(self, content: list[Block]) -> End:
        self.show(content)
        return super().on_end(content)


@breaks("SHOW-4", on=("tool/one",))
class LooksIdleWhileToolsRun(ReferenceTurn):
    """Publishes no activity after a reply that calls a tool."""

    def showing(self, activity: str) -> Any:
        return super().showing("")


@breaks("SHOW-4", on=("pause/no-tools",))
class LooksIdleWhileTheServerWorks(ReferenceTurn):
    """Knows of an activity only where it runs a tool itself."""

    def activity(self, content: list[Block]) -> str:
        return "" if server_calls(content) else super().activity(content)

    def ask(self) -> Any:
        self.quiet = self.pauses > 0
        return (yield from super().ask())

    quiet = False

    def showing(self, activity: str) -> Any:
        return super().showing("" if self.quiet and activity == "Thinking" else activity)


@breaks("SHOW-6", on=("text/around-tools",))
class ShowsThePreambleAsTheAnswer(ReferenceTurn):
    """Shows the first text of the turn and nothing after it."""

    def show(self, content: list[Block]) -> None:
        if not self.display.shown:
            super().show(content)


@breaks("SHOW-6", on=("tool/one",))
class ShowsToolOutputAsTheAnswer(ReferenceTurn):
    """Ends with what the last tool returned."""

    output = ""

    def add_results(self, calls: Any) -> None:
        super().add_results(calls)
        self.output = str(self.messages[-1]["content"][-1].get("content", ""))

    def on_end(self, content: list[Block]) -> End:
        end = super().on_end(content)
        self.display.say(self.output)
        return end
