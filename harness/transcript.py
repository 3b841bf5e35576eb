"""The conversation the model would have seen at a request, where the request itself says only what is new.

A message thread leaves the earlier messages, the system prompt and the tools with the server. What counts for
every judgement is the transcript the thread stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .history import RequestSeen
from .wire.codec import dumps


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """All the model sees: a request with its thread resolved."""

    messages: list[dict[str, Any]] = []
    system: Any = None
    tools: list[dict[str, Any]] = []
    stop_reason: str | None = None
    """Of the reply it ends with; None where it ends with a request."""
    size: int = 0
    """About how many bytes of JSON a thread holds; not counted where a request brings all of it."""

    def answered(self, reply: Mapping[str, Any]) -> Conversation:
        """The conversation with the model's `reply` (a whole message) at its end."""
        said = {"role": "assistant", "content": reply.get("content", [])}
        return msgspec.structs.replace(
            self,
            messages=[*self.messages, said],
            stop_reason=reply.get("stop_reason"),
            size=self.size + len(dumps(said)),
        )


def previous_id(body: Any) -> str | None:
    """The id of the reply that a threaded request continues from; None where it brings its own history."""
    thread = body.get("thread") if isinstance(body, dict) else None
    if isinstance(thread, dict) and thread.get("type") == "continue":
        return str(thread.get("previous_message_id", ""))
    return None


def conversation_of(body: Any, stored: Conversation | None = None) -> Conversation:
    """The conversation `body` asks to continue; `stored` is what its thread holds."""
    if not isinstance(body, dict):
        return Conversation()
    new = _mappings(body.get("messages"))
    size = len(dumps(new)) if isinstance(body.get("thread"), dict) else 0
    if stored is None:
        tools = _mappings(body.get("tools"))
        return Conversation(messages=new, system=body.get("system"), tools=tools, size=size)
    return msgspec.structs.replace(
        stored, messages=[*stored.messages, *new], stop_reason=None, size=stored.size + size
    )


def messages_seen(request: RequestSeen) -> list[dict[str, Any]]:
    """The messages the model would have seen at `request`."""
    if request.transcript is not None:
        return request.transcript
    return conversation_of(request.body).messages


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
