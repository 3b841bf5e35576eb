"""Rules about thinking that newer models bind to the conversation it was made in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from ...wire.blocks import THINKING, as_blocks
from ..facts import Facts, Placed, Said
from ..prefix import Prefix
from ..served import Sent, Thought, seal
from .thinking import all_known, invalid

BETA = "thinking-binding-controls-2026-08-01"


class Mismatch(NamedTuple):
    """A thinking block that comes back in another conversation than its own."""

    placed: Placed
    change: str


def mismatches(facts: Facts) -> Iterator[Mismatch]:
    """The thinking blocks whose conversation is not the one they were made in."""
    if not facts.traits.binds_thinking or _is_compacted(facts):
        return
    last: str | None = None
    for said, block, place in _thinking(facts):
        bound = [thought for thought in all_known(facts, block) if thought.sent.prefix is not None]
        changes = [_change_before(facts, thought, place, last) for thought in bound]
        if changes and None not in changes:
            yield Mismatch(Placed(said.index, place[1], block), str(changes[0]))
        last = seal(block)


def _change_before(facts: Facts, thought: Thought, place: tuple[int, int], last: str | None) -> str | None:
    """What is different now before a block; `last` is the thinking before it. None where nothing is."""
    change = _change(facts, thought.sent, thought.place, place)
    # The oldest thinking may go; what is gone from between others takes the rest with it.
    return "" if change is None and last not in (None, _seal_before(thought)) else change


def _thinking(facts: Facts) -> Iterator[tuple[Said, dict[str, Any], tuple[int, int]]]:
    for number, said in enumerate(facts.said, facts.start):
        for index, block in enumerate(said.blocks):
            if said.role == "assistant" and block.get("type") in THINKING:
                yield said, block, (number, index)


def _seal_before(thought: Thought) -> str | None:
    """Of the thinking just before, in the same reply or in what the model had read."""
    before = [block for block in thought.sent.content[: thought.place] if block.get("type") in THINKING]
    if before:
        return seal(before[-1])
    return thought.sent.prefix.last_thought if thought.sent.prefix else None


def _is_compacted(facts: Facts) -> bool:
    """The server itself shortens such a conversation, which is no edit."""
    return any(block.get("type") == "compaction" for _, block in facts.blocks)


def _change(facts: Facts, sent: Sent, place: int, at: tuple[int, int]) -> str | None:
    """What stands before the block now and did not then, or the other way round; None where nothing does."""
    made, now = whole_prefix(sent, place), facts.prefix
    if made.system != now.system:
        return "The `system` prompt differs from the one this block was created with."
    if made.tools != now.tools:
        return "The `tools` list differs from the one this block was created with."
    count = _items_before(now, at)
    if count == len(made.items) and made.chain[-1] == now.chain[count]:
        return None
    first = made.first_difference(now, min(count, len(made.items)))
    message, block = now.places[first] if first < len(now.places) else at
    path = f"`messages.{message - facts.offset if message >= facts.offset else message}.content.{block}`"
    if count < len(made.items):
        return (
            "Content that preceded this block when it was created is missing from this request, "
            f"starting at {path}."
        )
    return f"Content before this block differs from when it was created, first at {path}."


def _items_before(prefix: Prefix, at: tuple[int, int]) -> int:
    count = prefix.offsets[at[0]] if at[0] < len(prefix.offsets) else len(prefix.items)
    while count < len(prefix.places) and prefix.places[count] < at:
        count += 1
    return count


def whole_prefix(sent: Sent, place: int) -> Prefix:
    """What stood before block number `place` of a reply, the reply's own beginning included."""
    assert sent.prefix is not None  # noqa: S101 - only asked of replies that have one
    made = sent.prefix.copy()
    for index, block in enumerate(sent.content[:place]):
        made.add_block("assistant", block, (-1, index))
    return made


def behaviour(facts: Facts) -> str:
    """`prefix_mismatch_behavior`: `error` where nothing else is said."""
    binding = facts.field("thinking").get("block_binding")
    said = binding.get("prefix_mismatch_behavior") if isinstance(binding, dict) else None
    return str(said or "error")


def thinking_bound_elsewhere(facts: Facts) -> Iterator[str]:
    """The block was made in another conversation than this one."""
    if behaviour(facts) != "drop_block":
        for placed, change in mismatches(facts):
            beta = (
                f"That setting requires the `{BETA}` value in the `anthropic-beta` header."
                if BETA not in facts.betas
                else ""
            )
            remedy = (
                "The block is bound to a different conversation. Remove the block, or set "
                '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
            )
            yield " ".join(part for part in (f"{invalid(placed)}.", remedy, beta, change) if part)


def transformations(facts: Facts) -> list[dict[str, Any]] | None:
    """`input_transformations` of the reply: the blocks that were dropped; None without the beta."""
    if BETA not in facts.betas:
        return None
    dropped = mismatches(facts) if behaviour(facts) == "drop_block" else iter(())
    return [
        {"type": "thinking_dropped", "path": placed.path, "reason": "prefix_binding_mismatch"}
        for placed, _ in dropped
    ]


def prefix_of(facts: Facts, content: list[dict[str, Any]]) -> Prefix | None:
    """What the model has read before a reply with `content`, where that will matter."""
    if not facts.traits.binds_thinking or not any(block.get("type") in THINKING for block in content):
        return None
    thoughts = (
        seal(block)
        for message in reversed(facts.conversation.messages)
        if message.get("role") == "assistant"
        for block in reversed(as_blocks(message.get("content")))
        if block.get("type") in THINKING
    )
    return msgspec.structs.replace(facts.prefix, last_thought=next(thoughts, None))
