"""What the real API rejects, in the order in which it looks: a table of rules.

`row` numbers what is known to be rejected, so that it can be talked about; None for what comes from the
protocol itself. `ground` says how it is known: *recorded* in a real exchange, *documented*, or *quoted* by
several people as the API's answer. A rule without a ground is thought to exist, but nothing shows what it
says: it is noted and rejects nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from . import rules_conversation as conversation
from . import rules_request as request
from . import rules_schema as schema
from . import rules_text as text
from .answer import Failure
from .facts import Facts


class Rule(msgspec.Struct, frozen=True):
    """One thing the API rejects. `check` yields the text of each breach."""

    name: str
    row: int | None
    check: Callable[[Facts], Iterator[str]]
    status: int = 400
    ground: Literal["recorded", "documented", "quoted", ""] = "quoted"
    fatal: bool = False
    """The request cannot be answered at all, however lenient the scenario is."""


class Finding(msgspec.Struct, frozen=True):
    """A rule that a request breaks."""

    rule: str
    message: str
    failure: Failure
    verified: bool
    fatal: bool


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
    Rule("tag_unknown", 7, schema.tag_unknown, ground="recorded"),
    Rule("input_not_object", 20, schema.input_not_object),
    Rule("model_unknown", 8, request.model_unknown, status=404, fatal=True, ground="recorded"),
)
AFTER_THE_THREAD: tuple[Rule, ...] = (
    Rule("thread_repeats_setup", 57, request.thread_repeats_setup, ground=""),
    Rule("no_messages", 9, conversation.no_messages),
    Rule("role_unknown", None, conversation.role_unknown),
    Rule("first_not_user", 10, conversation.first_not_user),
    Rule("system_role_unsupported", 11, conversation.system_role_unsupported),
    Rule("system_misplaced", 12, conversation.system_misplaced, ground="documented"),
    Rule("system_before_user", 12, conversation.system_before_user, ground=""),
    Rule("system_not_text", 13, conversation.system_not_text),
    Rule("call_in_user_message", 19, conversation.call_in_user_message),
    Rule("call_id_twice", 18, conversation.call_id_twice),
    Rule("call_without_result", 14, conversation.call_without_result, ground="recorded"),
    Rule("result_without_call", 15, conversation.result_without_call, ground="recorded"),
    Rule("result_twice", 17, conversation.result_twice),
    Rule("text_empty", 28, text.text_empty),
    Rule("text_blank", 29, text.text_blank),
    Rule("text_blank_beside_others", 29, text.text_blank_beside_others, ground=""),
    Rule("content_empty", 30, text.content_empty),
    Rule("prefill_ends_in_space", 31, text.prefill_ends_in_space),
    Rule("prefill_unsupported", 32, text.prefill_unsupported, ground="documented"),
    Rule("document_in_assistant_message", None, text.document_in_assistant_message, ground=""),
    Rule("citations_in_user_message", None, text.citations_in_user_message, ground=""),
)
RULES: tuple[Rule, ...] = (*BEFORE_THE_THREAD, *AFTER_THE_THREAD)


def examine(facts: Facts) -> Iterator[Finding]:
    """The rules that a request breaks, the first one the API would name first. One breach a rule."""
    for finding in _broken(BEFORE_THE_THREAD, facts):
        yield finding
        if finding.fatal:
            return
    if facts.failure is not None:
        name = facts.failure.rule
        yield Finding(name, facts.failure.message or "", facts.failure, verified=True, fatal=True)
        return
    yield from _broken(AFTER_THE_THREAD, facts)


def _broken(rules: tuple[Rule, ...], facts: Facts) -> Iterator[Finding]:
    for rule in rules:
        message = next(rule.check(facts), None)
        if message is not None:
            failure = Failure(status=rule.status, message=message, rule=rule.name)
            yield Finding(rule.name, message, failure, verified=bool(rule.ground), fatal=rule.fatal)
