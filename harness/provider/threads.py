"""Message threads: the server keeps the conversation under the id of each reply.

A reply can be continued once. What was refused or broke off is not kept. Nothing expires: runs are short.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..transcript import Conversation, conversation_of, previous_id
from .answer import Failure

RESUMABLE = frozenset({"pause_turn", "compaction"})
"""Stop reasons after which a thread is continued without a new message."""

_NOT_FOUND = "No usable thread was found for `previous_message_id`: replay the full conversation."
_CONTINUED = "The response named by `previous_message_id` has already been continued."
_IN_FLIGHT = "Another request is still continuing from the same `previous_message_id`."


def _failure(status: int, code: str, message: str) -> Failure:
    return Failure(status=status, message=message, details={"error_code": code}, rule=code)


class Threads:
    """The threads of one session."""

    def __init__(self) -> None:
        self._kept: dict[str, Conversation] = {}
        self._continued: set[str] = set()
        self._in_flight: set[str] = set()

    def resolve(self, body: Any) -> Conversation | Failure:
        """The conversation `body` asks to continue, or why it cannot be."""
        previous = previous_id(body)
        if previous is None:
            return conversation_of(body)
        stored = self._kept.get(previous)
        if stored is None:
            return _failure(404, "thread_not_found", _NOT_FOUND)
        if previous in self._continued:
            return _failure(400, "thread_already_continued", _CONTINUED)
        if previous in self._in_flight:
            return _failure(400, "thread_continue_in_flight", _IN_FLIGHT)
        if not body.get("messages") and stored.stop_reason not in RESUMABLE:
            return Failure(
                status=400, message="messages: at least one message is required", rule="no_messages"
            )
        return conversation_of(body, stored)

    def began(self, body: Any) -> None:
        """The request `body` is being answered."""
        if (previous := previous_id(body)) is not None:
            self._in_flight.add(previous)

    def failed(self, body: Any) -> None:
        """The request `body` got no whole reply: it can be continued again."""
        if (previous := previous_id(body)) is not None:
            self._in_flight.discard(previous)

    def answered(self, body: Any, conversation: Conversation, reply: Mapping[str, Any]) -> None:
        """The request `body` got `reply` in full."""
        self.failed(body)
        if not isinstance(body, dict) or not isinstance(body.get("thread"), dict):
            return
        if (previous := previous_id(body)) is not None:
            self._continued.add(previous)
        if reply.get("stop_reason") != "refusal":
            self._kept[str(reply["id"])] = conversation.answered(reply)
