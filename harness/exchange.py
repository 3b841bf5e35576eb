"""One request with its answer, and one run of a tool: the smallest pieces of evidence."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from . import display
from .history import Answered, Broken, Delivered, RequestSeen, ToolEnded, ToolStarted
from .wire.same import Piece, pieces

Json = dict[str, Any]


@dataclass(eq=False)
class Exchange:
    """One request of the loop, and what became of it."""

    seen: RequestSeen
    answer: Answered | None = None
    delivered: Delivered | None = None
    broken: Broken | None = None
    attempts: list[Exchange] = field(default_factory=list)
    """All attempts at this request, oldest first, this one included; one list for all of them."""
    previous: Exchange | None = None
    """The round before this one in the same turn."""
    next: Exchange | None = None
    """The round after this one in the same turn."""

    @property
    def number(self) -> int:
        """The request's number in the run, from 1."""
        return self.seen.request

    @property
    def first_at(self) -> float:
        """Seconds at which the first attempt arrived."""
        return self.attempts[0].seen.at if self.attempts else self.seen.at

    @property
    def answered_at(self) -> float | None:
        """Seconds at which the answer's last byte was written; None where it never was."""
        return self.delivered.at if self.delivered else None

    @property
    def body(self) -> Json:
        """The request's body; empty where it was no JSON object."""
        return self.seen.body if isinstance(self.seen.body, dict) else {}

    @cached_property
    def transcript(self) -> list[Any]:
        """The messages the model would have seen: message threads are resolved."""
        if self.seen.transcript is not None:
            return self.seen.transcript
        messages = self.body.get("messages")
        return messages if isinstance(messages, list) else []

    @cached_property
    def pieces(self) -> list[Piece]:
        """The transcript in the form in which it can be compared."""
        return pieces(self.transcript)

    @property
    def threaded(self) -> bool:
        """Whether the request continues a message thread, and so leaves out what the thread knows."""
        thread = self.body.get("thread")
        return isinstance(thread, dict) and "continue" in (thread.get("type"), *thread)

    @property
    def timeout(self) -> float | None:
        """Seconds the client says it waits for this answer, or between two parts of it; None: not said."""
        for name in ("x-stainless-timeout", "x-stainless-read-timeout"):
            with contextlib.suppress(ValueError):
                return float(self.seen.headers.get(name, ""))
        return None

    @property
    def kind(self) -> str:
        """How it was answered (`Answered.kind`); empty where it was not."""
        return self.answer.kind if self.answer else ""

    @property
    def whole(self) -> bool:
        """Whether the answer reached the loop to its last byte."""
        return self.delivered is not None and self.broken is None

    @property
    def lost(self) -> bool:
        """Whether the provider streamed a reply and broke it off before all of the message was sent."""
        broken = self.broken
        if broken is None or broken.by != "provider" or broken.how == "garbage":
            return False
        streamed = self.answer is not None and self.answer.kind == "reply" and self.answer.stream
        # With the stop reason everything was said: what follows it only ends the stream.
        return streamed and broken.last not in ("message_delta", "message_stop")

    @property
    def reply(self) -> Json | None:
        """The message of the model, also where only a part of it was delivered."""
        if self.answer and self.answer.kind == "reply" and isinstance(self.answer.body, dict):
            return self.answer.body
        return None

    @property
    def content(self) -> list[Json]:
        """The reply's blocks as they were sent; empty where there is no reply."""
        content = (self.reply or {}).get("content")
        return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []

    @cached_property
    def reply_pieces(self) -> list[Piece]:
        """The reply in the form in which it can be compared with what goes back."""
        return pieces([{"role": "assistant", "content": self.content}])

    @property
    def stop_reason(self) -> str | None:
        """The stop reason of a reply that was delivered whole; None otherwise."""
        reason = (self.reply or {}).get("stop_reason")
        return reason if self.whole and isinstance(reason, str) else None

    @property
    def calls(self) -> list[Json]:
        """The reply's client tool calls."""
        return [block for block in self.content if block.get("type") == "tool_use"]

    @property
    def server_calls(self) -> list[Json]:
        """The reply's calls of tools the server runs."""
        return [block for block in self.content if str(block.get("type", "")).endswith("_tool_use")]

    @property
    def texts(self) -> list[str]:
        """The reply's text blocks that are not blank."""
        return display.texts_of(self.content)

    @property
    def invites_retry(self) -> bool:
        """Whether sending the same again is what a client does next: disconnects and passing errors."""
        if self.answer is None or self.broken is not None:
            return True
        if self.answer.kind != "fault":
            return False
        said = self.answer.headers.get("x-should-retry")
        if said in ("true", "false"):
            return said == "true"
        return self.answer.status in (0, 408, 409, 429) or self.answer.status >= 500


@dataclass(eq=False)
class ToolRun:
    """One run of a client tool. Not ended: it never returned, or nobody waited for it."""

    started: ToolStarted
    ended: ToolEnded | None = None
    offered_as: str = ""
    """The name under which the loop offers it to the model, where that is another."""

    @property
    def name(self) -> str:
        """The tool's name, as the model calls it."""
        return self.offered_as or self.started.name

    @property
    def failed(self) -> bool:
        """Whether the tool raised."""
        return self.ended is not None and self.ended.error is not None
