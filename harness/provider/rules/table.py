"""What the real API rejects, in the order in which it looks: a table of rules.

`row` numbers what is known to be rejected, so that it can be talked about; None for what comes from the
protocol itself. `ground` says how it is known: *recorded* in a real exchange, *documented*, or *quoted* by
several people as the API's answer. A rule without a ground is thought to exist, but nothing shows what it
says: it is noted and rejects nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from ..facts import Facts
from . import (
    binding,
    compaction,
    config,
    conversation,
    images,
    request,
    schema,
    server,
    text,
    thinking,
    tools,
    window,
)
from .types import Breach, Finding, Rule, finding

__all__ = ["RULES", "Breach", "Finding", "Rule", "examine"]

BEFORE_THE_THREAD: tuple[Rule, ...] = (
    Rule("credentials_missing", 1, request.credentials_missing, status=401, fatal=True),
    Rule("endpoint_unknown", None, request.endpoint_unknown, status=404, fatal=True, ground="documented"),
    Rule("method_unknown", None, request.method_unknown, status=405, fatal=True, ground="documented"),
    Rule("version_missing", 3, request.version_missing, fatal=True),
    Rule("version_unknown", None, request.version_unknown, ground=""),
    Rule("body_not_json", 4, request.body_not_json, fatal=True),
    Rule("field_missing", 5, schema.field_missing, fatal=True),
    Rule("field_mistyped", 5, schema.field_mistyped, fatal=True),
    Rule("block_field_missing", 5, schema.block_field_missing),
    Rule("block_field_mistyped", 5, schema.block_field_mistyped, fatal=True),
    Rule("field_unknown", 6, schema.field_unknown, ground="documented"),
    Rule("binding_unknown", 6, config.binding_unknown, ground="documented"),
    Rule("beta_unnamed", 6, schema.beta_unnamed, ground=""),
    Rule("tag_unknown", 7, schema.tag_unknown, ground="recorded"),
    Rule("input_not_object", 20, schema.input_not_object, about=("tool_use",)),
    Rule("tool_name_malformed", 45, tools.tool_name_malformed),
    Rule("budget_missing", 5, config.budget_missing, about=("thinking",)),
    Rule("budget_too_small", 38, config.budget_too_small, about=("budget_tokens",)),
    Rule("model_unknown", 8, request.model_unknown, status=404, fatal=True, ground="recorded"),
)
AFTER_THE_THREAD: tuple[Rule, ...] = (
    Rule("thread_without_beta", 57, schema.thread_without_beta, ground=""),
    Rule("nothing_to_summarize", 56, compaction.nothing_to_summarize, ground="documented"),
    Rule("no_messages", 9, conversation.no_messages),
    Rule("max_tokens_above_cap", 41, config.max_tokens_above_cap),
    Rule("max_tokens_of_nothing", None, config.max_tokens_of_nothing, ground=""),
    Rule("sampling_refused", None, config.sampling_refused, about=("temperature", "top_p", "top_k")),
    Rule("thinking_unsupported", 37, config.thinking_unsupported, ground="documented", about=("thinking",)),
    Rule("thinking_type_doubtful", 37, config.thinking_type_doubtful, ground="", about=("thinking",)),
    Rule("budget_too_large", 38, config.budget_too_large, about=("budget_tokens",)),
    Rule("thinking_with_forced_call", 39, config.thinking_with_forced_call, about=("tool_choice",)),
    Rule(
        "forced_call_unsupported",
        39,
        config.forced_call_unsupported,
        ground="documented",
        about=("tool_choice",),
    ),
    Rule("effort_unsupported", 40, config.effort_unsupported, ground="recorded", about=("effort",)),
    Rule("effort_without_thinking", 40, config.effort_without_thinking, ground="", about=("effort",)),
    Rule("tool_names_repeated", 46, tools.tool_names_repeated, about=("tools",)),
    Rule("every_tool_deferred", 27, tools.every_tool_deferred, ground="documented", about=("defer_loading",)),
    Rule("deferred_tool_cached", 49, tools.deferred_tool_cached, ground="", about=("defer_loading",)),
    Rule("domains_both_ways", 51, tools.domains_both_ways, ground="", about=("_domains",)),
    Rule("schema_circular", 53, tools.schema_circular, ground="documented", about=("$ref",)),
    Rule("too_many_marks", 47, tools.too_many_marks, about=("cache_control",)),
    Rule("role_unknown", None, conversation.role_unknown),
    Rule("first_not_user", 10, conversation.first_not_user),
    Rule("system_role_unsupported", 11, conversation.system_role_unsupported, about=("system",)),
    Rule("system_misplaced", 12, conversation.system_misplaced, ground="documented", about=("system",)),
    Rule("system_before_user", 12, conversation.system_before_user, ground="", about=("system",)),
    Rule("system_not_text", 13, conversation.system_not_text, about=("system",)),
    Rule("changed_tool_unresolved", 58, tools.changed_tool_unresolved, ground="documented"),
    Rule("changed_tool_conflicts", 58, tools.changed_tool_conflicts, ground="documented"),
    Rule("summary_twice", 56, compaction.summary_twice, ground="documented", about=("compaction",)),
    Rule("summary_misplaced", 56, compaction.summary_misplaced, ground="documented", about=("compaction",)),
    Rule("summary_forged", 56, compaction.summary_forged, ground="documented", about=("compaction",)),
    Rule("summary_edited", 56, compaction.summary_edited, ground="documented", about=("compaction",)),
    Rule(
        "tool_changes_edited", 56, compaction.tool_changes_edited, ground="documented", about=("compaction",)
    ),
    Rule("turn_unfinished", 56, compaction.turn_unfinished, ground="documented"),
    Rule(
        "summary_with_context_management",
        56,
        compaction.summary_with_context_management,
        ground="",
        about=("compaction",),
    ),
    Rule("call_in_user_message", 19, conversation.call_in_user_message, about=("tool_use",)),
    Rule("call_id_twice", 18, conversation.call_id_twice, about=("tool_use",)),
    Rule("call_without_result", 14, conversation.call_without_result, ground="recorded", about=("tool_use",)),
    Rule(
        "result_without_call", 15, conversation.result_without_call, ground="recorded", about=("tool_result",)
    ),
    Rule("result_twice", 17, conversation.result_twice, about=("tool_result",)),
    Rule(
        "server_call_without_result",
        21,
        server.server_call_without_result,
        ground="documented",
        about=("tool_use",),
    ),
    Rule("remote_call_without_result", 21, server.remote_call_without_result, ground="", about=("tool_use",)),
    Rule("source_missing", 23, server.source_missing, ground="recorded", about=("caller",)),
    Rule("container_missing", 24, server.container_missing, about=("caller",)),
    Rule(
        "text_beside_results_for_code", 25, server.text_beside_results_for_code, ground="", about=("caller",)
    ),
    Rule("reference_unresolved", 26, tools.reference_unresolved, ground="recorded"),
    Rule("search_results_mixed", 50, server.search_results_mixed, ground="", about=("search_result",)),
    Rule("encrypted_content_missing", 52, server.encrypted_content_missing, ground=""),
    Rule("empty_text_marked", 48, tools.empty_text_marked, about=("cache_control",)),
    Rule("text_empty", 28, text.text_empty),
    Rule("text_blank", 29, text.text_blank),
    Rule("text_blank_beside_others", 29, text.text_blank_beside_others, ground=""),
    Rule("content_empty", 30, text.content_empty),
    Rule("prefill_ends_in_space", 31, text.prefill_ends_in_space, about=("assistant",)),
    Rule("prefill_unsupported", 32, text.prefill_unsupported, ground="documented", about=("assistant",)),
    Rule(
        "document_in_assistant_message",
        None,
        text.document_in_assistant_message,
        ground="",
        about=("document",),
    ),
    Rule("citations_in_user_message", None, text.citations_in_user_message, ground="", about=("citations",)),
    Rule("thinking_missing", 36, thinking.thinking_missing, about=("thinking",)),
    Rule("signature_forged", 34, thinking.signature_forged, about=("thinking",)),
    Rule("thinking_modified", 33, thinking.thinking_modified, ground="documented", about=("thinking",)),
    Rule(
        "thinking_bound_elsewhere",
        35,
        binding.thinking_bound_elsewhere,
        ground="documented",
        about=("thinking",),
    ),
    Rule("image_too_large", 59, images.image_too_large, about=("image",)),
    Rule("prompt_too_long", 42, window.prompt_too_long),
    Rule("reply_does_not_fit", 43, window.reply_does_not_fit),
)
RULES: tuple[Rule, ...] = (*BEFORE_THE_THREAD, *AFTER_THE_THREAD)


_WORDS = frozenset(word for rule in RULES for word in rule.about)
_SPELLED = {word: word.encode() for word in _WORDS}


def examine(facts: Facts) -> Iterator[Finding]:
    """The rules that a request breaks, the first one the API would name first. One breach a rule.

    Who reads on to the end without meeting one that is verified has a request that is accepted.
    """
    clean = True
    before, after = _that_apply(_words(facts))
    for rule in before:
        if found := finding(rule, facts):
            yield found
            clean = clean and not found.verified
            if found.fatal:
                return
    if facts.failure is not None:
        name = facts.failure.rule
        yield Finding(name, facts.failure.message or "", facts.failure, verified=True, fatal=True)
        return
    for rule in after:
        if found := finding(rule, facts):
            yield found
            clean = clean and not found.verified
    if clean and binding.behaviour(facts) != "drop_block":  # what is dropped is told each time
        facts.keep()


def _words(facts: Facts) -> frozenset[str]:
    """The words rules are about that the request holds: all where its body alone does not tell."""
    raw = facts.request.raw
    if not raw or facts.threaded or b"\\u" in raw:
        return _WORDS
    return frozenset(word for word, spelled in _SPELLED.items() if spelled in raw)


@functools.lru_cache(maxsize=256)
def _that_apply(words: frozenset[str]) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules, before and after the thread, that a request which holds these words can break."""

    def chosen(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(rule for rule in rules if not rule.about or not words.isdisjoint(rule.about))

    return chosen(BEFORE_THE_THREAD), chosen(AFTER_THE_THREAD)
