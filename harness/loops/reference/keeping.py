"""What the reference turn keeps and shows: the history, the checkpoint, the published state, the outcome."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...turn import Outcome
from .base import TurnBase
from .effects import Block, Call, Keep, Message, Publish, Ran
from .ends import End
from .state import blocks_of, client_calls, is_blank, only_thinking, result_block, without_open_server_calls


class Keeping(TurnBase):
    """The turn's memory, and what others see of it."""

    # The history

    def add_reply(self, content: list[Block]) -> None:
        """Put what the model said into the history as it came, but for what the API would not take back."""
        content = [block for block in content if not is_blank(block)]
        if content:
            self.messages.append({"role": "assistant", "content": content})

    def add_last_reply(self, content: list[Block]) -> None:
        """Put the last reply into the history, unless it holds nothing that can stand last."""
        if not only_thinking([block for block in content if not is_blank(block)]):
            self.add_reply(content)

    def add_results(self, calls: Iterable[Call]) -> None:
        """Answer the calls in one message."""
        blocks = [result_block(call, self.ran.get(call.id) or self.not_run(call)) for call in calls]
        self.messages.append({"role": "user", "content": blocks})
        self.ran, self.running = {}, None

    def not_run(self, call: Call) -> Ran:
        """What the model is told about a call that was not run to its end."""
        if call.id == self.running:
            return Ran(f"{call.name} was interrupted; it may or may not have taken effect.", is_error=True)
        return Ran(f"{call.name} was not run: the turn ended first.", is_error=True)

    def settle(self) -> None:
        """Leave a history that the API accepts with the next user message appended."""
        dangling: list[Call] = []
        for message in reversed(self.messages[self.start :]):
            if message["role"] != "assistant":
                break
            dangling[:0] = client_calls(blocks_of(message))
        if dangling:
            self.add_results(dangling)
        self.messages = without_open_server_calls(self.messages)

    # The checkpoint

    def checkpoint(self, reply: Message | None = None) -> Keep:
        """The effect that keeps all a rerun needs; `reply` is one that was received but not dealt with."""
        value = {
            "messages": list(self.messages),
            "reply": reply,
            "iterations": self.iterations,
            "pauses": self.pauses,
            "tokens": dict(self.usage.tokens),
            "container": self.container,
            "shown": list(self.display.shown),
            "ran": {call: [ran.content, ran.is_error] for call, ran in self.ran.items()},
            "running": self.running,
        }
        self.kept = value
        return Keep(self.turn.checkpoint_key, value)

    def progress(self) -> Keep:
        """The effect that keeps, beside the reply being dealt with, which of its calls have run."""
        ran = {call: [ran.content, ran.is_error] for call, ran in self.ran.items()}
        return Keep(self.turn.checkpoint_key, {**self.kept, "ran": ran, "running": self.running})

    def restore(self, kept: Any) -> Message | None:
        """Go on from a checkpoint. Returns the reply it holds, if any."""
        self.messages = list(kept["messages"])
        self.iterations, self.pauses = kept["iterations"], kept["pauses"]
        self.usage.tokens = dict(kept["tokens"])
        self.container = kept["container"]
        self.display.shown = list(kept["shown"])
        self.ran = {call: Ran(content, is_error) for call, (content, is_error) in kept["ran"].items()}
        self.running = kept["running"]
        reply: Message | None = kept["reply"]
        return reply

    def belongs_here(self, kept: Any) -> bool:
        """Whether a checkpoint is one of this very turn, not of an older state of the conversation."""
        return isinstance(kept, dict) and list(kept.get("messages", ())[: self.start]) == self.messages

    # What is shown

    def showing(self, activity: str) -> Publish:
        """The effect that shows the turn in progress."""
        return Publish(self.display.state(activity), list(self.messages))

    def shown_at_end(self, end: End) -> Publish:
        """The effect that shows the turn at its end."""
        stopped = end.status == "cancelled"
        return Publish(self.display.state("", stopped=stopped), list(self.messages), done=True)

    def outcome(self, end: End) -> Outcome:
        """What the caller gets."""
        return Outcome(
            status=end.status,
            shown=list(self.display.shown),
            history=list(self.messages),
            usage=dict(self.usage.tokens),
            detail=end.detail,
        )
