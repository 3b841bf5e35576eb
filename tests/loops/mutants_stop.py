"""Mutants that take a stop reason for another: pauses, truncation, refusals, a full window, unknown ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.loops.reference import ReferenceTurn, ends
from harness.loops.reference.effects import Block, Message
from harness.loops.reference.ends import End
from harness.loops.reference.state import client_calls
from tests.loops.mutant import at_once, breaks
from tests.loops.mutants_tools import Branch, user


@breaks("PAUSE-1", "PAUSE-5", on=("pause/no-tools", "pause/results"))
class ExitsOnNoToolCall(ReferenceTurn):
    """Takes every reply without a client tool call for the last one."""

    def on_pause(self, content: list[Block], *, compaction: bool) -> Branch:
        return at_once(self.on_end(content))


@breaks("BASE-1", "PAUSE-1", on=("pause/no-tools",))
class ResumesWithAClientOfItsOwn(ReferenceTurn):
    """Resumes a pause by a second client, which is told no base URL."""

    def on_pause(self, content: list[Block], *, compaction: bool) -> Branch:
        end = yield from super().on_pause(content, compaction=compaction)
        self.turn.base_url = "https://api.anthropic.com"
        return end


@breaks("PAUSE-2", on=("pause/no-tools",))
class AddsContinueToAPause(ReferenceTurn):
    """Tells the model to continue, after a paused reply."""

    def on_pause(self, content: list[Block], *, compaction: bool) -> Branch:
        end = yield from super().on_pause(content, compaction=compaction)
        self.messages.append(user("continue"))
        return end


@breaks("PAUSE-2", on=("pause/no-tools", "pause/mcp"))
class SendsBackOnlyTheTextOfAPause(ReferenceTurn):
    """Drops the calls of a paused reply before it is resumed."""

    def on_pause(self, content: list[Block], *, compaction: bool) -> Branch:
        end = yield from super().on_pause(content, compaction=compaction)
        self.messages[-1] = {"role": "assistant", "content": [b for b in content if b["type"] == "text"]}
        return end


@breaks("PAUSE-3", on=("pause/then-tool",))
class DropsToolsOnResume(ReferenceTurn):
    """Resumes a pause without the tools."""

    def request(self) -> dict[str, Any]:
        body = super().request()
        if self.pauses:
            body.pop("tools", None)
        return body


@breaks("PAUSE-3", on=("pause/container",))
class ForgetsTheContainer(ReferenceTurn):
    """Resumes a pause in a new container."""

    def request(self) -> dict[str, Any]:
        body = super().request()
        body.pop("container", None)
        return body


@breaks("PAUSE-4", on=("pause/endless",))
class ResumesForEver(ReferenceTurn):
    """Has no bound of its own for pauses in a row, nor any other."""

    def pause_cap(self) -> int:
        return 10**9

    def iteration_cap(self) -> int:
        return 10**9


@breaks("PAUSE-4", "PAUSE-5", on=("pause/endless",))
class TakesTheLastPauseForTheAnswer(ReferenceTurn):
    """Ends quietly where the pauses become too many."""

    def on_pause(self, content: list[Block], *, compaction: bool) -> Branch:
        end = yield from super().on_pause(content, compaction=compaction)
        return ends.completed() if end is not None else None


@breaks("TRUNC-1", on=("truncate/text", "truncate/after-tool"))
class TakesTruncationForAnAnswer(ReferenceTurn):
    """Treats `max_tokens` like `end_turn`."""

    def on_truncation(self, reason: str, content: list[Block]) -> End:
        end = super().on_truncation(reason, content)
        return ends.completed() if reason == "max_tokens" else end


@breaks("TRUNC-2", on=("truncate/text",))
class SendsATruncatedRequestAgain(ReferenceTurn):
    """Sends the very same request again when the reply was cut."""

    again = False

    def on_truncation(self, reason: str, content: list[Block]) -> Any:
        if self.again or reason != "max_tokens":
            return super().on_truncation(reason, content)
        self.again = True
        return None


@breaks("TRUNC-3", on=("truncate/text",))
class ShowsTruncationWithoutReportingIt(ReferenceTurn):
    """Marks a cut reply for the user and tells nobody else."""

    def on_truncation(self, reason: str, content: list[Block]) -> End:
        return replace(super().on_truncation(reason, content), problem=None)


@breaks("TRUNC-4", on=("truncate/tool-partial", "truncate/tool-empty"))
class RunsACutCall(ReferenceTurn):
    """Runs a call that was cut by `max_tokens`."""

    def take(self, reply: Message) -> Branch:
        if reply["stop_reason"] == "max_tokens" and client_calls(reply["content"]):
            return self.on_tools(reply["content"])
        return super().take(reply)


@breaks("TRUNC-4", on=("truncate/tool-partial", "truncate/tool-empty"))
class KeepsACutCall(ReferenceTurn):
    """Keeps the half of a call in the history, with a note that it was not run."""

    def on_truncation(self, reason: str, content: list[Block]) -> End:
        end = super().on_truncation(reason, [])
        self.show(content)
        self.add_last_reply(content)
        return end


@breaks("REFUSE-1", on=("refuse/no-details", "refuse/empty"))
class RetriesARefusal(ReferenceTurn):
    """Asks a second time when the model declines."""

    again = False

    def on_refusal(self, reply: Message) -> Any:
        if self.again:
            return super().on_refusal(reply)
        self.again = True
        return None


@breaks("REFUSE-2", on=("refuse/empty", "refuse/partial"))
class SaysNothingAboutARefusal(ReferenceTurn):
    """Ends a refused turn like a finished one."""

    def on_refusal(self, reply: Message) -> End:
        super().on_refusal(reply)
        return ends.completed()


@breaks("REFUSE-3", on=("refuse/no-details", "refuse/empty"))
class ReportsARefusalAsAFault(ReferenceTurn):
    """Reports an exception when the model declines."""

    def on_refusal(self, reply: Message) -> End:
        super().on_refusal(reply)
        return ends.failed("the model failed", RuntimeError("unexpected stop reason: refusal"))


@breaks("REFUSE-4", on=("refuse/empty", "refuse/partial"))
class KeepsTheRefusedReply(ReferenceTurn):
    """Appends a refused reply to the history, empty or not."""

    def on_refusal(self, reply: Message) -> End:
        kept = list(self.messages)
        end = super().on_refusal(reply)
        self.messages = [*kept, {"role": "assistant", "content": reply["content"]}]
        return end


@breaks("REFUSE-4", on=("refuse/partial", "refuse/after-tool"))
class KeepsWhatWasRefused(ReferenceTurn):
    """Leaves out the refused reply, and asks again what it was refused for."""

    def on_refusal(self, reply: Message) -> End:
        kept = list(self.messages)
        end = super().on_refusal(reply)
        self.messages = kept
        return end


@breaks("REFUSE-5", on=("refuse/tool-call",))
class RunsRefusedCalls(ReferenceTurn):
    """Runs the calls of a refused reply before it ends the turn."""

    def take(self, reply: Message) -> Branch:
        if reply["stop_reason"] == "refusal":
            yield from self.run_calls(client_calls(reply["content"]))
        return (yield from super().take(reply))


@breaks("WINDOW-1", on=("truncate/window",))
class TakesAFullWindowForAnAnswer(ReferenceTurn):
    """Treats `model_context_window_exceeded` like `end_turn`."""

    def on_truncation(self, reason: str, content: list[Block]) -> End:
        end = super().on_truncation(reason, content)
        return end if reason == "max_tokens" else ends.completed()


@breaks("WINDOW-1", on=("truncate/window",))
class SendsAFullWindowAgain(ReferenceTurn):
    """Sends the same request again when the context window is full."""

    again = False

    def on_truncation(self, reason: str, content: list[Block]) -> Any:
        if self.again or reason == "max_tokens":
            return super().on_truncation(reason, content)
        self.again = True
        return None


@breaks("UNKNOWN-1", on=("stop/unknown",))
class TakesAnUnknownStopForTheEnd(ReferenceTurn):
    """Counts a stop reason it does not know as a success."""

    def on_unknown(self, reason: Any, content: list[Block]) -> End:
        return self.on_end(content)


@breaks("UNKNOWN-1", on=("stop/unknown",))
class HidesAnUnknownStop(ReferenceTurn):
    """Says that something went wrong, but not what the stop reason was."""

    def on_unknown(self, reason: Any, content: list[Block]) -> End:
        super().on_unknown(reason, content)
        return ends.failed("something went wrong")
