"""Rules about who speaks when, and about calls and their results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...wire.blocks import CLIENT_CALL, CLIENT_RESULT, is_server_result
from ..facts import Facts, Placed, Run, Said

ROLES = frozenset({"user", "assistant", "system"})


def no_messages(facts: Facts) -> Iterator[str]:
    """Something has to be said."""
    asks = facts.request.endpoint in ("messages", "count_tokens")
    # Only a thread that waits for its server is continued without a word, and that is looked at elsewhere.
    if asks and not facts.conversation.messages:
        yield "messages: at least one message is required"


def role_unknown(facts: Facts) -> Iterator[str]:
    """There are two roles, and on newer models a third."""
    for said in facts.said:
        if said.role not in ROLES:
            yield f'messages: Unexpected role "{said.role}". Allowed roles are "user" or "assistant".'


def first_not_user(facts: Facts) -> Iterator[str]:
    """The user begins."""
    if facts.start == 0 and facts.said and facts.said[0].role == "assistant":
        yield 'messages: first message must use the "user" role'


def system_role_unsupported(facts: Facts) -> Iterator[str]:
    """Older models know the system prompt alone."""
    if not facts.traits.system_messages and any(said.role == "system" for said in facts.said):
        yield (
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
            'not "system" as an input message role.'
        )


def system_misplaced(facts: Facts) -> Iterator[str]:
    """A system message follows the user, or an assistant message that ends in a server tool's result."""
    before: Said | None = None
    for said in facts.said:
        if said.role != "system":
            before = said
        elif not said.blocks and said.message.get("output_config") is not None:
            continue  # it says nothing, and only turns the effort up or down
        elif before is None or not _may_precede_system(before):
            yield (
                f"messages.{said.index}: role 'system' must follow a 'user' message or an 'assistant' "
                "message ending in a server tool result"
            )


def _may_precede_system(said: Said) -> bool:
    return said.role == "user" or bool(said.blocks and is_server_result(said.blocks[-1]))


def system_before_user(facts: Facts) -> Iterator[str]:
    """After a system message the assistant speaks, or nobody."""
    for said, following in zip(facts.said, facts.said[1:], strict=False):
        if said.role == "system" and said.blocks and following.role == "user":
            yield f"messages.{said.index}: role 'system' must be last or precede an 'assistant' message"


def system_not_text(facts: Facts) -> Iterator[str]:
    """A system message for one user turn is text."""
    for said in facts.said:
        if said.message.get("clear_at") == "next_user_message" and any(
            b.get("type") != "text" for b in said.blocks
        ):
            yield (
                f"messages.{said.index}: a turn-scoped system message supports text blocks only "
                "(clear_at: 'next_user_message')"
            )


def call_in_user_message(facts: Facts) -> Iterator[str]:
    """The model calls, nobody else."""
    for said in facts.said:
        if said.role == "user" and any(block.get("type") == CLIENT_CALL for block in said.blocks):
            yield f"messages.{said.index}: `tool_use` blocks can only be in `assistant` messages"


def call_id_twice(facts: Facts) -> Iterator[str]:
    """An id names one call."""
    seen: set[Any] = set()
    before = facts.accepted.calls
    for run in facts.runs:
        for placed in run.of_type(CLIENT_CALL):
            id_ = placed.value.get("id")
            if id_ in seen or before.get(str(id_), facts.start) < facts.start:
                yield f"{placed.path}: `tool_use` ids must be unique"
            seen.add(placed.value.get("id"))


def call_without_result(facts: Facts) -> Iterator[str]:
    """Every call is answered in the next message, before anything else is said there."""
    merged = facts.runs
    for run, following in zip(merged, [*merged[1:], Run("", [])], strict=False):
        calls = run.of_type(CLIENT_CALL) if run.role == "assistant" else []
        if not calls:
            continue
        answered = _leading_results(following)
        open_calls = [placed for placed in calls if placed.value.get("id") not in answered]
        if open_calls:
            ids = ", ".join(str(placed.value.get("id")) for placed in open_calls)
            yield (
                f"messages.{open_calls[0].message}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {ids}. Each `tool_use` block must have a corresponding `tool_result` "
                "block in the next message."
            )


def _leading_results(run: Run) -> set[Any]:
    """Ids answered at the very beginning of a user's message."""
    answered: set[Any] = set()
    for placed in run.blocks if run.role == "user" else []:
        if placed.value.get("type") != CLIENT_RESULT:
            break
        answered.add(placed.value.get("tool_use_id"))
    return answered


def _results(facts: Facts) -> Iterator[tuple[Run | None, Placed]]:
    """Each result with the run before its own."""
    before: Run | None = None
    for run in facts.runs:
        for placed in run.of_type(CLIENT_RESULT):
            yield before, placed
        before = run


def result_without_call(facts: Facts) -> Iterator[str]:
    """Every result answers a call of the message before it."""
    for before, placed in _results(facts):
        wanted = placed.value.get("tool_use_id")
        calls = before.of_type(CLIENT_CALL) if before else []
        if not any(call.value.get("id") == wanted for call in calls):
            yield (
                f"{placed.path}: unexpected `tool_use_id` found in "
                f"`tool_result` blocks: {wanted}. Each `tool_result` block must have a corresponding "
                "`tool_use` block in the previous message."
            )


def result_twice(facts: Facts) -> Iterator[str]:
    """A call has one result. One that comes later still answers no call of the message before it."""
    for run in facts.runs:
        seen: set[Any] = set()
        for placed in run.of_type(CLIENT_RESULT):
            wanted = placed.value.get("tool_use_id")
            if wanted in seen:
                yield (
                    f"{placed.path}: each tool_use must have a single result. "
                    f"Found multiple `tool_result` blocks with id: {wanted}"
                )
            seen.add(wanted)
