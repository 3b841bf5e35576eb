"""The prompt cache of one session: what is marked with `cache_control` is created once, then read.

The API caches nothing shorter than about a thousand tokens. That is not copied, so that a short conversation
shows the counts as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .blocks import as_blocks
from .codec import dumps

_MARK = "cache_control"


class Counts(NamedTuple):
    """How the tokens of a prompt divide."""

    fresh: int
    """Neither read nor created: `input_tokens`."""
    read: int = 0
    short: int = 0
    """Created to last five minutes."""
    long: int = 0
    """Created to last an hour."""

    @property
    def created(self) -> int:
        """All that was created."""
        return self.short + self.long


class Part(NamedTuple):
    """A piece of a prompt, in the order in which prompts are cached."""

    data: bytes
    """Its JSON, without the mark."""
    ttl: str | None
    """How long what ends here is kept; None where nothing ends."""


class PromptCache:
    """Remembers prefixes. Ask it once for each prompt."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def look(self, seen: Mapping[str, Any], whole: Mapping[str, Any] | None = None) -> Counts:
        """Divide the tokens of a prompt, and remember what it marks. `whole` marks all of it."""
        parts = list(parts_of(seen, whole))
        if not any(part.ttl for part in parts):
            return Counts(fresh=sum(tokens_in(part.data) for part in parts))
        digest, total, read = hashlib.blake2b(digest_size=12), 0, 0
        ends: list[tuple[bytes, int, str]] = []
        for part in parts:
            digest.update(part.data)
            total += tokens_in(part.data)
            prefix = digest.digest()
            if prefix in self._known:
                read = total
            if part.ttl:
                ends.append((prefix, total, part.ttl))
        self._known.update(prefix for prefix, _, _ in ends)
        kept = {"5m": 0, "1h": 0}
        upto = read
        for _, end, ttl in ends:
            kept["1h" if ttl == "1h" else "5m"] += max(0, end - upto)
            upto = max(upto, end)
        return Counts(fresh=total - upto, read=read, short=kept["5m"], long=kept["1h"])


def tokens_in(data: bytes) -> int:
    """About how many tokens some JSON is: four bytes each, no tokenizer."""
    return max(1, len(data) // 4)


def parts_of(seen: Mapping[str, Any], whole: Mapping[str, Any] | None = None) -> Iterator[Part]:
    """The pieces of a prompt: tools, system, messages block by block."""
    blocks = list(_blocks(seen))
    for index, block in enumerate(blocks):
        mark = block.get(_MARK)
        if mark is None and whole is not None and index == len(blocks) - 1:
            mark = whole
        bare = {key: value for key, value in block.items() if key != _MARK} if _MARK in block else block
        yield Part(dumps(bare), str(mark.get("ttl", "5m")) if isinstance(mark, Mapping) else None)


def _blocks(seen: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for tool in seen.get("tools") or ():
        yield tool if isinstance(tool, Mapping) else {"tool": tool}
    yield from as_blocks(seen.get("system"))
    for message in seen.get("messages") or ():
        if isinstance(message, Mapping):
            yield from as_blocks(message.get("content"))
