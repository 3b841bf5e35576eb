"""Rules about thinking that comes back: it is sealed, and it stays where it was.

Only blocks that this provider made can be judged. Those of a history from elsewhere are taken as they are,
and so are those of another model, which the API leaves out without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...wire.blocks import CLIENT_RESULT, THINKING, as_blocks
from ...wire.models import canonical_name
from ..facts import Facts, Placed, Run, Said
from ..served import Sent, Thought
from .config import thinking_type

_SEALS = {"thinking": "signature", "redacted_thinking": "data"}


def invalid(placed: Placed) -> str:
    """The words for a thinking block that is not what it says."""
    kind = str(placed.value.get("type"))
    return f"{placed.path}: Invalid `{_SEALS[kind]}` in `{kind}` block"


def _ours(facts: Facts, sent: Sent | None) -> bool:
    return sent is not None and canonical_name(sent.model) == canonical_name(facts.model)


def known(facts: Facts, block: dict[str, Any]) -> Thought | None:
    """The thinking block of this model that `block` is."""
    return next(iter(all_known(facts, block)), None)


def all_known(facts: Facts, block: dict[str, Any]) -> list[Thought]:
    """The same, each time it was sent; the last time first."""
    sent = reversed(facts.served.thoughts(block))
    return [thought for thought in sent if _ours(facts, thought.sent) and not thought.sent.fell_back]


def signature_forged(facts: Facts) -> Iterator[str]:
    """In a reply of ours stands a thinking block with a seal that we never made."""
    for said in facts.said:
        if said.role == "assistant" and _has_reply_of_ours(facts, said):
            for index, block in enumerate(said.blocks):
                if block.get("type") in THINKING and not facts.served.thoughts(block):
                    yield invalid(Placed(said.index, index, block))


def _has_reply_of_ours(facts: Facts, said: Said) -> bool:
    return any(_ours(facts, facts.served.owner(block)) for block in said.blocks)


def thinking_modified(facts: Facts) -> Iterator[str]:
    """The model's last words keep their thinking: all of it or none, each block in its place."""
    last = next((run for run in reversed(facts.runs) if run.role == "assistant"), None)
    for placed in _modified(facts, last) if last else []:
        yield (
            f"{placed.path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot "
            "be modified. These blocks must remain as they were in the original response."
        )


def _modified(facts: Facts, run: Run) -> Iterator[Placed]:
    reached: dict[int, int] = {}
    before: Thought | None = None
    for placed in run.blocks:
        thought = known(facts, placed.value) if placed.value.get("type") in THINKING else None
        sent, place = _origin(facts, placed.value, thought, before)
        if thought and sent:
            last = reached.get(id(sent), -1)
            moved = place < last or _is_among_others(thought, before)
            # Models that bind their thinking take it without its beginning.
            skipped = not facts.traits.binds_thinking and _skips(sent, last, place)
            if moved or skipped or _is_edited(placed.value, thought):
                yield placed
        if sent:
            reached[id(sent)] = max(place, reached.get(id(sent), -1))
        before = thought


def _origin(
    facts: Facts, block: dict[str, Any], thought: Thought | None, before: Thought | None
) -> tuple[Sent | None, int]:
    """The reply `block` is from, and its place there. The same words may be those of several replies."""
    if thought:
        return thought.sent, thought.place
    if before and (place := _place(before.sent, block)) >= 0:
        return before.sent, place
    owner = facts.served.owner(block)
    return owner, _place(owner, block)


def _is_edited(block: dict[str, Any], thought: Thought) -> bool:
    return any(block.get(word) != thought.block.get(word) for word in ("thinking", "signature", "data"))


def _is_among_others(thought: Thought, before: Thought | None) -> bool:
    """Whether the block before is thinking of another reply, which has lost the words that followed it."""
    if before is None or before.sent is thought.sent:
        return False
    return any(block.get("type") not in THINKING for block in before.sent.content[before.place + 1 :])


def _skips(sent: Sent, reached: int, place: int) -> bool:
    """Whether thinking between two places of a reply is gone while some of it is kept."""
    return any(block.get("type") in THINKING for block in sent.content[reached + 1 : place])


def _place(sent: Sent | None, block: dict[str, Any]) -> int:
    """Where in a reply `block` is; -1 where it is not."""
    for place, one in enumerate(sent.content if sent else []):
        if all(one.get(key) == block.get(key) for key in ("type", "id", "text", "tool_use_id")):
            return place
    return -1


def thinking_missing(facts: Facts) -> Iterator[str]:
    """With manual thinking, the turn that calls tools begins with thinking."""
    if thinking_type(facts) != "enabled" or (first := _first_of_tool_turn(facts)) is None:
        return
    place, message = first
    blocks = as_blocks(message.get("content"))
    kind = blocks[0].get("type") if blocks else None
    # What came without thinking goes back without.
    owners = [facts.served.owner(block) for block in blocks]
    unthinking = any(owner and not owner.thinks_first for owner in owners)
    if kind is not None and kind not in THINKING and not unthinking:
        yield (
            f"messages.{place}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{kind}`. When `thinking` is enabled, a final `assistant` message must start with a thinking "
            "block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you "
            "include thinking blocks from previous turns. To avoid this requirement, disable `thinking`."
        )


def _first_of_tool_turn(facts: Facts) -> tuple[int, dict[str, Any]] | None:
    """Where the model began the turn that waits for results of its tools; None where none does."""
    messages = facts.conversation.messages
    first: tuple[int, dict[str, Any]] | None = None
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.get("role") == "assistant":
            if index == len(messages) - 1:
                return None
            first = index - facts.offset, message
        elif message.get("role") == "user" and not _is_results(message):
            break
    return first


def _is_results(message: dict[str, Any]) -> bool:
    blocks = as_blocks(message.get("content"))
    return bool(blocks) and all(block.get("type") == CLIENT_RESULT for block in blocks)
