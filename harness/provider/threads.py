"""Message threads: the server keeps the conversation under the id of each reply.

A reply can be continued once, within five minutes. What was refused, broke off or came from a fallback model
is not kept. The codes are documented, the texts are not; the texts here say what the codes mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from .. import clock
from ..transcript import Conversation, conversation_of, previous_id
from .answer import Failure

RESUMABLE = frozenset({"pause_turn", "compaction"})
"""Stop reasons after which a thread is continued without a new message."""

LIFETIME = 300.0
"""Seconds for which a reply can be continued."""

UNSUPPORTED = ("context_management",)
"""Fields that do not go with a thread."""

_NOT_FOUND = "No usable thread was found for `previous_message_id`: replay the full conversation."
_CONTINUED = "The response named by `previous_message_id` has already been continued."
_IN_FLIGHT = "Another request is still continuing from the same `previous_message_id`."
_MISMATCH = (
    "The request differs from its thread; differing fields: {}. Replay the full conversation to change them."
)
_UNSUPPORTED = "Threads do not support: {}. Send the full conversation without `thread`."


def _failure(status: int, code: str, message: str, **details: Any) -> Failure:
    return Failure(status=status, message=message, details={"error_code": code} | details, rule=code)


class _Kept(msgspec.Struct, frozen=True):
    """A conversation that can be continued."""

    conversation: Conversation
    output_config: Any
    since: float


class Threads:
    """The threads of one session."""

    def __init__(self, now: Callable[[], float] = clock.now) -> None:
        self._now = now
        self._kept: dict[str, _Kept] = {}
        self._continued: set[str] = set()
        self._in_flight: set[str] = set()

    def resolve(self, body: Any) -> Conversation | Failure:
        """The conversation `body` asks to continue, or why it cannot be."""
        if _is_threaded(body):
            unsupported = [field for field in UNSUPPORTED if body.get(field) is not None]
            if unsupported:
                message = _UNSUPPORTED.format(", ".join(unsupported))
                return _failure(400, "thread_unsupported_request", message, unsupported=unsupported)
        previous = previous_id(body)
        return conversation_of(body) if previous is None else self._continue(body, previous)

    def _continue(self, body: Mapping[str, Any], previous: str) -> Conversation | Failure:
        if previous in self._continued:
            return _failure(400, "thread_already_continued", _CONTINUED)
        kept = self._kept.get(previous)
        if kept is None or self._now() - kept.since > LIFETIME:
            return _failure(404, "thread_not_found", _NOT_FOUND)
        if previous in self._in_flight:
            return _failure(400, "thread_continue_in_flight", _IN_FLIGHT)
        if differing := _differing(body, kept):
            return _failure(400, "thread_fingerprint_mismatch", _MISMATCH.format(", ".join(differing)))
        if not body.get("messages") and kept.conversation.stop_reason not in RESUMABLE:
            message = "messages: at least one message is required"
            return Failure(status=400, message=message, rule="no_messages")
        return conversation_of(body, kept.conversation)

    def knows(self, previous: str) -> bool:
        """Whether this is the id of one of its replies, be it continued already."""
        return previous in self._kept or previous in self._continued or previous in self._in_flight

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
        if not _is_threaded(body):
            return
        if (previous := previous_id(body)) is not None:
            self._continued.add(previous)
            self._kept.pop(previous, None)
        fell_back = any(block.get("type") == "fallback" for block in reply.get("content", []))
        if reply.get("stop_reason") != "refusal" and not fell_back:
            self._kept[str(reply["id"])] = _Kept(
                conversation.answered(reply), body.get("output_config"), self._now()
            )


def _is_threaded(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("thread"), dict)


def _differing(body: Mapping[str, Any], kept: _Kept) -> list[str]:
    """The fields that have to stay as they were and did not. `system` and `tools` may be left out."""
    stored = {"system": kept.conversation.system, "tools": kept.conversation.tools}
    differing = [
        field for field in stored if field in body and (body[field] or None) != (stored[field] or None)
    ]
    return differing + (["output_config"] if body.get("output_config") != kept.output_config else [])
