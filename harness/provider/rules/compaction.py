"""Rules about summaries that stand for a conversation: signed ones, and the request for one.

Their codes are documented, their texts are not; the texts here say what the codes mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...wire.blocks import CLIENT_CALL, as_blocks
from ..facts import Facts
from .types import Breach


def _breach(code: str, message: str) -> Breach:
    return Breach(message, {"error_code": f"compaction_{code}"})


def _signed(facts: Facts) -> Iterator[tuple[str, dict[str, Any]]]:
    """The signed summaries that hold one."""
    for path, block in facts.blocks:
        if block.get("type") == "compaction" and block.get("signature") and block.get("content"):
            yield path, block


def summary_twice(facts: Facts) -> Iterator[Breach]:
    """One summary stands for everything before it."""
    paths = [path for path, _ in _signed(facts)]
    if len(paths) > 1:
        yield _breach("block_ambiguous", f"{paths[1]}: `messages` holds more than one `compaction` block.")


def summary_misplaced(facts: Facts) -> Iterator[Breach]:
    """It comes first."""
    for path, _ in _signed(facts):
        if path != "messages.0.content.0" or facts.conversation.messages[0].get("role") == "system":
            yield _breach(
                "block_misplaced", f"{path}: a `compaction` block must be the first of the conversation."
            )


def summary_forged(facts: Facts) -> Iterator[Breach]:
    """Its signature is the server's."""
    made = facts.served.summaries
    for path, block in _signed(facts):
        forged = block["signature"] not in made
        if forged and any(block["content"] == one.get("content") for one in made.values()):
            yield _breach("signature_invalid", f"{path}: Invalid `signature` in `compaction` block")


def summary_edited(facts: Facts) -> Iterator[Breach]:
    """It says what it said."""
    for path, block in _signed(facts):
        made = facts.served.summaries.get(block["signature"])
        if made is not None and made.get("content") != block["content"]:
            yield _breach(
                "content_mismatch", f"{path}: `content` differs from the text its `signature` recorded."
            )


def tool_changes_edited(facts: Facts) -> Iterator[Breach]:
    """So do the tools that came and went in the part it stands for."""
    for path, block in _signed(facts):
        made = facts.served.summaries.get(block["signature"])
        if made is not None and (made.get("tool_changes") or []) != (block.get("tool_changes") or []):
            yield _breach(
                "tool_changes_mismatch", f"{path}: `tool_changes` differs from what came with the block."
            )


def _asks_for_summary(facts: Facts) -> bool:
    return facts.request.endpoint == "messages" and facts.body.get("compaction") is not None


def nothing_to_summarize(facts: Facts) -> Iterator[Breach]:
    """There has to be something to stand for."""
    said = facts.conversation.messages
    if _asks_for_summary(facts) and not any(
        message.get("role") in ("user", "assistant") and message.get("content") for message in said
    ):
        yield _breach("nothing_to_summarize", "`messages` holds nothing to summarize.")


def turn_unfinished(facts: Facts) -> Iterator[Breach]:
    """A turn that waits for its tools cannot be summarized."""
    said = facts.conversation.messages
    if _asks_for_summary(facts) and said and said[-1].get("role") == "assistant":
        blocks = as_blocks(said[-1].get("content"))
        waits = any(block.get("type") == CLIENT_CALL for block in blocks)
        paused = bool(blocks) and facts.served.stop_reason(blocks[-1]) == "pause_turn"
        if waits or paused:
            yield _breach(
                "incomplete_turn", "The conversation ends on an `assistant` turn that is not finished."
            )


def summary_with_context_management(facts: Facts) -> Iterator[str]:
    """One way to shorten a conversation at a time; the words are not recorded."""
    if _asks_for_summary(facts) and facts.body.get("context_management") is not None:
        yield "compaction: cannot be combined with `context_management`"
