"""Rules about what a request asks the model to be: how it thinks, how long it may write, how it chooses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...wire.models import EFFORTS, THINKING_TYPES, canonical_name
from ..facts import Facts

LEAST_BUDGET = 1024
"""Tokens of thinking that make sense."""

_LONG_OUTPUT = re.compile(r"output-\d+k-")
_EXTRA = "Extra inputs are not permitted"
_USE_ADAPTIVE = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
_OFF = {
    "never": f'"thinking.type.disabled" is not supported for this model. {_USE_ADAPTIVE}',
    "by_default": '"thinking.type.disabled" is not supported for this model. Thinking defaults to adaptive '
    'mode when not specified; use "thinking.type.enabled" with "budget_tokens" for extended thinking.',
    "between_tools": 'To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead '
    'of {"type": "disabled"}. The model does not think before responding. The short updates it writes '
    "between tool calls come back as thinking blocks.",
}


def thinking_type(facts: Facts) -> str:
    """`thinking.type`; empty where it is not set."""
    return str(facts.field("thinking").get("type", ""))


def thinking_unsupported(facts: Facts) -> Iterator[str]:
    """Each model has its own ways to think."""
    kind = thinking_type(facts)
    traits = facts.traits
    if not kind or kind in traits.thinking_types:
        return
    if kind == "enabled" and traits.thinking:
        yield f'"thinking.type.enabled" is not supported for this model. {_USE_ADAPTIVE}'
    elif kind == "adaptive":
        yield "adaptive thinking is not supported on this model"
    elif kind == "disabled":
        yield _OFF[traits.thinking_off]


def thinking_type_doubtful(facts: Facts) -> Iterator[str]:
    """A way to think that the model is not known to have, told in words not recorded."""
    kind = thinking_type(facts)
    if kind and (kind not in THINKING_TYPES or kind not in facts.traits.thinking_types):
        yield f"thinking.type: {kind!r} is not known to be supported on this model"


def budget_too_small(facts: Facts) -> Iterator[str]:
    """Some thinking is too little to be any."""
    budget = _budget(facts)
    if budget is not None and budget < LEAST_BUDGET:
        yield f"thinking.enabled.budget_tokens: Input should be greater than or equal to {LEAST_BUDGET}"


def budget_too_large(facts: Facts) -> Iterator[str]:
    """What is thought is written as well. With interleaved thinking a budget is for a whole turn."""
    budget, longest = _budget(facts), facts.body.get("max_tokens")
    interleaved = "interleaved-thinking" in facts.betas
    if budget is not None and isinstance(longest, int) and budget >= longest and not interleaved:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."


def _budget(facts: Facts) -> int | None:
    if thinking_type(facts) != "enabled":
        return None
    budget = facts.field("thinking").get("budget_tokens")
    return budget if isinstance(budget, int) and not isinstance(budget, bool) else None


def budget_missing(facts: Facts) -> Iterator[str]:
    """Manual thinking has a budget."""
    if thinking_type(facts) == "enabled" and "budget_tokens" not in facts.field("thinking"):
        yield "thinking.enabled.budget_tokens: Field required"


def binding_unknown(facts: Facts) -> Iterator[str]:
    """How thinking is bound can be said with the beta alone, and only where there is thinking."""
    kind = thinking_type(facts)
    if "block_binding" in facts.field("thinking") and (
        kind in ("disabled", "between_tools") or "thinking-binding-controls" not in facts.betas
    ):
        yield f"thinking.{kind}.block_binding: {_EXTRA}"


def _forced(facts: Facts) -> bool:
    return facts.field("tool_choice").get("type") in ("any", "tool")


def thinking_with_forced_call(facts: Facts) -> Iterator[str]:
    """A forced call leaves no room for manual thinking."""
    if _forced(facts) and thinking_type(facts) == "enabled":
        yield "Thinking may not be enabled when tool_choice forces tool use."


def forced_call_unsupported(facts: Facts) -> Iterator[str]:
    """Models that always think cannot be forced."""
    if _forced(facts) and not facts.traits.forced_tools:
        yield 'tool_choice: type "tool" and "any" are not supported for this model.'


def effort_unsupported(facts: Facts) -> Iterator[str]:
    """Not every model knows every level, and older ones know none."""
    effort, levels = facts.field("output_config").get("effort"), facts.traits.efforts
    if effort is None or effort in levels:
        return
    if not levels:
        yield "This model does not support the effort parameter."
    elif effort in EFFORTS:
        supported = ", ".join(sorted(levels))
        yield f"This model does not support effort level '{effort}'. Supported levels: {supported}."


def effort_without_thinking(facts: Facts) -> Iterator[str]:
    """The highest levels need thinking on the newest models; the words are not recorded."""
    effort = facts.field("output_config").get("effort")
    if thinking_type(facts) in ("disabled", "between_tools") and effort in ("xhigh", "max"):
        yield f"output_config.effort: {effort!r} needs thinking"


def max_tokens_above_cap(facts: Facts) -> Iterator[str]:
    """A model writes only so much."""
    longest, cap = facts.body.get("max_tokens"), facts.traits.max_tokens
    # Betas lengthen the replies of some models; by how much of which is not told here.
    if isinstance(longest, int) and longest > cap and not _LONG_OUTPUT.search(facts.betas):
        yield (
            f"max_tokens: {longest} > {cap}, which is the maximum allowed number of output tokens for "
            f"{canonical_name(facts.model)}"
        )


def max_tokens_of_nothing(facts: Facts) -> Iterator[str]:
    """A warm-up asks for nothing, so it goes with nothing that shapes a reply."""
    shaped = (
        facts.request.wants_stream
        or thinking_type(facts) == "enabled"
        or facts.field("output_config").get("format") is not None
        or _forced(facts)
    )
    if facts.body.get("max_tokens") == 0 and not isinstance(facts.body["max_tokens"], bool) and shaped:
        yield "max_tokens: 0 cannot be combined with a streamed or shaped reply"


def sampling_refused(facts: Facts) -> Iterator[str]:
    """Newer models choose their words themselves, whatever the version."""
    if facts.traits.sampling or facts.is_current:
        return
    for name, harmless in (("temperature", _is_one), ("top_p", _is_nearly_one), ("top_k", _is_unset)):
        if not harmless(facts.body.get(name)):
            yield f"`{name}` is deprecated for this model."


def _is_unset(value: Any) -> bool:
    return value is None


def _is_one(value: Any) -> bool:
    return value is None or value == 1


def _is_nearly_one(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and value >= 0.99)
