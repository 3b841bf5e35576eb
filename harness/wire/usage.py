"""Token counts that are plausible for what was really sent: about four characters each, no tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .blocks import THINKING, is_server_result, is_server_side
from .cache import Counts, PromptCache, tokens_in
from .codec import dumps
from .eras import USAGE_ORDER, Era, era, in_order
from .iterations import Iteration, iterations_of, told_apart
from .wanted import Wanted

_COUNTED_FIELDS = ("system", "tools", "messages")
_FRAME = 3
"""Tokens of a prompt that nobody wrote."""


def tokens(value: Any) -> int:
    """About how many tokens `value` is, as JSON."""
    return tokens_in(dumps(value))


def input_tokens(body: Mapping[str, Any]) -> int:
    """About how many tokens the model reads for `body`."""
    return _FRAME + sum(tokens(body[field]) for field in _COUNTED_FIELDS if body.get(field))


def thinking_tokens(content: Iterable[Mapping[str, Any]]) -> int:
    """About how many of the output tokens were thinking."""
    return sum(written(block) for block in content if block.get("type") in THINKING)


def written(block: Mapping[str, Any]) -> int:
    """About how many tokens of a block the model wrote itself."""
    if is_server_result(block):
        return 0
    for field in ("text", "thinking", "input", "content"):
        if block.get(field):
            return tokens(block[field])
    # What is not shown was thought all the same, and its signature is as long as it.
    return tokens(block.get("signature") or block.get("data") or "") // 8


def server_tool_use(content: Iterable[Mapping[str, Any]]) -> dict[str, int] | None:
    """How often each billed server tool ran; None where no server tool was at work."""
    used = [block for block in content if is_server_side(block)]
    if not used:
        return None
    names = [block.get("name") for block in used]
    return {
        "web_search_requests": names.count("web_search"),
        "web_fetch_requests": names.count("web_fetch"),
    }


class Usage(NamedTuple):
    """What a reply used: as its message says, and as the start of its stream does."""

    total: dict[str, Any]
    first: dict[str, Any]


def usage_of(
    seen: Mapping[str, Any],
    content: list[dict[str, Any]],
    stop_reason: str | None = "end_turn",
    *,
    wanted: Wanted | None = None,
    cache: PromptCache | None = None,
    of: Era | None = None,
) -> Usage:
    """The `usage` of a reply with `content` to what the model has `seen`, in the order of the wire.

    `cache` is the session's; without one, nothing was ever cached.
    """
    wanted, of = wanted or Wanted(), of or era()
    prompt = (cache or PromptCache()).look(seen, wanted.caching)
    done = iterations_of(prompt._replace(fresh=prompt.fresh + _FRAME), content, written, wanted.advisor)
    counts = _counts([each for each in done if each.billed])
    unbilled = stop_reason == "refusal" and not content
    if unbilled:
        counts["output_tokens"] = 0
    elif stop_reason == "max_tokens" and wanted.max_tokens:
        counts["output_tokens"] = wanted.max_tokens
    counts |= {"service_tier": "standard", "inference_geo": wanted.geo}
    usage = {key: value for key, value in counts.items() if key in of.usage}
    if unbilled:
        # Refused before it began: it was served nowhere.
        usage.pop("service_tier", None)
        if "inference_geo" in usage:
            usage["inference_geo"] = "not_available"
    usage |= _on_demand(content, done, wanted, of, unbilled=unbilled)
    return Usage(in_order(usage, USAGE_ORDER), _counts(done[:1]))


def _on_demand(
    content: list[dict[str, Any]], done: list[Iteration], wanted: Wanted, of: Era, *, unbilled: bool
) -> dict[str, Any]:
    """The parts that are there for some replies only."""
    some: dict[str, Any] = {}
    if wanted.thinking and of.details:
        some["output_tokens_details"] = {"thinking_tokens": thinking_tokens(content)}
    if (used := server_tool_use(content)) is not None and of.since >= "2025-05":
        some["server_tool_use"] = used
    if (wanted.iterations or told_apart(content)) and of.since >= "2026-01":
        some["iterations"] = [
            in_order(
                _counts([each]) | {"type": each.kind} | ({"model": each.model} if each.model else {}),
                ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
            )
            for each in done
        ]
    if wanted.speed and not unbilled:
        some["speed"] = wanted.speed
    return some


def _counts(done: list[Iteration]) -> dict[str, Any]:
    """The sums over some iterations."""
    prompt = [each.prompt for each in done] or [Counts(0)]
    return {
        "input_tokens": sum(each.fresh for each in prompt),
        "cache_creation_input_tokens": sum(each.created for each in prompt),
        "cache_read_input_tokens": sum(each.read for each in prompt),
        "cache_creation": {
            "ephemeral_5m_input_tokens": sum(each.short for each in prompt),
            "ephemeral_1h_input_tokens": sum(each.long for each in prompt),
        },
        "output_tokens": sum(each.output for each in done),
    }
