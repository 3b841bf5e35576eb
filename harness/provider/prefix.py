"""What stood before a thinking block, so that the same can be told from something else.

Thinking itself is left out: a client may drop the oldest of it. So is what may change without changing what
the model reads: cache marks, nulls, the address an image is fetched from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..wire.blocks import THINKING, as_blocks
from ..wire.codec import canonical

_UNSEEN = frozenset({"cache_control", "caller"})
_UNSEEN_VALUES = (None, False, "")


class Prefix(msgspec.Struct, kw_only=True):
    """A conversation as a chain: each link stands for everything up to it."""

    system: bytes
    tools: bytes
    items: list[bytes]
    """One digest a block."""
    chain: list[bytes]
    """`chain[n]` stands for the first `n` items."""
    places: list[tuple[int, int]]
    """Message and block of each item."""
    offsets: list[int]
    """How many items stand before each message."""
    last_thought: str | None = None
    """The seal of the last thinking block, where somebody asked for it."""

    def add_message(self, place: int, message: Mapping[str, Any]) -> None:
        """One more message. One that is shown for a single turn is none of the conversation's."""
        self.offsets.append(len(self.items))
        if message.get("clear_at") == "next_user_message":
            return
        for index, block in enumerate(as_blocks(message.get("content"))):
            self.add_block(str(message.get("role")), block, (place, index))

    def add_block(self, role: str, block: Mapping[str, Any], place: tuple[int, int]) -> None:
        """One more block; thinking and empty text are none of it."""
        if block.get("type") in THINKING or (block.get("type") == "text" and not block.get("text")):
            return
        self.items.append(_digest([role, _read(block)]))
        self.chain.append(hashlib.blake2b(self.chain[-1] + self.items[-1], digest_size=16).digest())
        self.places.append(place)

    def upto(self, message: int) -> Prefix:
        """The part before message number `message`."""
        if message >= len(self.offsets):
            return self.copy()
        count = self.offsets[message]
        return msgspec.structs.replace(
            self,
            items=self.items[:count],
            chain=self.chain[: count + 1],
            places=self.places[:count],
            offsets=self.offsets[:message],
        )

    def copy(self) -> Prefix:
        """One that can grow by itself."""
        return msgspec.structs.replace(
            self,
            items=list(self.items),
            chain=list(self.chain),
            places=list(self.places),
            offsets=list(self.offsets),
        )

    def first_difference(self, other: Prefix, count: int) -> int:
        """The first of `count` items in which `other` differs."""
        for index in range(min(count, len(self.items), len(other.items))):
            if self.items[index] != other.items[index]:
                return index
        return min(len(self.items), len(other.items))


def empty(system: Any, tools: Any) -> Prefix:
    """What a conversation begins with."""
    return Prefix(
        system=_digest([_read(block) for block in as_blocks(system)]),
        tools=_digest([_read(tool) for tool in tools] if isinstance(tools, list) else []),
        items=[],
        chain=[b""],
        places=[],
        offsets=[],
    )


def extended(prefix: Prefix, messages: Iterable[tuple[int, Mapping[str, Any]]]) -> Prefix:
    """`prefix` with further messages, each with its place."""
    grown = prefix.copy()
    for place, message in messages:
        grown.add_message(place, message)
    return grown


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(canonical(value), digest_size=16).digest()


def _read(value: Any) -> Any:
    """What the model reads of `value`."""
    if isinstance(value, Mapping):
        if value.get("type") == "url":
            return {"type": "url"}
        return {
            key: as_blocks(part) if key == "content" and isinstance(part, str) else _read(part)
            for key, part in value.items()
            if key not in _UNSEEN and not (isinstance(part, str | bool | None) and part in _UNSEEN_VALUES)
        }
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return [_read(part) for part in value] if isinstance(value, list) else value
