"""All that the rules look at: a request, its conversation, and what the provider said before."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from ..transcript import Conversation, previous_id
from ..wire.blocks import as_blocks
from ..wire.models import Traits, traits
from . import prefix as prefixes
from .answer import Failure
from .memory import Accepted
from .prefix import Prefix
from .request import Request
from .served import Served

__all__ = ["CURRENT", "Facts", "Placed", "Run", "Said", "Served"]

CURRENT = "2026-10-21"
"""The version of the API that dropped what older ones took."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a conversation. `index` is its place in the request."""

    index: int
    role: str
    content: Any
    blocks: list[dict[str, Any]]
    message: dict[str, Any]


class Placed(NamedTuple):
    """A block with its place in the request."""

    message: int
    block: int
    value: dict[str, Any]

    @property
    def path(self) -> str:
        """As errors name it."""
        return f"messages.{self.message}.content.{self.block}"


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

    def keep(self) -> None:
        """Nothing was wrong: what is the same in the next request need not be looked at again."""
        self.accepted.prefix = self.__dict__.get("prefix")
        self.served.memory.keep(self._recalled[0], self.start, self.conversation.messages)

    @functools.cached_property
    def _recalled(self) -> tuple[Accepted, int]:
        said = self.conversation
        key = [self.model, self.version, self.betas, said.tools, said.system, self.body.get("thinking")]
        return self.served.memory.recall(said.messages, key)

    @property
    def accepted(self) -> Accepted:
        """What an earlier request showed about the messages before `start`, and perhaps some more."""
        return self._recalled[0]

    @property
    def start(self) -> int:
        """The first message that has to be looked at."""
        return self._recalled[1]

    @property
    def offset(self) -> int:
        """How many messages the thread holds: paths count from the request's own first."""
        own = self.body.get("messages")
        return len(self.conversation.messages) - len(own) if self.threaded and isinstance(own, list) else 0

    @functools.cached_property
    def said(self) -> list[Said]:
        """The messages of the conversation that have to be looked at, up to its end."""
        offset = self.offset
        return [
            Said(
                index=index - offset if index >= offset else index,
                role=str(message.get("role")),
                content=message.get("content"),
                blocks=as_blocks(message.get("content")),
                message=message,
            )
            for index, message in enumerate(islice(self.conversation.messages, self.start, None), self.start)
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
        """The messages in `said` with consecutive ones of one role merged, and without system messages."""
        merged: list[Run] = []
        for said in self.said:
            if said.role == "system":
                continue
            if not merged or merged[-1].role != said.role:
                merged.append(Run(said.role, []))
            merged[-1].blocks.extend([Placed(said.index, i, block) for i, block in enumerate(said.blocks)])
        return merged

    @functools.cached_property
    def prefix(self) -> Prefix:
        """The whole conversation as a chain."""
        start, known = 0, prefixes.empty(self.conversation.system, self.conversation.tools)
        if self.accepted.prefix is not None:
            start, known = self.start, self.accepted.prefix.upto(self.start)
        return prefixes.extended(known, enumerate(islice(self.conversation.messages, start, None), start))

    @functools.cached_property
    def body(self) -> dict[str, Any]:
        """The body's fields; empty where it is no object."""
        return self.request.body if isinstance(self.request.body, dict) else {}

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools of the conversation."""
        return self.conversation.tools

    @functools.cached_property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))

    @functools.cached_property
    def traits(self) -> Traits:
        """What that model takes."""
        return traits(self.model)

    @functools.cached_property
    def version(self) -> str:
        """The `anthropic-version` header."""
        return self.request.headers.get("anthropic-version", "")

    @property
    def is_current(self) -> bool:
        """The version is the newest, or one to come."""
        return self.version >= CURRENT

    @functools.cached_property
    def betas(self) -> str:
        """The `anthropic-beta` header."""
        return self.request.headers.get("anthropic-beta", "")

    @property
    def size(self) -> int:
        """About how many bytes of JSON the conversation is."""
        return len(self.request.raw) + (self.conversation.size if self.threaded else 0)

    def field(self, name: str) -> dict[str, Any]:
        """A field of the body that is an object; empty where it is none."""
        value = self.body.get(name)
        return value if isinstance(value, dict) else {}
