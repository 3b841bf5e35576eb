"""What a session has sent: the API knows its own blocks again, whatever a client makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..wire.blocks import THINKING
from .memory import Memory
from .prefix import Prefix


class Sent(NamedTuple):
    """One reply."""

    content: list[dict[str, Any]]
    stop_reason: str
    model: str
    prefix: Prefix | None
    """What the model had read before; None where nobody will ask."""
    has_container: bool
    """It told where its code ran."""

    @property
    def fell_back(self) -> bool:
        """Two models wrote it: what the first one thought is not to be sent back."""
        return any(block.get("type") == "fallback" for block in self.content)

    @property
    def thinks_first(self) -> bool:
        """It begins with thinking."""
        return bool(self.content) and self.content[0].get("type") in THINKING


class Thought(NamedTuple):
    """A thinking block of a reply."""

    block: dict[str, Any]
    place: int
    sent: Sent


class Served:
    """The replies of one session, and how far its conversations were accepted."""

    def __init__(self) -> None:
        self.fields: dict[str, set[str]] = {}
        """Field names by block type: the real API takes back what it gave out, whatever that was."""
        self.memory = Memory()
        self.summaries: dict[str, dict[str, Any]] = {}
        """Compaction blocks by signature."""
        self._ends: dict[tuple[Any, Any], str] = {}
        self._owners: dict[tuple[Any, Any], Sent | None] = {}
        self._thoughts: dict[str, list[Thought]] = {}

    def sent(
        self,
        content: Iterable[Mapping[str, Any]],
        stop_reason: str,
        model: str = "",
        prefix: Prefix | None = None,
        *,
        has_container: bool = False,
    ) -> None:
        """A reply with `content` is on its way."""
        blocks = [dict(block) for block in content]
        sent = Sent(blocks, stop_reason, model, prefix, has_container)
        for place, block in enumerate(blocks):
            self.fields.setdefault(str(block.get("type")), set()).update(block)
            if block.get("type") in THINKING:
                # The same words go out again where a reply was cut, maybe to another request.
                self._thoughts.setdefault(seal(block), []).append(Thought(block, place, sent))
            elif block.get("type") == "compaction" and block.get("signature"):
                self.summaries[str(block["signature"])] = block
            elif not is_blank(block):
                self._own(block, sent)
        if spoken := [block for block in blocks if not is_blank(block)]:
            self._ends[_gist(spoken[-1])] = stop_reason

    def _own(self, block: Mapping[str, Any], sent: Sent) -> None:
        before = self._owners.get(_gist(block), sent)
        # Sent again because it was cut, a reply is still the same one.
        same = before is not None and before.content == sent.content
        self._owners[_gist(block)] = sent if same else None

    def stop_reason(self, block: Mapping[str, Any]) -> str | None:
        """Of the reply whose last block is `block`; None where no reply ended like that."""
        return self._ends.get(_gist(block))

    def owner(self, block: Mapping[str, Any]) -> Sent | None:
        """The reply that `block` is from; None where it is from none, or its words are those of several."""
        return self._owners.get(_gist(block))

    def thoughts(self, block: Mapping[str, Any]) -> list[Thought]:
        """The thinking that carries the seal of `block`, each time it was sent."""
        return self._thoughts.get(seal(block), [])


def seal(block: Mapping[str, Any]) -> str:
    """What only the server can write into a thinking block."""
    return str(block.get("data") if block.get("type") == "redacted_thinking" else block.get("signature"))


def is_blank(block: Mapping[str, Any]) -> bool:
    """Whether this is a text block without a word."""
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def _gist(block: Mapping[str, Any]) -> tuple[Any, Any]:
    kind = block.get("type")
    if kind in THINKING:
        return kind, seal(block)
    return kind, str(block.get("text") or block.get("id") or block.get("tool_use_id"))
