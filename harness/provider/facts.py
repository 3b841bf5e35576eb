"""All that the rules look at: a request, its conversation, and what the provider said before."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from ..transcript import Conversation, previous_id
from ..wire.blocks import as_blocks
from .answer import Failure
from .request import Request


class Served:
    """What a session has sent: the real API takes back what it gave out, whatever that was."""

    def __init__(self) -> None:
        self.fields: dict[str, set[str]] = {}
        """Field names by block type."""
        self._ends: dict[tuple[Any, Any], str] = {}

    def sent(self, content: Iterable[Mapping[str, Any]], stop_reason: str) -> None:
        """A reply with `content` is on its way."""
        last: Mapping[str, Any] | None = None
        for block in content:
            self.fields.setdefault(str(block.get("type")), set()).update(block)
            last = last if is_blank(block) else block
        if last is not None:
            self._ends[_gist(last)] = stop_reason

    def stop_reason(self, block: Mapping[str, Any]) -> str | None:
        """Of the reply whose last block is `block`; None where no reply ended like that."""
        return self._ends.get(_gist(block))


def is_blank(block: Mapping[str, Any]) -> bool:
    """Whether this is a text block without a word."""
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def _gist(block: Mapping[str, Any]) -> tuple[Any, Any]:
    return block.get("type"), block.get("text") or block.get("id") or block.get("tool_use_id")


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a conversation. `index` is its place in the request."""

    index: int
    role: str
    content: Any
    blocks: list[dict[str, Any]]


class Placed(NamedTuple):
    """A block with its place in the request."""

    message: int
    block: int
    value: dict[str, Any]


class Run(NamedTuple):
    """Consecutive messages of one role: to the API they are one message."""

    role: str
    blocks: list[Placed]

    def of_type(self, kind: str) -> list[Placed]:
        """The blocks of one type."""
        return [placed for placed in self.blocks if placed.value.get("type") == kind]


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A request as the rules see it."""

    request: Request
    conversation: Conversation
    failure: Failure | None
    """Why the request's thread cannot be continued."""
    served: Served
    threaded: bool
    """Whether the request continues a thread: its messages are the last of the conversation's."""

    @classmethod
    def of(cls, request: Request, resolved: Conversation | Failure, served: Served) -> Facts:
        """The facts of `request`, whose thread was `resolved`."""
        failure = resolved if isinstance(resolved, Failure) else None
        conversation = Conversation() if isinstance(resolved, Failure) else resolved
        threaded = previous_id(request.body) is not None
        return cls(
            request=request, conversation=conversation, failure=failure, served=served, threaded=threaded
        )

    @property
    def offset(self) -> int:
        """How many messages the thread holds: paths count from the request's own first."""
        own = self.body.get("messages")
        return len(self.conversation.messages) - len(own) if self.threaded and isinstance(own, list) else 0

    @functools.cached_property
    def said(self) -> list[Said]:
        """The messages of the conversation."""
        offset = self.offset
        return [
            Said(
                index=index - offset if index >= offset else index,
                role=str(message.get("role")),
                content=message.get("content"),
                blocks=as_blocks(message.get("content")),
            )
            for index, message in enumerate(self.conversation.messages)
        ]

    @functools.cached_property
    def blocks(self) -> list[tuple[str, dict[str, Any]]]:
        """Each block that was sent as one, with its path."""
        return [
            (f"messages.{said.index}.content.{index}", block)
            for said in self.said
            if isinstance(said.content, list)
            for index, block in enumerate(said.blocks)
        ]

    @functools.cached_property
    def runs(self) -> list[Run]:
        """The conversation with consecutive messages of one role merged, and without system messages."""
        merged: list[Run] = []
        for said in self.said:
            if said.role == "system":
                continue
            if not merged or merged[-1].role != said.role:
                merged.append(Run(said.role, []))
            merged[-1].blocks.extend([Placed(said.index, i, block) for i, block in enumerate(said.blocks)])
        return merged

    @property
    def body(self) -> dict[str, Any]:
        """The body's fields; empty where it is no object."""
        return self.request.body if isinstance(self.request.body, dict) else {}

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))

    @property
    def version(self) -> str:
        """The `anthropic-version` header."""
        return self.request.headers.get("anthropic-version", "")
