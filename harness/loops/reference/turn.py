"""The reference turn: one user message handled to its end, without any I/O.

Read `take` first. The stop reason is the branch condition; every branch that goes on stands above every
branch that ends, the most specific first; and whatever happens, the turn leaves through `land`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator
from typing import Any

from ...turn import Outcome
from . import ends
from .asking import Asking
from .effects import (
    Block,
    Call,
    Claim,
    Drop,
    Effect,
    Finish,
    Hook,
    Message,
    Ran,
    RecordUsage,
    Report,
    RunTools,
    Steps,
)
from .ends import End
from .state import client_calls, server_calls, text_of, thought_only


class ReferenceTurn(Asking):
    """A correct turn. Drive it with `drive` or `drive_async`; change it by overriding one method."""

    def steps(self) -> Steps:
        """The effects of the turn, ending with `Finish`."""
        error: BaseException | None = None
        if not (yield from self.take_turn()):
            # Nothing of it is this worker's: not the checkpoint, not the flag, not the end.
            yield Finish(Outcome(detail="another worker has this turn"))
            return
        try:
            end = yield from self.work()
        except Exception as crash:  # noqa: BLE001 - whatever broke, the turn has to land
            end = self.crashed(crash)
        except (KeyboardInterrupt, asyncio.CancelledError) as stop:
            end, error = ends.cancelled(), stop
        yield from self.land(end)
        yield Finish(self.outcome(end), error)

    def take_turn(self) -> Generator[Effect, Any, bool]:
        """Whether the turn is this worker's."""
        mine: bool = yield Claim()
        return mine

    def work(self) -> Generator[Effect, Any, End]:
        """Ask, take the reply, ask again, until there is an end."""
        reply = yield from self.resume()
        while True:
            if reply is None:
                answer = self.must_stop() or (yield from self.ask())
                if isinstance(answer, End):
                    return answer
                reply = answer
            end = yield from self.take(reply)
            if end is not None:
                return self.overruled(end)
            reply = None

    def crashed(self, crash: Exception) -> End:
        """The end after a fault of this program."""
        return ends.failed(f"{type(crash).__name__}: {crash}", crash)

    def take(self, reply: Message) -> Generator[Effect, Any, End | None]:  # noqa: PLR0911 - one line for each end
        """Deal with one reply. Returns None to ask again."""
        reason, content = reply.get("stop_reason"), reply.get("content") or []
        if reason in ("pause_turn", "compaction"):
            return (yield from self.on_pause(content, compaction=reason == "compaction"))
        if reason == "tool_use" and client_calls(content):
            return (yield from self.on_tools(content))
        if reason == "refusal":
            return self.on_refusal(reply)
        if reason in ("max_tokens", "model_context_window_exceeded"):
            return self.on_truncation(str(reason), content)
        if reason in ("end_turn", "stop_sequence"):
            return self.on_end(content)
        if reason == "tool_use":
            return self.on_missing_call(content)
        return self.on_unknown(reason, content)

    def on_pause(self, content: list[Block], *, compaction: bool) -> Generator[Effect, Any, End | None]:
        """Send the reply back as it is, with nothing after it, so that the provider goes on."""
        self.add_reply(content)
        self.show(content)
        yield from self.attempt(self.showing(self.activity(content)))
        if compaction:
            return None
        self.pauses += 1
        if self.pauses > self.pause_cap():
            return ends.capped(f"the cap of {self.pause_cap()} pauses in a row was", self.iterations)
        return None

    def on_tools(self, content: list[Block]) -> Generator[Effect, Any, End | None]:
        """Run what the model called and answer each call."""
        self.pauses = 0
        self.add_reply(content)
        self.show(content)
        yield from self.attempt(self.showing(self.activity(content)))
        calls = client_calls(content)
        yield from self.run_calls(calls)
        self.add_results(calls)
        return None

    def on_refusal(self, reply: Message) -> End:
        """Forget the refused turn, so that it cannot poison the next one."""
        self.messages = self.messages[: self.start - 1]
        return ends.refused(reply.get("stop_details"))

    def on_truncation(self, reason: str, content: list[Block]) -> End:
        """Keep what was said, without the calls: the last one is cut."""
        self.show(content)
        self.add_last_reply([block for block in content if block.get("type") != "tool_use"])
        return ends.truncated(reason)

    def on_end(self, content: list[Block]) -> End:
        """The model is done."""
        self.show(content)
        self.add_last_reply(content)
        return self.on_thought_only() if thought_only(content) else ends.completed()

    def on_thought_only(self) -> End:
        """The model thought and said nothing: what was shown before is the answer, or there is none."""
        return ends.completed() if self.display.shown else ends.failed("the model said nothing")

    def on_missing_call(self, content: list[Block]) -> End:
        """The model stopped for a tool and called none: asking again would spin."""
        self.show(content)
        self.add_last_reply(content)
        return ends.failed("stop_reason tool_use without a tool call")

    def on_unknown(self, reason: Any, content: list[Block]) -> End:
        """A stop reason from the future: not known to be a success, so it is none."""
        self.show(content)
        self.add_last_reply(content)
        return ends.failed(f"unknown stop reason {reason!r}")

    def overruled(self, end: End) -> End:
        """A cancellation that came while the last reply was under way wins over any other end."""
        return ends.cancelled() if self.cancelled() else end

    def show(self, content: list[Block]) -> None:
        """Show the text of a reply, if there is any."""
        self.display.say(text_of(content))

    def activity(self, content: list[Block]) -> str:
        """What the turn is busy with after this reply."""
        names = [call.name for call in client_calls(content)]
        names += [str(block.get("name")) for block in server_calls(content)]
        return f"Using {', '.join(dict.fromkeys(names))}" if names else "Working"

    def run_calls(self, calls: list[Call]) -> Generator[Effect, Any, None]:
        """Run the calls one after the other; none is started once the turn has to stop, or a second time."""
        for call in calls:
            if call.id not in self.ran and call.id != self.running and self.must_stop() is None:
                self.running = call.id
                yield from self.attempt(self.progress())
                self.ran[call.id] = yield from self.run_call(call)
                self.running = None
                yield from self.attempt(self.progress())

    def run_call(self, call: Call) -> Generator[Effect, Any, Ran]:
        """Run one call, or say that there is no such tool."""
        if call.name not in self.tools:
            names = ", ".join(self.tools) or "none"
            return Ran(f"There is no tool named {call.name}. Available tools: {names}.", is_error=True)
        results: list[Ran] = yield RunTools((call,), self.left())
        return results[0]

    def land(self, end: End) -> Generator[Effect, Any, None]:
        """The one way out: whatever the end, the same clean-up; a step that fails does not stop the next."""
        try:
            self.settle()
        except Exception:  # noqa: BLE001 - a reply so odd that it cannot be kept legally is not kept
            self.messages = self.messages[: self.start]
        self.display.say(end.note, is_error=end.is_error)
        for hook in self.landing(end):
            yield from self.attempt(hook)

    def landing(self, end: End) -> Iterator[Hook]:
        """What the clean-up does, in order."""
        if end.problem is not None:
            yield Report(end.problem)
        yield RecordUsage(self.iterations, dict(self.usage.tokens))
        yield Drop(self.turn.checkpoint_key)
        yield Drop(self.turn.cancel_key)
        yield self.shown_at_end(end)
