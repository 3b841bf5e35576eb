"""Token counts that are plausible for what was really sent: about four characters each, no tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .blocks import THINKING
from .codec import dumps

_COUNTED_FIELDS = ("system", "tools", "messages")


def tokens(value: Any) -> int:
    """About how many tokens `value` is, as JSON."""
    return max(1, len(dumps(value)) // 4)


def input_tokens(body: Mapping[str, Any]) -> int:
    """About how many tokens the model reads for `body`."""
    return 3 + sum(tokens(body[field]) for field in _COUNTED_FIELDS if body.get(field))


def output_tokens(content: Iterable[Mapping[str, Any]]) -> int:
    """About how many tokens the model wrote for `content`; an empty reply costs a few too."""
    return 2 + sum(tokens(_written(block)) for block in content)


def _written(block: Mapping[str, Any]) -> Any:
    """The part of a block that the model wrote itself."""
    for field in ("text", "thinking", "input"):
        if field in block:
            return block[field]
    return ""


def thinking_tokens(content: Iterable[Mapping[str, Any]]) -> int:
    """About how many of the output tokens were thinking."""
    return sum(tokens(_written(block)) for block in content if block.get("type") in THINKING)


def server_tool_use(content: Iterable[Mapping[str, Any]]) -> dict[str, int] | None:
    """How often each billed server tool ran; None where none was used."""
    names = [b.get("name") for b in content if b.get("type") in ("server_tool_use", "mcp_tool_use")]
    if not names:
        return None
    return {
        "web_search_requests": names.count("web_search"),
        "web_fetch_requests": names.count("web_fetch"),
    }


def usage_of(
    body: Mapping[str, Any],
    content: list[dict[str, Any]],
    *,
    thinking: bool = True,
    override: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The `usage` of a reply with `content` to the request `body`, in the order of the wire.

    `override` is merged over the counted values.
    """
    usage: dict[str, Any] = {
        "input_tokens": input_tokens(body),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output_tokens(content),
    }
    if thinking:
        usage["output_tokens_details"] = {"thinking_tokens": thinking_tokens(content)}
    if (used := server_tool_use(content)) is not None:
        usage["server_tool_use"] = used
    usage |= {"service_tier": "standard", "inference_geo": "not_available"}
    return usage | dict(override or {})
