# ruff: noqa: E501 - a row is a line
"""What the API rejects, one line a case: a request in, status, type, text and details out.

The numbers are those of the table in `harness/provider/rules/table.py`.
"""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from harness.provider.facts import Served
from harness.provider.rules import RULES
from harness.wire.errors import error_type
from tests.provider.asking import (
    HI,
    NEW,
    Talk,
    findings,
    found,
    model,
    result,
    search,
    system,
    t,
    tool,
    use,
    user,
)
from tests.provider.serve import body

ORPHAN = "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
UNEXPECTED = "unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
TAGS = "'bash_code_execution_tool_result', 'code_execution_tool_result', 'connector_text', 'container_upload', 'document', 'image', 'mid_conv_system', 'redacted_thinking', 'search_result', 'server_tool_use', 'text', 'text_editor_code_execution_tool_result', 'thinking', 'tool_result', 'tool_search_tool_result', 'tool_use', 'web_fetch_tool_result', 'web_search_tool_result'"
NO_TAG = "Input tag '{}' found using 'type' does not match any of the expected tags: "
EXTRA = "Extra inputs are not permitted"
NO_ROLE = 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
MISPLACED = (
    "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result"
)
EMPTY = "all messages must have non-empty content except for the optional final assistant message"
BLANK = "text content blocks must contain non-whitespace text"
NO_PREFILL = (
    "This model does not support assistant message prefill. The conversation must end with a user message."
)
ADAPT = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
EXPECTED = "Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`."
NAME = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"

MANUAL = {"type": "enabled", "budget_tokens": 1024}
CODE = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
WEB = {"type": "web_search_20250305", "name": "web_search"}
CACHE = {"cache_control": {"type": "ephemeral"}}
SIGNED = {"type": "compaction", "content": "So far", "signature": "s"}
OLD, OPUS, BOUND = "claude-sonnet-4-5", "claude-opus-5", "claude-opus-5-5"


def png(width: int, height: int) -> dict[str, Any]:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)
    data = base64.b64encode(head).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


Case = tuple[int, Any, str]
ROWS: list[Case] = [
    (5, {"model": OPUS, "messages": [HI]}, "max_tokens: Field required"),
    (5, {"model": OPUS, "max_tokens": 1}, "messages: Field required"),
    (5, {"max_tokens": 1, "messages": [HI]}, "model: Field required"),
    (5, body(tools=[{"name": "x"}]), "tools.0.custom.input_schema: Field required"),
    (5, body(HI, model({"type": "thinking", "thinking": "x"})), "messages.1.content.0.thinking.signature: Field required"),
    (5, body(max_tokens="1"), "max_tokens: Input should be a valid integer"),
    (5, body({"role": "user", "content": 3}), "messages.0.content: Input should be a valid list"),
    (5, body(user([t(5)])), "messages.0.content.0.text.text: Input should be a valid string"),  # type: ignore[arg-type]
    (5, body(model=OLD, thinking={"type": "enabled"}), "thinking.enabled.budget_tokens: Field required"),
    (6, body(HI | {"clear_at": "never"}), f"messages.0.clear_at: {EXTRA}"),
    (6, body(frequency_penalty=1), f"frequency_penalty: {EXTRA}"),
    (6, body(context_management={"edits": []}), f"context_management: {EXTRA}"),
    (6, body(mcp_servers=[]), f"mcp_servers: {EXTRA}"),
    (6, body(user([t("a") | {"id": "x"}])), f"messages.0.content.0.text.id: {EXTRA}"),
    (6, body(HI, model("a") | {"id": "msg_1"}, HI), f"messages.1.id: {EXTRA}"),
    (6, body(tools=[tool("x", parameters={})]), f"tools.0.custom.parameters: {EXTRA}"),
    (6, body(model=BOUND, thinking={"type": "adaptive", "block_binding": {}}), f"thinking.adaptive.block_binding: {EXTRA}"),
    (7, body(user([{"type": "input_text", "text": "a"}])), f"messages.0.content.0: {NO_TAG.format('input_text')}{TAGS}"),
    (7, body(HI, model({"type": "fallback", "from": {}, "to": {}}), HI), f"messages.1.content.0: {NO_TAG.format('fallback')}{TAGS}"),
    (8, body(model="there-is-no-such-model"), "model: there-is-no-such-model"),
    (9, body(messages=[]), "messages: at least one message is required"),
    (10, body(model("Hello"), HI), 'messages: first message must use the "user" role'),
    (11, body(HI, system("x")), NO_ROLE),
    (11, body(HI, system("x"), model=OLD), NO_ROLE),
    (12, body(HI, model("a"), system("x"), HI, model="claude-opus-4-8"), f"messages.2: {MISPLACED}"),
    (12, body(system("x"), HI, model=OPUS), f"messages.0: {MISPLACED}"),
    (12, body(HI, model(use("a")), system("x"), user([result("a")]), model=OPUS), f"messages.2: {MISPLACED}"),
    (13, body(HI, system([png(1, 1)], clear_at="next_user_message"), model=OPUS), "messages.1: a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')"),
    (14, body(HI, model(use("toolu_X")), user("Never mind")), f"messages.1: {ORPHAN.format('toolu_X')}"),
    (14, body(HI, model(use("a"), use("b")), user([result("a")])), f"messages.1: {ORPHAN.format('b')}"),
    (14, body(HI, model(use("a")), user([t("Here:"), result("a")])), f"messages.1: {ORPHAN.format('a')}"),
    (14, body(HI, model(use("a"), use("b")), user("wait"), user([result("a"), result("b")])), f"messages.1: {ORPHAN.format('a, b')}"),
    (14, body(HI, model("Let me look.", use("a"))), f"messages.1: {ORPHAN.format('a')}"),
    (14, body(HI, model(search("s"), use("a")), user("Never mind")), f"messages.1: {ORPHAN.format('a')}"),
    (15, body(HI, model("a"), user([result("X")])), f"messages.2.content.0: {UNEXPECTED.format('X')}"),
    (15, body(user([result("X")])), f"messages.0.content.0: {UNEXPECTED.format('X')}"),
    (15, body(HI, model(search("srvtoolu_1")), user([result("srvtoolu_1")])), f"messages.2.content.0: {UNEXPECTED.format('srvtoolu_1')}"),
    (15, body(HI, model(use("a")), user([result("a"), result("toolu_b")])), f"messages.2.content.1: {UNEXPECTED.format('toolu_b')}"),
    (17, body(HI, model(use("a")), user([result("a"), result("a")])), "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a"),
    (18, body(HI, model(use("a")), user([result("a")]), model("again", use("a")), user([result("a")])), "messages.3.content.1: `tool_use` ids must be unique"),
    (19, body(user([use("a")])), "messages.0: `tool_use` blocks can only be in `assistant` messages"),
    (20, body(HI, model(use("a", input=[])), user([result("a")])), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
    (21, body(HI, model(search("srvtoolu_X")), user("Well?"), tools=[WEB]), "`web_search` tool use with id `srvtoolu_X` was found without a corresponding `web_search_tool_result` block"),
    (21, body(HI, model(search("srvtoolu_X"), use("a")), user([result("a"), t("Well?")]), tools=[WEB]), "`web_search` tool use with id `srvtoolu_X` was found without a corresponding `web_search_tool_result` block"),
    (22, body(HI, model(search("srvtoolu_X")), user("Well?")), "`web_search` tool use with id `srvtoolu_X` was found without a corresponding `web_search_tool_result` block, but no `web_search` tool was provided"),
    (23, body(HI, model(use("toolu_Y", caller=CODE | {"tool_id": "srvtoolu_X"})), user([result("toolu_Y")]), container="c"), "source tool `srvtoolu_X` not found for tool use block `toolu_Y`"),
    (24, body(HI, model(search("srvtoolu_1", "code_execution"), use("a", caller=CODE)), user([result("a")])), "container_id is required when there are pending tool uses generated by code execution with tools."),
    (26, body(HI, model(use("a")), user([result("a", content=[{"type": "tool_reference", "tool_name": "lookup_documents"}])])), "Tool reference 'lookup_documents' not found in available tools"),
    (27, body(tools=[tool("x", defer_loading=True)]), "All tools have defer_loading: true. At least one tool must be non-deferred."),
    (28, body(user([t("")])), "messages: text content blocks must be non-empty"),
    (28, body(HI, model("", use("a")), user([result("a")])), "messages: text content blocks must be non-empty"),
    (28, body(system=[t("")]), "system: text content blocks must be non-empty"),
    (29, body(user([t(" \n")])), f"messages: {BLANK}"),
    (29, body(user("  ")), f"messages: {BLANK}"),
    (29, body(HI, model(" "), HI), f"messages: {BLANK}"),
    (29, body(system=[t(" ")]), f"system: {BLANK}"),
    (30, body(HI, model(), HI), f"messages.1: {EMPTY}"),
    (30, body(HI, model("a"), user("")), f"messages.2: {EMPTY}"),
    (31, body(HI, model("The answer is "), model="claude-haiku-4-5"), "messages: final assistant content cannot end with trailing whitespace"),
    (32, body(HI, model("The answer is")), NO_PREFILL),
    (32, body(HI, model()), NO_PREFILL),
    (32, body(HI, model("The"), model=BOUND), NO_PREFILL),
    (36, body(HI, model("a", use("a")), user([result("a")]), model=OLD, thinking=MANUAL, max_tokens=2000), f"messages.1.content.0.type: {EXPECTED.format('text')}"),
    (37, body(model=OPUS, thinking=MANUAL, max_tokens=2000), f'"thinking.type.enabled" is not supported for this model. {ADAPT}'),
    (37, body(model=OLD, thinking={"type": "adaptive"}), "adaptive thinking is not supported on this model"),
    (37, body(model="claude-mythos-preview", thinking={"type": "disabled"}), '"thinking.type.disabled" is not supported for this model. Thinking defaults to adaptive mode when not specified; use "thinking.type.enabled" with "budget_tokens" for extended thinking.'),
    (37, body(model=BOUND, thinking={"type": "disabled"}), f'"thinking.type.disabled" is not supported for this model. {ADAPT}'),
    (37, body(model="claude-sonnet-5-5", thinking={"type": "disabled"}), 'To turn thinking off on this model, send "thinking": {"type": "between_tools"} instead of {"type": "disabled"}. The model does not think before responding. The short updates it writes between tool calls come back as thinking blocks.'),
    (38, body(model=OLD, thinking=MANUAL, max_tokens=1024), "`max_tokens` must be greater than `thinking.budget_tokens`."),
    (38, body(model=OLD, thinking=MANUAL | {"budget_tokens": 1000}, max_tokens=2000), "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
    (39, body(model=OLD, thinking=MANUAL, max_tokens=2000, tool_choice={"type": "any"}), "Thinking may not be enabled when tool_choice forces tool use."),
    (39, body(model=BOUND, tool_choice={"type": "tool", "name": "lookup"}), 'tool_choice: type "tool" and "any" are not supported for this model.'),
    (40, body(output_config={"effort": "xhigh"}), "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium."),
    (40, body(output_config={"effort": "low"}, model=OLD), "This model does not support the effort parameter."),
    (41, body(max_tokens=128001, model=OPUS), "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-5"),
    (41, body(max_tokens=64001, model=OLD), "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929"),
    (45, body(tools=[tool("look up")]), f"tools.0.custom.name: {NAME}"),
    (45, body(HI, model("a", use("a", name="look up")), user([result("a")])), f"messages.1.content.1.tool_use.name: {NAME}"),
    (46, body(tools=[tool("x"), tool("y"), tool("x")]), "tools: Tool names must be unique."),
    (47, body(user([t(str(n)) | CACHE for n in range(3)]), system=[t("S") | CACHE], tools=[tool("x") | CACHE]), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    (48, body(user([t("") | CACHE])), "messages.0.content.0.text: cache_control cannot be set for empty text blocks"),
    (53, body(tools=[tool("x", allowed_callers=["code_execution_20260120"]) | {"input_schema": {"type": "object", "properties": {"a": {"$ref": "#"}}}}]), "tools.0.custom.input_schema: Circular $ref detected"),
]  # fmt: skip


def error(answer: Any) -> tuple[int, str, str]:
    said = answer.body.get("error", {})
    assert answer.body["type"] == "error", answer.body
    assert answer.body["request_id"] == answer.headers["request-id"]
    return answer.status, said["type"], said["message"]


@pytest.mark.parametrize(
    ("row", "asked", "message"), ROWS, ids=[f"{row}-{n}" for n, (row, _, _) in enumerate(ROWS)]
)
def test_a_broken_rule_is_told_in_the_apis_words(row: int, asked: Any, message: str) -> None:
    answer = Talk().ask(asked)
    status = 404 if row == 8 else 400
    assert error(answer) == (status, error_type(status), message)
    assert "details" not in answer.body["error"]
    assert answer.headers["x-should-retry"] == "false"
    assert not [name for name in answer.headers if "ratelimit" in name]


TOOL_IN = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "nope"}}
CODES: list[tuple[int, Any, dict[str, Any]]] = [
    (56, body(user([SIGNED]), user([SIGNED])), {"error_code": "compaction_block_ambiguous"}),
    (56, body(HI, model(SIGNED)), {"error_code": "compaction_block_misplaced"}),
    (56, body(messages=[], compaction={"type": "summarize"}), {"error_code": "compaction_nothing_to_summarize"}),
    (56, body(HI, model(use("a")), compaction={"type": "summarize"}), {"error_code": "compaction_incomplete_turn"}),
    (57, body(thread={"type": "continue", "previous_message_id": "msg_1"}), {"error_code": "thread_not_found"}),
    (57, body(thread={"type": "create"}, context_management={}), {"error_code": "thread_unsupported_request", "unsupported": ["context_management"]}),
    (58, body(HI, system([TOOL_IN]), model=OPUS), {"error_code": "tool_reference_unresolved"}),
    (58, body(HI, system([{"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool("web_search")}}]), model=OPUS, tools=[WEB]), {"error_code": "tool_name_conflict"}),
    (59, body(user([t("a"), png(8001, 9)])), {"error_code": "image_dimensions_too_large", "max_side_length_pixels": 8000, "paths": ["messages.0.content.1"]}),
    (59, body(user([png(9, 2001)] * 21)), {"error_code": "image_dimensions_too_large", "max_side_length_pixels": 2000, "paths": [f"messages.0.content.{n}" for n in range(21)]}),
]  # fmt: skip
BETAS = "compact-2026-09-04,context-management-2025-06-27,message-threads-2026-08-12"


@pytest.mark.parametrize(
    ("row", "asked", "details"), CODES, ids=[f"{row}-{n}" for n, (row, _, _) in enumerate(CODES)]
)
def test_a_broken_rule_is_told_by_its_code(row: int, asked: Any, details: dict[str, Any]) -> None:
    answer = Talk().ask(asked, anthropic_beta=BETAS)
    status = 404 if details["error_code"] == "thread_not_found" else 400
    assert error(answer)[:2] == (status, error_type(status))
    assert answer.body["error"]["details"] == details
    assert answer.body["error"]["message"]


NOTED: list[tuple[int, str, Any]] = [
    (11, "text_blank_beside_others", body(HI, model(" ", use("a")), user([result("a")]))),
    (12, "system_before_user", body(HI, system("x"), HI, model=OPUS)),
    (21, "remote_call_without_result", body(HI, model({"type": "mcp_tool_use", "id": "m", "name": "n", "input": {}, "server_name": "s"}), HI)),
    (37, "thinking_type_doubtful", body(thinking={"type": "between_tools"})),
    (40, "effort_without_thinking", body(model=OPUS, thinking={"type": "disabled"}, output_config={"effort": "max"})),
    (49, "deferred_tool_cached", body(tools=[tool("x"), tool("y", defer_loading=True) | CACHE])),
    (50, "search_results_mixed", body(HI, model(use("a")), user([result("a", content=[t("x"), {"type": "search_result", "source": "u", "title": "t", "content": []}])]))),
    (51, "domains_both_ways", body(tools=[WEB | {"allowed_domains": ["a.org"], "blocked_domains": ["b.org"]}])),
    (52, "encrypted_content_missing", body(HI, model(search("s"), found("s") | {"content": [{"type": "web_search_result", "url": "u", "title": "t"}]}), HI, tools=[WEB])),
    (57, "thread_without_beta", body(thread={"type": "create"})),
    (0, "max_tokens_of_nothing", body(max_tokens=0, stream=True)),
]  # fmt: skip


@pytest.mark.parametrize(("row", "rule", "asked"), NOTED, ids=[rule for _, rule, _ in NOTED])
def test_what_is_not_verified_is_answered_and_noted(row: int, rule: str, asked: Any) -> None:
    talk = Talk()
    answer = talk.ask(asked)
    assert answer.status == 200, answer.body
    assert rule in talk.noted


ELSEWHERE = {
    2: "a wrong key is known to the server alone: test_server.py",
    16: "older words for row 15, no longer given",
    44: "answered in front of the API: test_server.py",
    54: "an account's, not a request's: a scenario's fault",
    55: "an account's, not a request's: a scenario's fault",
}
BELOW = {1, 3, 4, 25, 33, 34, 35, 42, 43, 60}
"""Rows with tests of their own, here and in test_rules_thinking.py."""


def test_each_of_the_sixty_rows_has_a_test() -> None:
    tested = {row for row, *_ in (*ROWS, *CODES, *NOTED)} | BELOW | set(ELSEWHERE)
    assert set(range(1, 61)) <= tested


def test_each_rule_that_rejects_has_a_row_of_the_table() -> None:
    rejecting = {rule.row for rule in RULES if rule.ground and rule.row}
    assert rejecting <= {row for row, *_ in (*ROWS, *CODES)} | BELOW
    assert rejecting | {22, 57} >= {row for row, *_ in (*ROWS, *CODES)}


def test_text_beside_results_for_code_leaves_the_servers_call_open() -> None:
    calls = model(search("srvtoolu_1", "code_execution"), use("a", caller=CODE))
    new = findings(body(HI, calls, user([result("a"), t("x")]), container="c"))
    assert [(finding.rule, finding.verified) for finding in new] == [
        ("server_call_without_result", True),
        ("text_beside_results_for_code", False),
    ]


@pytest.mark.parametrize("told", [True, False])
def test_a_container_is_wanted_back_where_one_was_given(told: bool) -> None:
    served = Served()
    calls = [search("srvtoolu_1", "code_execution"), use("a", caller=CODE)]
    served.sent(calls, "tool_use", has_container=told)
    found_ = [finding.rule for finding in findings(body(HI, model(*calls), user([result("a")])), served)]
    assert found_ == (["container_missing"] if told else [])


def test_tools_of_an_unknown_type_are_told_the_known_ones() -> None:
    message = error(Talk().ask(body(tools=[{"type": "function", "function": {}}])))[2]
    assert message.startswith(f"tools.0: {NO_TAG.format('function')}'bash_20250124', ")
    assert "'custom'" in message


@pytest.mark.parametrize("field", ["temperature", "top_p", "top_k"])
def test_sampling_is_refused_since_the_version_that_dropped_it(field: str) -> None:
    asked = body(**{field: 1})
    assert error(Talk().ask(asked, **NEW)) == (400, "invalid_request_error", f"{field}: {EXTRA}")
    assert not findings(asked)


def test_sampling_is_refused_by_newer_models_in_older_versions() -> None:
    asked = body(model=OPUS, temperature=0.2)
    assert error(Talk().ask(asked))[2] == "`temperature` is deprecated for this model."
    assert error(Talk().ask(asked, **NEW))[2] == f"temperature: {EXTRA}"
    assert not findings(body(model=OPUS, temperature=1.0))


def test_a_document_of_the_assistant_is_a_matter_of_the_version() -> None:
    asked = body(HI, model({"type": "document", "source": {"type": "text", "data": "x"}}), HI)
    new = findings(asked, **NEW)
    assert [(finding.rule, finding.verified) for finding in new] == [("document_in_assistant_message", False)]
    assert not findings(asked)


def test_a_prompt_that_is_too_long_is_told_how_long() -> None:
    long = user("x" * 820_000)
    assert error(Talk().ask(body(long, model=OLD)))[2].startswith("prompt is too long: 20")
    assert error(Talk().ask(body(long, model=OLD)))[2].endswith(" tokens > 200000 maximum")
    assert not findings(body(long, model=OLD), **{"anthropic-beta": "context-1m-2025-08-07"})
    assert not findings(body(long, model=OPUS))


def test_pictures_count_by_the_piece_and_not_by_their_bytes() -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 2_000_000},
    }
    assert not findings(body(user([picture]), model=OLD))


def test_with_older_models_the_reply_has_to_fit_as_well() -> None:
    asked = body(user("x" * 560_000), model="claude-sonnet-4-0", max_tokens=64000)
    message = error(Talk().ask(asked))[2]
    assert message.startswith("input length and `max_tokens` exceed context limit: 140")
    assert message.endswith(" + 64000 > 200000, decrease input length or `max_tokens` and try again")
    assert not findings(asked | {"model": OLD})


def test_an_empty_batch_is_refused_and_so_are_names_that_are_none() -> None:
    talk = Talk()
    answer = talk.ask({"requests": []}, path="/v1/messages/batches")
    text = "requests: List should have at least 1 item after validation, not 0"
    assert error(answer) == (400, "invalid_request_error", text)
    answer = talk.ask({"requests": [{"custom_id": "a b", "params": body()}]}, path="/v1/messages/batches")
    assert error(answer)[2] == "requests.0.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"


def test_lenience_answers_what_can_be_answered_and_notes_it() -> None:
    talk = Talk(rules="lenient")
    assert talk.ask(body(HI, model(), HI)).status == 200
    assert talk.noted == ["content_empty"]
    assert talk.ask(body(model="nope")).status == 404


def test_what_the_provider_gave_out_is_taken_back() -> None:
    served = Served()
    novelty = {"type": "hologram", "rays": 3}
    served.sent([novelty, t("a") | {"tone": "warm"}], "end_turn")
    assert not findings(body(HI, model(novelty, t("b") | {"tone": "cold"}), HI), served)
    assert findings(body(HI, model(novelty | {"extra": 1}), HI), served)[0].rule == "field_unknown"


def test_a_paused_reply_is_resumed_and_a_finished_one_is_not() -> None:
    served = Served()
    served.sent([t("Looking.")], "pause_turn")
    served.sent([t("Done.")], "end_turn")
    assert not findings(body(HI, model("Looking.")), served)
    assert not findings(body(HI, model("Looking."), model("Looking.")), served)
    assert findings(body(HI, model("Done.")), served)[0].rule == "prefill_unsupported"


def test_a_reply_of_the_servers_tools_in_a_foreign_history_is_resumed() -> None:
    assert not findings(body(HI, model("Looking.", search("srvtoolu_1"))))
    assert not findings(body(HI, model(search("srvtoolu_1"), found("srvtoolu_1"))))


def test_an_address_of_the_beta_api_without_its_header_is_let_through_and_noted() -> None:
    asked = body(context_management={"edits": []})
    new = findings(asked, query="beta=true")
    assert [(finding.rule, finding.verified) for finding in new] == [("beta_unnamed", False)]


def test_a_summary_of_ours_is_known_again() -> None:
    served = Served()
    served.sent([SIGNED], "compaction")
    assert not findings(body(user([SIGNED]), HI), served)
    edited = findings(body(user([SIGNED | {"content": "Other"}]), HI), served)
    forged = findings(body(user([SIGNED | {"signature": "f"}]), HI), served)
    changed = findings(body(user([SIGNED | {"tool_changes": [TOOL_IN]}]), HI), served)
    codes = [(new[0].failure.details or {})["error_code"] for new in (edited, forged, changed)]
    assert codes == [
        "compaction_content_mismatch",
        "compaction_signature_invalid",
        "compaction_tool_changes_mismatch",
    ]
