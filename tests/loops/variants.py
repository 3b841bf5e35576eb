"""Loops that are right in other ways than the reference: a check that fails one of them is a false alarm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable
from typing import Any

import msgspec

from harness.loops.reference import DECLARATION, ReferenceTurn, async_loop_of, loop_of
from harness.loops.reference.async_driver import drive_async
from harness.loops.reference.effects import Block, Call, Drop, Effect, Failed, Keep, Message, Ran, RunTools
from harness.loops.reference.ends import End
from harness.loops.reference.receive import Accumulator
from harness.loops.reference.state import text_of
from harness.turn import Outcome, Turn
from tests.loops.threaded import ThreadedTurn
from tests.loops.variant import VARIANTS, Variant, declared, variant
from tests.loops.variants_choices import (
    asks_again_when_empty,
    asks_for_more_room,
    client_per_turn,
    edits_its_context,
    extra_headers_and_metadata,
    falls_back_when_refused,
    newest_pause_only,
    results_as_they_come,
    results_one_by_one,
    retries_a_tool,
    retries_around_the_sdks,
    tracing_thread,
    trims_old_turns,
)

__all__ = [
    "VARIANTS",
    "Variant",
    "asks_again_when_empty",
    "asks_for_more_room",
    "client_per_turn",
    "edits_its_context",
    "extra_headers_and_metadata",
    "falls_back_when_refused",
    "newest_pause_only",
    "results_as_they_come",
    "results_one_by_one",
    "retries_a_tool",
    "retries_around_the_sdks",
    "tracing_thread",
    "trims_old_turns",
]


variant("async_loop", "It is asynchronous.", "harness.loops.reference:async_loop")
variant("string_only", "It returns a string and tells nothing else.", "tests.loops.variant_string:loop")
variant("module_client", "It has one client for all.", "tests.loops.variant_module_client:loop")
variant("urllib", "It is written by hand, in another style.", "tests.loops.variant_urllib:loop")
variant("example", "It is the short right loop of the examples.", "examples/right_loop.py:loop")


class Streaming(ReferenceTurn):
    def streams(self) -> bool:
        return True


streaming = loop_of(Streaming)
variant("streaming", "It always streams.")


class ResultsAsBlocks(ReferenceTurn):
    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(calls)
        for block in self.messages[-1]["content"]:
            if isinstance(block.get("content"), str):
                block["content"] = [{"type": "text", "text": block["content"]}]


results_as_blocks = loop_of(ResultsAsBlocks)
variant("results_as_blocks", "It sends the text of a result as a block.")


class ConcurrentTools(ReferenceTurn):
    def run_calls(self, calls: list[Call]) -> Generator[Effect, Any, None]:
        known = tuple(call for call in calls if call.name in self.tools)
        for call in calls:
            if call not in known:
                self.ran[call.id] = yield from self.run_call(call)
        if known and self.must_stop() is None:
            results: list[Ran] = yield RunTools(known, self.left())
            self.ran |= {call.id: ran for call, ran in zip(known, results, strict=True)}


concurrent_tools = async_loop_of(ConcurrentTools, declared(on_crash="repeat"))
variant("concurrent_tools", "It runs the calls of a reply at the same time.")


class MergedPauses(ReferenceTurn):
    def add_reply(self, content: list[Block]) -> None:
        super().add_reply(content)
        if len(self.messages) > self.start + 1 and self.messages[-2]["role"] == "assistant":
            newer, older = self.messages.pop(), self.messages.pop()
            self.messages.append({"role": "assistant", "content": [*older["content"], *newer["content"]]})


merged_pauses = loop_of(MergedPauses)
variant("merged_pauses", "It keeps a paused reply and its continuation as one message.")

threads = loop_of(ThreadedTurn)
variant("threads", "It keeps the conversation in a message thread.")

async_threads = async_loop_of(ThreadedTurn)
variant("async_threads", "It keeps the conversation in a message thread, asynchronously.")


class MaxTokensReached(Exception):  # noqa: N818 - named as owners name such things
    """The reply was cut."""


def raises_on_truncation(turn: Turn) -> Outcome:
    outcome = _plain(turn)
    if outcome.status == "truncated":
        raise MaxTokensReached(outcome.detail)
    return outcome


_plain = loop_of(ReferenceTurn)
raises_on_truncation.declaration = msgspec.structs.replace(  # type: ignore[attr-defined]
    DECLARATION, raises={"MaxTokensReached": "truncated"}
)
variant("raises_on_truncation", "It raises an exception of its own where a reply is cut, and declares it.")


class ContinuesWhenCut(ReferenceTurn):
    continued = 0

    def on_truncation(self, reason: str, content: list[Block]) -> Any:
        cut_call = any(block.get("type") == "tool_use" for block in content)
        if reason != "max_tokens" or cut_call or self.continued >= 2 or not text_of(content):
            return super().on_truncation(reason, content)
        self.continued += 1
        self.show(content)
        self.add_reply(content)
        self.messages.append({"role": "user", "content": "Please continue where you stopped."})
        return None


continues_when_cut = loop_of(ContinuesWhenCut, declared(on_max_tokens="continue"))
variant("continues_when_cut", "It asks for the rest of a reply that was cut, and declares it.")


class RaisesToolErrors(ReferenceTurn):
    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        ran = yield from super().run_call(call)
        if ran.is_error and self.must_stop() is None:
            raise RuntimeError(f"{call.name}: {ran.content}")
        return ran


raises_tool_errors = loop_of(RaisesToolErrors, declared(on_tool_error="raise"))
variant("raises_tool_errors", "It fails the turn where a tool fails, and declares it.")


class Caching(ReferenceTurn):
    def outgoing(self) -> list[Message]:
        messages = super().outgoing()
        last = messages[-1]
        blocks = last["content"]
        if last["role"] == "user":
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            marked = {**blocks[-1], "cache_control": {"type": "ephemeral"}}
            messages[-1] = {**last, "content": [*blocks[:-1], marked]}
        return messages


caching = loop_of(Caching)
variant("caching", "It marks the last message for the cache, and moves the mark along.")


class StringsWherePossible(ReferenceTurn):
    def outgoing(self) -> list[Message]:
        return [self.as_string(message) for message in super().outgoing()]

    def as_string(self, message: Message) -> Message:
        blocks = message["content"]
        single = isinstance(blocks, list) and len(blocks) == 1 and set(blocks[0]) == {"type", "text"}
        return {**message, "content": blocks[0]["text"]} if single else message


strings_where_possible = loop_of(StringsWherePossible)
variant("strings_where_possible", "It sends a message of one plain text as a string.")


class DropsUnansweredReplies(ReferenceTurn):
    def settle(self) -> None:
        while len(self.messages) > self.start and self.messages[-1]["role"] == "assistant":
            if not any(block.get("type") == "tool_use" for block in self.messages[-1]["content"]):
                break
            self.messages.pop()
        super().settle()


drops_unanswered_replies = loop_of(DropsUnansweredReplies)
variant("drops_unanswered_replies", "It drops a reply whose calls were not run, instead of answering them.")


class KeepsTheRefusedPrompt(ReferenceTurn):
    def on_refusal(self, reply: Message) -> End:
        prompt = self.messages[self.start - 1]
        end = super().on_refusal(reply)
        self.messages = [*self.messages, prompt]
        return end


keeps_the_refused_prompt = loop_of(KeepsTheRefusedPrompt)
variant("keeps_the_refused_prompt", "It keeps what the user said in a refused turn.")


def publishes_only(turn: Turn) -> None:
    _plain(turn)


variant("publishes_only", "It returns nothing; all it has to say it publishes.")


class WithoutHooks(ReferenceTurn):
    """Of the hooks it uses those alone that clear the store."""

    def attempt(self, hook: Any) -> Generator[Effect, Any, None]:
        if isinstance(hook, Drop):
            yield from super().attempt(hook)


async def outcome_only(turn: Turn) -> Outcome:
    return await drive_async(WithoutHooks(turn))


variant("outcome_only", "It publishes, reports and records nothing; all it has to say is in its outcome.")


def own_event_loop(turn: Turn) -> Outcome:
    return asyncio.run(drive_async(ReferenceTurn(turn)))


variant("own_event_loop", "It is blocking, with an event loop of its own for each turn.")


class GivesUpAtOnce(ReferenceTurn):
    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        return None


gives_up_at_once = loop_of(GivesUpAtOnce)
variant("gives_up_at_once", "It sends no request again.")


class ContinuesBrokenStreams(ReferenceTurn):
    came: Accumulator | None = None

    def accumulator(self) -> Accumulator:
        self.came = super().accumulator()
        return self.came

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        pause = super().pause_before_retry(failure, attempt)
        content = self.came.message.get("content", []) if self.came else []
        texts = [
            {"type": "text", "text": block["text"]} for block in content if block.get("text", "").strip()
        ]
        if pause is not None and texts:
            self.show(texts)
            self.add_reply(texts)
            self.messages.append({"role": "user", "content": "You were interrupted. Please go on."})
        return pause


continues_broken_streams = loop_of(ContinuesBrokenStreams, declared(on_broken_stream="continue"))
variant("continues_broken_streams", "It asks for the rest of a stream that broke off, and declares it.")


class ShortensWhatIsTooLong(ReferenceTurn):
    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        if "prompt is too long" in str(failure.error) and len(self.messages) > self.start and attempt == 0:
            self.messages = self.messages[: self.start]
            return 0.0
        return super().pause_before_retry(failure, attempt)


shortens_what_is_too_long = loop_of(ShortensWhatIsTooLong)
variant("shortens_what_is_too_long", "It drops what the tools said where the prompt is too long.")

Loop = Callable[[Turn], Any]


class RepeatsInterruptedCalls(ReferenceTurn):
    def restore(self, kept: Any) -> Message | None:
        reply = super().restore(kept)
        self.running = None
        return reply


repeats_interrupted_calls = loop_of(RepeatsInterruptedCalls, declared(on_crash="repeat"))
variant("repeats_interrupted_calls", "It runs a tool again that was running when the process died.")


class KeepsRounds(ReferenceTurn):
    def checkpoint(self, reply: Message | None = None) -> Keep:
        kept = super().checkpoint()
        return kept if reply is None else Keep("heartbeat", self.iterations)

    def progress(self) -> Keep:
        return Keep("heartbeat", self.iterations)


keeps_rounds = loop_of(KeepsRounds)
variant("keeps_rounds", "It writes its checkpoint before each request only.")
