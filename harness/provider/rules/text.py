"""Rules about content that says nothing, and about requests that begin the reply themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...wire.blocks import as_blocks, is_server_side
from ..facts import Facts, Said
from ..threads import RESUMABLE

CONTINUED_BY_THE_SERVER = frozenset({"compaction", "fallback", "container_upload"})
"""Block types that show an assistant message to be the server's own, beside those of its tools."""


def _of_blocks(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for block in blocks:
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _system_texts(facts: Facts) -> list[str]:
    """The text blocks of the system prompt. As a string it may be empty."""
    system = facts.body.get("system")
    return list(_of_blocks(as_blocks(system))) if isinstance(system, list) else []


def text_empty(facts: Facts) -> Iterator[str]:
    """A text block holds text. An empty string as a message's content is the next rule but one."""
    for said in _sent(facts):
        if isinstance(said.content, list) and "" in _of_blocks(said.blocks):
            yield "messages: text content blocks must be non-empty"
    if "" in _system_texts(facts):
        yield "system: text content blocks must be non-empty"


def _sent(facts: Facts) -> list[Said]:
    """The messages this request holds itself: what its thread holds is the provider's to answer for."""
    return facts.said[max(facts.offset - facts.start, 0) :]


_BLANK = "text content blocks must contain non-whitespace text"


def text_blank(facts: Facts) -> Iterator[str]:
    """White space alone is no text."""
    if any(map(_is_blank, _system_texts(facts))):
        yield f"system: {_BLANK}"
    for said in _sent(facts):
        if any(map(_is_blank, _of_blocks(said.blocks))) and not _has_more_than_text(said):
            yield f"messages: {_BLANK}"


def text_blank_beside_others(facts: Facts) -> Iterator[str]:
    """A recording shows blank text accepted beside the assistant's calls; how far that goes is not known."""
    for said in _sent(facts):
        if any(map(_is_blank, _of_blocks(said.blocks))) and _has_more_than_text(said):
            yield f"messages.{said.index}: {_BLANK}"


def _is_blank(text: str) -> bool:
    return text != "" and not text.strip()


def _has_more_than_text(said: Said) -> bool:
    return said.role == "assistant" and any(block.get("type") != "text" for block in said.blocks)


def content_empty(facts: Facts) -> Iterator[str]:
    """Only the last message may be empty, and only if it is the assistant's."""
    sent = _sent(facts)
    last = len(sent) - 1
    for place, said in enumerate(sent):
        if said.role == "system" or (place == last and said.role == "assistant"):
            continue
        if said.content in ("", [], None):
            yield (
                f"messages.{said.index}: all messages must have non-empty content except for the optional "
                "final assistant message"
            )


def _prefill(facts: Facts) -> Said | None:
    """The assistant message at the end, unless it is a reply that asked to be resumed."""
    spoken = [said for said in facts.said if said.role != "system"]
    if not spoken or spoken[-1].role != "assistant":
        return None
    last = spoken[-1]
    if last.blocks:
        stop_reason = facts.served.stop_reason(last.blocks[-1])
        if stop_reason is not None:
            return None if stop_reason in RESUMABLE else last
    theirs = (is_server_side(b) or b.get("type") in CONTINUED_BY_THE_SERVER for b in last.blocks)
    return None if any(theirs) else last


def prefill_ends_in_space(facts: Facts) -> Iterator[str]:
    """The beginning of a reply does not end in white space."""
    last = _prefill(facts)
    if last is None or not facts.traits.prefill:
        return
    texts = list(_of_blocks(last.blocks[-1:]))
    if texts and texts[0] != texts[0].rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"


def prefill_unsupported(facts: Facts) -> Iterator[str]:
    """Newer models begin their replies themselves."""
    paid = facts.body.get("fallback_credit_token") is not None
    summarized = facts.body.get("compaction") is not None
    if not (facts.traits.prefill or paid or summarized) and _prefill(facts) is not None:
        yield (
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )


def document_in_assistant_message(facts: Facts) -> Iterator[str]:
    """Since 2026-10-21 a document is not the assistant's to give."""
    for said in facts.said if facts.is_current else []:
        if said.role == "assistant" and any(block.get("type") == "document" for block in said.blocks):
            yield f"messages.{said.index}: `document` blocks cannot be in `assistant` messages"


def citations_in_user_message(facts: Facts) -> Iterator[str]:
    """Since 2026-10-21 the user's text cites nothing."""
    for said in facts.said if facts.is_current else []:
        if said.role == "user" and any(b.get("type") == "text" and b.get("citations") for b in said.blocks):
            yield f"messages.{said.index}: `citations` cannot be in a user message's text"
