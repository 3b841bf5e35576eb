"""Conversations that were accepted, so that only what is new in the next request has to be looked at.

A loop sends its whole history with each request. Looked at from the beginning each time, a turn of n requests
costs n² messages; most of them were accepted a moment before.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgspec

from ..wire.blocks import CLIENT_CALL, SERVER_CALL, as_blocks, is_server_result
from .prefix import Prefix

KEPT = 4
"""Conversations held at once: the loop's own, and those of a few helpers it may have."""


class Accepted(msgspec.Struct, kw_only=True, eq=False):
    """A conversation nothing was wrong with, and what its rules have to know about all of it."""

    key: Any = None
    """What the rules look at beside the messages."""
    messages: list[dict[str, Any]] = []
    calls: dict[str, int] = {}
    """Ids of client calls, with the message each stands in."""
    sources: dict[str, int] = {}
    """Ids of server calls."""
    waiting: dict[str, int] = {}
    """Those of them without a result so far."""
    marks: dict[int, int] = {}
    """How many cache marks the messages hold that hold any."""
    prefix: Prefix | None = None

    def forget(self, start: int) -> None:
        """Keep the first `start` messages alone."""
        for index, message in enumerate(islice(self.messages, start, None), start):
            self.marks.pop(index, None)
            for block in as_blocks(message.get("content")):
                id_ = str(block.get("id"))
                for ids in (self.calls, self.sources, self.waiting):
                    if ids.get(id_, -1) >= start:
                        del ids[id_]
                source = str(block.get("tool_use_id"))
                if is_server_result(block) and self.sources.get(source, start) < start:
                    self.waiting[source] = self.sources[source]
        self.messages = self.messages[:start]

    def learn(self, messages: list[dict[str, Any]]) -> None:
        """Take over `messages`, of which those known already are the beginning."""
        for index, message in enumerate(islice(messages, len(self.messages), None), len(self.messages)):
            if count := marks(message.get("content")):
                self.marks[index] = count
            for block in as_blocks(message.get("content")):
                id_ = str(block.get("id"))
                if block.get("type") == CLIENT_CALL:
                    self.calls.setdefault(id_, index)
                elif block.get("type") == SERVER_CALL:
                    self.waiting[id_] = self.sources.setdefault(id_, index)
                elif is_server_result(block):
                    self.waiting.pop(str(block.get("tool_use_id")), None)
        self.messages = messages


class Memory:
    """The conversations of one session that were accepted last."""

    def __init__(self) -> None:
        self._kept: list[Accepted] = []

    def recall(self, messages: list[dict[str, Any]], key: Any) -> tuple[Accepted, int]:
        """The accepted conversation that `messages` goes on from, and the first message to look at again.

        What the last message of a conversation may be, one within it may not, and calls are judged together
        with their results: what the two or three last speakers said is looked at once more, and all that came
        after a server call without a result.
        """
        best, common = Accepted(key=key), 0
        for accepted in self._kept:
            if accepted.key == key and (shared := _common(accepted.messages, messages)) > common:
                best, common = accepted, shared
        if common < len(best.messages):
            best.forget(common)
        start = _back(messages, common)
        return best, _beginning(messages, min([start, *best.waiting.values()]))

    def keep(self, accepted: Accepted, start: int, messages: list[dict[str, Any]]) -> None:
        """All of `messages` is accepted, which goes on from the first `start` of `accepted`."""
        accepted.forget(start)
        accepted.learn(messages)
        self._kept = [one for one in self._kept if one is not accepted][: KEPT - 1]
        self._kept.insert(0, accepted)


def marks(value: Any) -> int:
    """How many cache marks stand in a list of blocks, those within their contents included."""
    if not isinstance(value, list):
        return 0
    return sum(
        (block.get("cache_control") is not None) + marks(block.get("content"))
        for block in value
        if isinstance(block, Mapping)
    )


def _common(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> int:
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one is not other and one != other:
            return index
    return min(len(first), len(second))


def _back(messages: list[dict[str, Any]], common: int) -> int:
    """Where to begin when the first `common` messages are known: with the assistant, two speakers back."""
    start, role, speakers = common, None, 0
    for index in range(common - 1, -1, -1):
        spoken = messages[index].get("role")
        if spoken == "system":
            continue
        if spoken != role:
            if speakers >= 2 and role == "assistant":
                return start
            role, speakers = spoken, speakers + 1
        start = index
    return 0


def _beginning(messages: list[dict[str, Any]], start: int) -> int:
    """Where the assistant began to say what it says in message number `start`."""
    for index in range(start - 1, -1, -1):
        role = messages[index].get("role")
        if role == "user":
            break
        if role == "assistant":
            start = index
    return start
