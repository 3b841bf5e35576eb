"""Mutants that take a failure of the provider for something else."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from dataclasses import replace
from typing import Any

from harness.loops.reference import ReferenceTurn, ends
from harness.loops.reference.effects import Block, Call, Effect, Failed, Message, RunTools, Wait
from harness.loops.reference.ends import End
from harness.loops.reference.receive import Accumulator, BrokenStreamError
from harness.loops.reference.state import blocks_of, client_calls, text_of
from tests.loops.mutant import breaks


@breaks("FAULT-1", on=("fault/retry-after", "fault/retry-after-twice"))
class HasABackoffOfItsOwn(ReferenceTurn):
    """Waits as long as it thinks right, whatever the provider asked for."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        return super().pause_before_retry(replace(failure, wait=0.05), attempt)


@breaks("FAULT-1", on=("fault/retry-after",))
class LosesTheHeaderOnTheWay(ReferenceTurn):
    """Wraps the error, so that `retry-after` is not there when the wait is computed."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        return super().pause_before_retry(replace(failure, wait=None), attempt)


@breaks("FAULT-2", on=("fault/rejected", "fault/key-revoked", "fault/forbidden", "fault/model-gone"))
class TriesEverythingAgain(ReferenceTurn):
    """Takes every error for one that passes."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        return super().pause_before_retry(replace(failure, retryable=True, wait=0.02), attempt)


@breaks("FAULT-2", on=("fault/prompt-too-long",))
class SendsWhatIsTooLongAgain(ReferenceTurn):
    """Tries a prompt that is too long once more, as it is."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        status = getattr(failure.error, "status_code", 0)
        return 0.0 if status in (400, 413) and attempt == 0 else super().pause_before_retry(failure, attempt)


@breaks("FAULT-3", on=("fault/overloaded-once", "fault/server-error-first", "fault/reset"))
class SaysEverythingTwice(ReferenceTurn):
    """Appends its last message once more with every attempt."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        pause = super().pause_before_retry(failure, attempt)
        if pause is not None:
            self.messages.append(dict(self.messages[-1]))
        return pause


@breaks("FAULT-3", on=("fault/limited-twice", "fault/stream-error"))
class TellsTheModelAboutTheError(ReferenceTurn):
    """Puts the provider's error into the conversation, as if the user had said it."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        pause = super().pause_before_retry(failure, attempt)
        if pause is not None:
            self.messages.append({"role": "user", "content": f"The last request failed: {failure.error}"})
        return pause


@breaks("FAULT-3", on=("fault/overloaded-once", "fault/reset", "fault/stream-error-after-tool"))
class StartsTheTurnAnew(ReferenceTurn):
    """Begins with the user's message again when a request fails."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        pause = super().pause_before_retry(failure, attempt)
        if pause is not None:
            self.messages = self.messages[: self.start]
        return pause


@breaks("FAULT-3", on=("fault/overloaded-once", "fault/reset", "fault/stream-error-after-tool"))
class RunsItsToolsAgain(ReferenceTurn):
    """Repeats the whole step when a request fails: the tools, then the request."""

    def ask(self) -> Generator[Effect, Any, Message | End]:
        steps = super().ask()
        effect = next(steps)
        while True:
            if isinstance(effect, Wait):
                calls = tuple(self.last_calls())
                if calls:
                    yield RunTools(calls, self.left())
            try:
                result = yield effect
                effect = steps.send(result)
            except StopIteration as stop:
                return stop.value

    def last_calls(self) -> list[Call]:
        replies = [message for message in self.messages[self.start :] if message["role"] == "assistant"]
        return client_calls(blocks_of(replies[-1])) if replies else []


class Forgiving(Accumulator):
    """Takes what came of a message for the message."""

    reason = "end_turn"

    def cut_off(self) -> None:
        if self.message:
            self._close_all()
            self.message["stop_reason"] = self.message.get("stop_reason") or self.reason
            self.complete = True


@breaks("FAULT-5", on=("fault/stream-end", "fault/stream-cut-event"), variants=("sse",))
class TakesTheEndOfTheBytesForTheEnd(ReferenceTurn):
    """Takes a stream that stopped for one that was done."""

    def accumulator(self) -> Accumulator:
        return Forgiving()


class Deaf(Forgiving):
    """Has no branch for an `error` event."""

    def add(self, event: dict[str, Any]) -> None:
        if event.get("type") != "error":
            super().add(event)


@breaks("FAULT-4", on=("fault/stream-error", "fault/stream-error-after-tool"), variants=("sse",))
class PassesOverErrorEvents(ReferenceTurn):
    """Reads an `error` event as any other that it does not know."""

    def accumulator(self) -> Accumulator:
        return Deaf()


class Salvaging(Deaf):
    """Makes a call of what came of one."""

    def cut_off(self) -> None:
        calls = any(block.get("type") == "tool_use" for block in self.message.get("content", ()))
        self.reason = "tool_use" if calls else "end_turn"
        super().cut_off()

    def _input(self, text: str) -> Any:
        for end in ("", '"}', "}", '": ""}', ": null}"):
            try:
                return json.loads(text + end)
            except ValueError:
                continue
        return {}


@breaks(
    "FAULT-6",
    on=("fault/stream-cut-call", "fault/stream-cut-call-start", "fault/stream-error-call"),
    variants=("sse",),
)
class SalvagesCalls(ReferenceTurn):
    """Repairs the input of a call that broke off, and runs it."""

    def accumulator(self) -> Accumulator:
        return Salvaging()


class Eager(Deaf):
    """Keeps the calls that were closed, and lets nothing else of a broken stream count."""

    reason = "tool_use"

    def __init__(self) -> None:
        super().__init__()
        self.closed: set[int] = set()

    def add(self, event: dict[str, Any]) -> None:
        super().add(event)
        if event.get("type") == "content_block_stop":
            self.closed.add(event["index"])

    def cut_off(self) -> None:
        if self.message and not self.complete:
            content = self.message["content"]
            self.message["content"] = [content[index] for index in sorted(self.closed)]
            self._json.clear()
        super().cut_off()


@breaks("FAULT-6", on=("fault/stream-cut-between-calls", "fault/stream-error-call"), variants=("sse",))
class RunsEachCallAsItCloses(ReferenceTurn):
    """Runs the calls that came whole, although their message did not."""

    def accumulator(self) -> Accumulator:
        return Eager()


class Remembering(ReferenceTurn):
    """Still has what came of the last stream."""

    came: Accumulator | None = None

    def accumulator(self) -> Accumulator:
        self.came = super().accumulator()
        return self.came

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        return None

    def parts(self) -> list[Block]:
        return list(self.came.message.get("content", ())) if self.came else []


@breaks(
    "FAULT-7", on=("fault/stream-error", "fault/stream-end", "fault/stream-cut-thinking"), variants=("sse",)
)
class KeepsWhatCame(Remembering):
    """Puts what came of a broken stream into the history when it gives up."""

    def gave_up(self, failure: Failed) -> End:
        self.add_reply(self.parts())
        return super().gave_up(failure)


@breaks("SHOW-3", on=("fault/stream-end", "fault/stream-error-after-tool"), variants=("sse",))
class LeavesThePreviewStanding(Remembering):
    """Writes text where it comes, and goes on writing behind it when the request is tried again."""

    preview = ""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        self.preview += text_of(self.parts())
        return ReferenceTurn.pause_before_retry(self, failure, attempt)

    def show(self, content: list[Block]) -> None:
        texts = [{"type": "text", "text": self.preview}] if self.preview else []
        self.preview = ""
        super().show([*texts, *content])


@breaks("FAULT-7", on=("fault/stream-cut-call", "fault/stream-error-call"), variants=("sse",))
class KeepsHalfACall(Remembering):
    """Keeps a call of a broken stream, and answers it as one that did not run."""

    def gave_up(self, failure: Failed) -> End:
        parts = [block for block in self.parts() if block.get("type") == "tool_use"]
        self.add_reply(parts)
        return super().gave_up(failure)


@breaks("FAULT-8", on=("fault/stream-silent", "fault/stream-silent-pings"), variants=("sse",))
class GivesAStreamTimeOfItsOwn(ReferenceTurn):
    """Lets a request take longer than the turn may."""

    def left(self) -> float:
        return super().left() + 2.5


class Impatient(Accumulator):
    """Takes pings for silence."""

    heard = 0.0

    def add(self, event: dict[str, Any]) -> None:
        super().add(event)
        if event.get("type") != "ping":
            self.heard = time.monotonic()
        elif self.heard and time.monotonic() - self.heard > 0.4:
            raise BrokenStreamError("nothing came for too long")


@breaks("FAULT-8", on=("fault/stream-alive",), variants=("sse",))
class GivesUpAStreamThatLives(ReferenceTurn):
    """Gives up a stream that sends nothing but pings for a moment."""

    def accumulator(self) -> Accumulator:
        return Impatient()


@breaks("FAULT-9", on=("fault/rejected", "fault/overloaded-for-good", "fault/forbidden"))
class GivesUpInSilence(ReferenceTurn):
    """Ends as if the model were done when no answer could be had."""

    def gave_up(self, failure: Failed) -> End:
        return ends.completed()


@breaks("FAULT-9", on=("fault/stream-cut-twice",), variants=("sse",))
class BlamesTheTokenLimit(ReferenceTurn):
    """Says of a stream that broke off that the model reached its limit."""

    def gave_up(self, failure: Failed) -> End:
        return ends.truncated("max_tokens")


@breaks("FAULT-10", on=("fault/prompt-too-long", "fault/prompt-too-long-still"))
class AsksForBrevity(ReferenceTurn):
    """Adds a sentence to a prompt that is too long."""

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        if "too long" in str(failure.error) and attempt < 2:
            self.messages.append({"role": "user", "content": "Please be brief."})
            return 0.0
        return super().pause_before_retry(failure, attempt)
