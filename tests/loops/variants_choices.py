"""Right loops that make another choice where the documentation leaves one."""

from __future__ import annotations

import functools
import queue
import threading
from collections.abc import Callable, Generator, Iterable
from typing import Any

from harness.loops.reference import ReferenceTurn, async_loop_of, clients, loop_of
from harness.loops.reference.effects import Ask, Block, Call, Effect, Failed, Finish, Message, Ran
from harness.loops.reference.ends import End
from harness.loops.reference.state import blocks_of
from harness.loops.reference.sync_driver import perform, receive, whole
from harness.turn import Outcome, Turn
from tests.loops.variant import declared, variant

FALLBACK = "claude-sonnet-4-6"


class AsksForMoreRoom(ReferenceTurn):
    room = 1

    def request(self) -> dict[str, Any]:
        body = super().request()
        return body | {"max_tokens": body["max_tokens"] * self.room}

    def on_truncation(self, reason: str, content: list[Block]) -> Any:
        if reason != "max_tokens" or self.room > 1:
            return super().on_truncation(reason, content)
        self.room = 4
        return None


asks_for_more_room = async_loop_of(AsksForMoreRoom, declared(on_max_tokens="continue"))
variant("asks_for_more_room", "It drops a reply that was cut and asks again with a larger limit, once.")


class FallsBackWhenRefused(ReferenceTurn):
    fallen = False

    def request(self) -> dict[str, Any]:
        return super().request() | ({"model": FALLBACK} if self.fallen else {})

    def on_refusal(self, reply: Message) -> Any:
        if self.fallen:
            return super().on_refusal(reply)
        self.fallen = True
        return None


falls_back_when_refused = loop_of(FallsBackWhenRefused, declared(on_refusal="fallback"))
variant("falls_back_when_refused", "It asks another model where one declines, and declares it.")


class ResultsAsTheyCome(ReferenceTurn):
    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(list(calls)[::-1])


results_as_they_come = loop_of(ResultsAsTheyCome)
variant("results_as_they_come", "It sends the results in another order than that of the calls.")


class ResultsOneByOne(ReferenceTurn):
    def add_results(self, calls: Iterable[Call]) -> None:
        super().add_results(calls)
        results = self.messages.pop()
        self.messages += [{**results, "content": [block]} for block in results["content"]]


results_one_by_one = loop_of(ResultsOneByOne)
variant("results_one_by_one", "It sends each result in a message of its own.")


class NewestPauseOnly(ReferenceTurn):
    def on_pause(self, content: list[Block], *, compaction: bool) -> Generator[Effect, Any, End | None]:
        kept = len(self.messages)
        end = yield from super().on_pause(content, compaction=compaction)
        before, newer = self.messages[kept - 1 : kept], self.messages[kept:]
        repeats = before and newer and _repeats(blocks_of(newer[0]), blocks_of(before[0]))
        if repeats and before[0]["role"] == "assistant":
            del self.messages[kept - 1]
        return end


def _repeats(newer: list[Block], older: list[Block]) -> bool:
    return newer[: len(older)] == older


newest_pause_only = loop_of(NewestPauseOnly)
variant("newest_pause_only", "Of two pauses it keeps the newer, where that repeats the older.")


class ExtraHeadersAndMetadata(ReferenceTurn):
    def headers(self) -> dict[str, str]:
        return {"x-request-source": "tests", "user-agent": "a-loop-of-ours/1.0"}

    def request(self) -> dict[str, Any]:
        return super().request() | {"metadata": {"user_id": "u-1"}, "service_tier": "auto"}


extra_headers_and_metadata = loop_of(ExtraHeadersAndMetadata)
variant("extra_headers_and_metadata", "It sends headers of its own, and says for whom it asks.")


class TrimsOldTurns(ReferenceTurn):
    """Sends the last two turns and the one at hand; a turn begins where the user speaks."""

    def __init__(self, turn: Turn, *more: Any) -> None:
        super().__init__(turn, *more)
        begins = [place for place, one in enumerate(self.messages) if _speaks(one)]
        self.cut = begins[-3] if len(begins) >= 3 else 0

    def outgoing(self) -> list[Message]:
        return super().outgoing()[self.cut :]


def _speaks(message: Message) -> bool:
    return message["role"] == "user" and not any(
        block.get("type") == "tool_result" for block in blocks_of(message)
    )


trims_old_turns = loop_of(TrimsOldTurns)
variant("trims_old_turns", "It sends the last turns only, each of them whole.")


class EditsItsContext(ReferenceTurn):
    """Leaves out the oldest rounds of tools of a long turn, calls and results together."""

    def outgoing(self) -> list[Message]:
        messages = super().outgoing()
        own = messages[self.start :]
        rounds = len(own) // 2
        return messages[: self.start] + own[2 * max(rounds - 2, 0) :] if _only_tools(own) else messages


def _only_tools(messages: list[Message]) -> bool:
    """Whether these are calls and their results in turn."""
    kinds = [{str(block.get("type")) for block in blocks_of(message)} for message in messages]
    return len(messages) % 2 == 0 and all(
        ("tool_use" in kind) if place % 2 == 0 else (kind == {"tool_result"})
        for place, kind in enumerate(kinds)
    )


edits_its_context = loop_of(EditsItsContext)
variant("edits_its_context", "It leaves out the oldest calls of a long turn, with their results.")


class AsksAgainWhenEmpty(ReferenceTurn):
    asked = False

    def on_end(self, content: list[Block]) -> Any:
        if content or self.asked:
            return super().on_end(content)
        self.asked = True
        self.messages.append({"role": "user", "content": "Please continue."})
        return None


asks_again_when_empty = loop_of(AsksAgainWhenEmpty)
variant("asks_again_when_empty", "It asks the model to go on where a reply is empty, once.")


class RetriesATool(ReferenceTurn):
    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        ran = yield from super().run_call(call)
        if ran.is_error and call.name in self.tools and self.must_stop() is None:
            ran = yield from super().run_call(call)
        return ran


retries_a_tool = loop_of(RetriesATool)
variant("retries_a_tool", "It runs a tool that failed once more.")


class TracingTurn(ReferenceTurn):
    def on_end(self, content: list[Block]) -> End:
        _spans().put(("end", len(content)))
        return super().on_end(content)


@functools.cache
def _spans() -> queue.Queue[Any]:
    """The queue of a thread that lives as long as the program, as tracers have one."""
    spans: queue.Queue[Any] = queue.Queue()

    def export() -> None:
        while True:
            spans.get()

    threading.Thread(target=export, name="tracer", daemon=True).start()
    return spans


tracing_thread = loop_of(TracingTurn)
variant("tracing_thread", "It has a thread that exports spans for as long as it lives.")


def _driven(turn: Turn, asks: Callable[[ReferenceTurn, Ask], Message | Failed]) -> Outcome:
    """A turn of the reference, whose requests are made by `asks`."""
    machine = ReferenceTurn(turn)
    steps = machine.steps()
    effect = next(steps)
    while not isinstance(effect, Finish):
        try:
            result = asks(machine, effect) if isinstance(effect, Ask) else perform(machine, effect)
        except BaseException as error:  # noqa: BLE001 - as the driver of the reference
            effect = steps.throw(error)
        else:
            effect = steps.send(result)
    if effect.error is not None:
        raise effect.error
    return effect.outcome


def _ask(machine: ReferenceTurn, effect: Ask, client: Any) -> Message | Failed:
    """One request, with whatever retries the client makes by itself and says that it makes."""
    accumulator = machine.accumulator()
    arguments = clients.arguments(effect, machine.turn.api_key)
    del arguments["extra_headers"]["x-stainless-retry-count"]
    try:
        with client.messages.with_streaming_response.create(**arguments) as response:
            if not effect.body.get("stream"):
                return whole(response.read())
            return receive(machine, response.iter_bytes(), accumulator)
    except Exception as error:  # noqa: BLE001 - classified, as in the reference
        return clients.failure(error, accumulator.usage)


def retries_around_the_sdks(turn: Turn) -> Outcome:
    def ask(machine: ReferenceTurn, effect: Ask) -> Message | Failed:
        # The client knows of no deadline, and would wait for a retry beyond the end of the turn.
        patient = 1 if effect.timeout > 5 else 0
        return _ask(machine, effect, clients.client(turn.base_url).with_options(max_retries=patient))

    return _driven(turn, ask)


variant("retries_around_the_sdks", "It tries again by itself what its client has tried again already.")


@functools.lru_cache(maxsize=16)
def _pool(base_url: str) -> Any:
    import anthropic

    return anthropic.DefaultHttpxClient()


def client_per_turn(turn: Turn) -> Outcome:
    import anthropic

    client = anthropic.Anthropic(
        base_url=turn.base_url, api_key=turn.api_key, max_retries=0, http_client=_pool(turn.base_url)
    )
    return _driven(turn, lambda machine, effect: _ask(machine, effect, client))


variant("client_per_turn", "It makes a client for each turn, and keeps their connections by base URL.")
