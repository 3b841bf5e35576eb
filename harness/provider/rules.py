"""What the real API rejects, in the order in which it looks: a table of rules.

`row` numbers what is known to be rejected, so that it can be talked about; None for what comes from the
protocol itself. `ground` says how it is known: *recorded* in a real exchange, *documented*, or *quoted* by
several people as the API's answer. A rule without a ground is thought to exist, but nothing shows what it
says: it is noted and rejects nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import rules_binding as binding
from . import rules_compaction as compaction
from . import rules_config as config
from . import rules_conversation as conversation
from . import rules_images as images
from . import rules_request as request
from . import rules_schema as schema
from . import rules_server as server
from . import rules_text as text
from . import rules_thinking as thinking
from . import rules_tools as tools
from . import rules_window as window
from .facts import Facts
from .rules_types import Breach, Finding, Rule, finding

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
    Rule("input_not_object", 20, schema.input_not_object),
    Rule("tool_name_malformed", 45, tools.tool_name_malformed),
    Rule("budget_missing", 5, config.budget_missing),
    Rule("budget_too_small", 38, config.budget_too_small),
    Rule("model_unknown", 8, request.model_unknown, status=404, fatal=True, ground="recorded"),
)
AFTER_THE_THREAD: tuple[Rule, ...] = (
    Rule("thread_without_beta", 57, schema.thread_without_beta, ground=""),
    Rule("nothing_to_summarize", 56, compaction.nothing_to_summarize, ground="documented"),
    Rule("no_messages", 9, conversation.no_messages),
    Rule("max_tokens_above_cap", 41, config.max_tokens_above_cap),
    Rule("max_tokens_of_nothing", None, config.max_tokens_of_nothing, ground=""),
    Rule("sampling_refused", None, config.sampling_refused),
    Rule("thinking_unsupported", 37, config.thinking_unsupported, ground="documented"),
    Rule("thinking_type_doubtful", 37, config.thinking_type_doubtful, ground=""),
    Rule("budget_too_large", 38, config.budget_too_large),
    Rule("thinking_with_forced_call", 39, config.thinking_with_forced_call),
    Rule("forced_call_unsupported", 39, config.forced_call_unsupported, ground="documented"),
    Rule("effort_unsupported", 40, config.effort_unsupported, ground="recorded"),
    Rule("effort_without_thinking", 40, config.effort_without_thinking, ground=""),
    Rule("tool_names_repeated", 46, tools.tool_names_repeated),
    Rule("every_tool_deferred", 27, tools.every_tool_deferred, ground="documented"),
    Rule("deferred_tool_cached", 49, tools.deferred_tool_cached, ground=""),
    Rule("domains_both_ways", 51, tools.domains_both_ways, ground=""),
    Rule("schema_circular", 53, tools.schema_circular, ground="documented"),
    Rule("too_many_marks", 47, tools.too_many_marks),
    Rule("role_unknown", None, conversation.role_unknown),
    Rule("first_not_user", 10, conversation.first_not_user),
    Rule("system_role_unsupported", 11, conversation.system_role_unsupported),
    Rule("system_misplaced", 12, conversation.system_misplaced, ground="documented"),
    Rule("system_before_user", 12, conversation.system_before_user, ground=""),
    Rule("system_not_text", 13, conversation.system_not_text),
    Rule("changed_tool_unresolved", 58, tools.changed_tool_unresolved, ground="documented"),
    Rule("changed_tool_conflicts", 58, tools.changed_tool_conflicts, ground="documented"),
    Rule("summary_twice", 56, compaction.summary_twice, ground="documented"),
    Rule("summary_misplaced", 56, compaction.summary_misplaced, ground="documented"),
    Rule("summary_forged", 56, compaction.summary_forged, ground="documented"),
    Rule("summary_edited", 56, compaction.summary_edited, ground="documented"),
    Rule("tool_changes_edited", 56, compaction.tool_changes_edited, ground="documented"),
    Rule("turn_unfinished", 56, compaction.turn_unfinished, ground="documented"),
    Rule("summary_with_context_management", 56, compaction.summary_with_context_management, ground=""),
    Rule("call_in_user_message", 19, conversation.call_in_user_message),
    Rule("call_id_twice", 18, conversation.call_id_twice),
    Rule("call_without_result", 14, conversation.call_without_result, ground="recorded"),
    Rule("result_without_call", 15, conversation.result_without_call, ground="recorded"),
    Rule("result_twice", 17, conversation.result_twice),
    Rule("server_call_without_result", 21, server.server_call_without_result, ground="documented"),
    Rule("remote_call_without_result", 21, server.remote_call_without_result, ground=""),
    Rule("source_missing", 23, server.source_missing, ground="recorded"),
    Rule("container_missing", 24, server.container_missing),
    Rule("text_beside_results_for_code", 25, server.text_beside_results_for_code, ground=""),
    Rule("reference_unresolved", 26, tools.reference_unresolved, ground="recorded"),
    Rule("search_results_mixed", 50, server.search_results_mixed, ground=""),
    Rule("encrypted_content_missing", 52, server.encrypted_content_missing, ground=""),
    Rule("empty_text_marked", 48, tools.empty_text_marked),
    Rule("text_empty", 28, text.text_empty),
    Rule("text_blank", 29, text.text_blank),
    Rule("text_blank_beside_others", 29, text.text_blank_beside_others, ground=""),
    Rule("content_empty", 30, text.content_empty),
    Rule("prefill_ends_in_space", 31, text.prefill_ends_in_space),
    Rule("prefill_unsupported", 32, text.prefill_unsupported, ground="documented"),
    Rule("document_in_assistant_message", None, text.document_in_assistant_message, ground=""),
    Rule("citations_in_user_message", None, text.citations_in_user_message, ground=""),
    Rule("thinking_missing", 36, thinking.thinking_missing),
    Rule("signature_forged", 34, thinking.signature_forged),
    Rule("thinking_modified", 33, thinking.thinking_modified, ground="documented"),
    Rule("thinking_bound_elsewhere", 35, binding.thinking_bound_elsewhere, ground="documented"),
    Rule("image_too_large", 59, images.image_too_large),
    Rule("prompt_too_long", 42, window.prompt_too_long),
    Rule("reply_does_not_fit", 43, window.reply_does_not_fit),
)
RULES: tuple[Rule, ...] = (*BEFORE_THE_THREAD, *AFTER_THE_THREAD)


def examine(facts: Facts) -> Iterator[Finding]:
    """The rules that a request breaks, the first one the API would name first. One breach a rule.

    Who reads on to the end without meeting one that is verified has a request that is accepted.
    """
    clean = True
    for rule in BEFORE_THE_THREAD:
        if found := finding(rule, facts):
            yield found
            clean = clean and not found.verified
            if found.fatal:
                return
    if facts.failure is not None:
        name = facts.failure.rule
        yield Finding(name, facts.failure.message or "", facts.failure, verified=True, fatal=True)
        return
    for rule in AFTER_THE_THREAD:
        if found := finding(rule, facts):
            yield found
            clean = clean and not found.verified
    if clean and binding.behaviour(facts) != "drop_block":  # what is dropped is told each time
        facts.keep()
