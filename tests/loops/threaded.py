"""The reference turn over a message thread: the provider keeps the conversation, requests say what is new."""

from __future__ import annotations

from typing import Any

from harness.loops.reference import ReferenceTurn
from harness.loops.reference.effects import Failed, Message
from tests.loops.mutant import breaks

BETA = "message-threads-2026-08-12"


class ThreadedTurn(ReferenceTurn):
    """Begins a thread with the whole history and continues it with new messages."""

    previous: str | None = None
    """Id of the reply that the thread is continued from."""

    def headers(self) -> dict[str, str]:
        return {"anthropic-beta": BETA}

    def request(self) -> dict[str, Any]:
        body = super().request()
        if self.previous is None:
            return body | {"thread": {"type": "create"}}
        for kept_by_the_provider in ("system", "tools"):
            body.pop(kept_by_the_provider, None)
        return body | {"thread": {"type": "continue", "previous_message_id": self.previous}}

    def outgoing(self) -> list[Message]:
        return self.whole() if self.previous is None else self.new()

    def whole(self) -> list[Message]:
        return list(self.messages)

    def new(self) -> list[Message]:
        """What came after the last reply; nothing, where a pause is resumed."""
        fresh: list[Message] = []
        for message in reversed(self.messages):
            if message["role"] == "assistant":
                break
            fresh.insert(0, message)
        return fresh

    def count(self, reply: Message) -> None:
        super().count(reply)
        self.previous = reply["id"]

    def pause_before_retry(self, failure: Failed, attempt: int) -> float | None:
        if self.previous is not None and "thread" in str(failure.error).lower():
            self.lose_thread()
            return 0.0
        return super().pause_before_retry(failure, attempt)

    def lose_thread(self) -> None:
        """The provider does not have the thread any more: the next request replays everything."""
        self.previous = None


@breaks("THREAD-1", on=("tool/one", "tool/chained"))
class RepeatsTheHistoryInAThread(ThreadedTurn):
    """Continues a thread with the whole history, which the provider already has."""

    def new(self) -> list[Message]:
        return self.whole()


@breaks("THREAD-1", on=("tool/chained",))
class RepeatsTheLastReplyInAThread(ThreadedTurn):
    """Continues a thread with the reply it continues from, and then with what is new."""

    def new(self) -> list[Message]:
        fresh = super().new()
        return self.messages[-len(fresh) - 1 :] if fresh else fresh
