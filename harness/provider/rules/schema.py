"""Rules about the form of a request: fields that are missing, mistyped or unknown, and block types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ...wire.blocks import CALLS, FIELDS, REQUIRED
from ..facts import Facts

SAMPLING = frozenset({"temperature", "top_p", "top_k"})
BODY_FIELDS = SAMPLING | {
    "billing_policy", "cache_control", "compaction", "container", "context_management", "diagnostics",
    "fallback_credit_token", "fallbacks", "inference_geo", "max_tokens", "mcp_servers", "messages",
    "metadata", "model", "output_config", "output_format", "service_tier", "speed", "stop_sequences",
    "stream", "system", "thinking", "thread", "tool_choice", "tools",
}  # fmt: skip
"""Every field a request may have; which of them a version has dropped is below."""

FIELDS_OF_BETAS: dict[str, tuple[str, ...]] = {
    "context_management": ("context-management-", "compact-2026-01-12"),
    "mcp_servers": ("mcp-client-",),
    "fallbacks": ("server-side-fallback-",),
    "fallback_credit_token": ("fallback-credit-",),
    "compaction": ("compact-2026-09-04",),
}
"""Fields that exist with a beta alone, and how the names of such betas begin."""

MESSAGE_FIELDS = frozenset({"role", "content"})
SYSTEM_MESSAGE_FIELDS = MESSAGE_FIELDS | {"clear_at", "output_config"}
CUSTOM_TOOL_FIELDS = frozenset({
    "allowed_callers", "cache_control", "defer_loading", "description", "eager_input_streaming",
    "input_examples", "input_schema", "name", "strict", "type",
})  # fmt: skip

BETA_TAGS = {"fallback": "fallback"}
"""Block types that the API knows only with a beta whose name holds this word."""

EXPECTED_BLOCK_TAGS = (
    "'bash_code_execution_tool_result', 'code_execution_tool_result', 'connector_text', 'container_upload', "
    "'document', 'image', 'mid_conv_system', 'redacted_thinking', 'search_result', 'server_tool_use', "
    "'text', 'text_editor_code_execution_tool_result', 'thinking', 'tool_result', 'tool_search_tool_result', "
    "'tool_use', 'web_fetch_tool_result', 'web_search_tool_result'"
)
EXPECTED_TOOL_TAGS = (
    "'bash_20250124', 'code_execution_20250522', 'code_execution_20250825', 'custom', 'memory_20250818', "
    "'text_editor_20250124', 'text_editor_20250429', 'text_editor_20250728', 'tool_search_tool_bm25', "
    "'tool_search_tool_bm25_20251119', 'tool_search_tool_regex', 'tool_search_tool_regex_20251119', "
    "'web_fetch_20250910', 'web_search_20250305'"
)
_DATED_TOOL = re.compile(r"[a-z_]+_\d{8}")
_TAG = "Input tag '{}' found using 'type' does not match any of the expected tags: {}"
_EXTRA = "Extra inputs are not permitted"


def field_missing(facts: Facts) -> Iterator[str]:
    """`model`, `max_tokens` and `messages` have to be there."""
    if facts.request.endpoint not in ("messages", "count_tokens"):
        return
    if not isinstance(facts.request.body, dict):
        yield "Input should be a valid dictionary"
    needed = ["model", "messages"]
    if facts.request.endpoint == "messages":
        needed.insert(1, "max_tokens")
    for field in needed:
        if field not in facts.body:
            yield f"{field}: Field required"


def field_mistyped(facts: Facts) -> Iterator[str]:
    """The fields that everything else rests on have the right type."""
    body = facts.body
    if "model" in body and not isinstance(body["model"], str):
        yield "model: Input should be a valid string"
    if "max_tokens" in body and (
        isinstance(body["max_tokens"], bool) or not isinstance(body["max_tokens"], int)
    ):
        yield "max_tokens: Input should be a valid integer"
    for field in ("messages", "tools"):
        if body.get(field) is not None and not isinstance(body[field], list):
            yield f"{field}: Input should be a valid list"
    if body.get("stream") is not None and not isinstance(body["stream"], bool):
        yield "stream: Input should be a valid boolean"
    yield from _messages_mistyped(facts)
    for index, tool in enumerate(body.get("tools") or []):
        if not isinstance(tool, dict):
            yield f"tools.{index}: Input should be a valid dictionary"
            continue
        for field in ("type", "name"):
            if not isinstance(tool.get(field, ""), str | None):
                yield f"tools.{index}.custom.{field}: Input should be a valid string"


def _messages_mistyped(facts: Facts) -> Iterator[str]:
    messages = facts.body.get("messages")
    if not isinstance(messages, list):
        return
    # Places are the same in both where nothing was left out for not being a message at all.
    whole = len(messages) + facts.offset == len(facts.conversation.messages)
    known = max(facts.start - facts.offset, 0) if whole else 0
    for index, message in enumerate(islice(messages, known, None), known):
        at = f"messages.{index}"
        if not isinstance(message, dict):
            yield f"{at}: Input should be a valid dictionary"
            continue
        if "role" not in message:
            yield f"{at}.role: Field required"
        if message.get("role") != "system" and "content" not in message:
            yield f"{at}.content: Field required"
        content = message.get("content", "")
        if not isinstance(content, str | list):
            yield f"{at}.content: Input should be a valid list"
        elif not all(isinstance(block, dict) for block in content if not isinstance(content, str)):
            yield f"{at}.content: Input should be a valid dictionary"


def block_field_missing(facts: Facts) -> Iterator[str]:
    """Each block and tool has what its type needs."""
    for path, block in facts.blocks:
        kind = block.get("type")
        if kind is None:
            yield f"{path}.type: Field required"
        for field in REQUIRED.get(str(kind), ()):
            if field not in block:
                yield f"{path}.{kind}.{field}: Field required"
    for index, tool in enumerate(facts.body.get("tools") or []):
        if tool.get("type") in (None, "custom"):
            for field in ("name", "input_schema"):
                if field not in tool:
                    yield f"tools.{index}.custom.{field}: Field required"


STRINGS = ("type", "text", "id", "name", "tool_use_id", "thinking", "signature", "data")


def block_field_mistyped(facts: Facts) -> Iterator[str]:
    """What names or says something is a string."""
    for path, block in facts.blocks:
        for field in STRINGS:
            if field in block and not isinstance(block[field], str):
                tag = "" if field == "type" else f".{block.get('type')}"
                yield f"{path}{tag}.{field}: Input should be a valid string"


def field_unknown(facts: Facts) -> Iterator[str]:
    """A field nobody knows, one that this version has dropped, or one that only comes with a reply."""
    dropped = SAMPLING if facts.is_current else frozenset()
    unlocked = _says_beta(facts)
    for field in facts.body:
        if (
            field not in BODY_FIELDS
            or field in dropped
            or (not unlocked and field in _without_their_beta(facts))
        ):
            yield f"{field}: {_EXTRA}"
    for said in facts.said:
        known = SYSTEM_MESSAGE_FIELDS if said.role == "system" else MESSAGE_FIELDS
        for field in said.message.keys() - known:
            yield f"messages.{said.index}.{field}: {_EXTRA}"
    for path, block in facts.blocks:
        kind = str(block.get("type"))
        # The API takes back what it gave out, fields to come included.
        known_here = facts.served.fields.get(kind, set()).union(FIELDS.get(kind, ()))
        for field in block:
            if known_here and field not in known_here:
                yield f"{path}.{kind}.{field}: {_EXTRA}"
    for index, tool in enumerate(facts.body.get("tools") or []):
        if tool.get("type") in (None, "custom"):
            for field in tool:
                if field not in CUSTOM_TOOL_FIELDS:
                    yield f"tools.{index}.custom.{field}: {_EXTRA}"


def _says_beta(facts: Facts) -> bool:
    """Whether the address asks for the beta API without saying which betas."""
    return not facts.betas and "beta=true" in facts.request.query


def _without_their_beta(facts: Facts) -> list[str]:
    return [
        field
        for field, betas in FIELDS_OF_BETAS.items()
        if facts.body.get(field) is not None and not any(beta in facts.betas for beta in betas)
    ]


def beta_unnamed(facts: Facts) -> Iterator[str]:
    """A field of a beta that only the address asks for; whether that is enough is not known."""
    for field in _without_their_beta(facts) if _says_beta(facts) else []:
        yield f"{field}: {_EXTRA}"


def thread_without_beta(facts: Facts) -> Iterator[str]:
    """Threads are a beta; what a request without it is told is not recorded."""
    if facts.body.get("thread") is not None and "message-threads-" not in facts.betas:
        yield "thread: requires the `message-threads-2026-08-12` value in the `anthropic-beta` header"


def tag_unknown(facts: Facts) -> Iterator[str]:
    """A block or tool of a type that does not exist."""
    for path, block in facts.blocks:
        kind = str(block.get("type"))
        known = kind in FIELDS and BETA_TAGS.get(kind, "") in facts.betas
        if not known and kind not in facts.served.fields:
            yield f"{path}: {_TAG.format(kind, EXPECTED_BLOCK_TAGS)}"
    for index, tool in enumerate(facts.body.get("tools") or []):
        kind = str(tool.get("type") or "custom")
        if not (kind in EXPECTED_TOOL_TAGS or "toolset" in kind or _DATED_TOOL.fullmatch(kind)):
            yield f"tools.{index}: {_TAG.format(kind, EXPECTED_TOOL_TAGS)}"


def input_not_object(facts: Facts) -> Iterator[str]:
    """A call that goes back has an object as its input."""
    for path, block in facts.blocks:
        kind = block.get("type")
        if kind in CALLS and not isinstance(block.get("input", {}), dict):
            yield f"{path}.{kind}.input: Input should be a valid dictionary"
