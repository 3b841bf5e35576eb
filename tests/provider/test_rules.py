# ruff: noqa: E501 - a row is a line
"""What the API rejects, one row a rule: the numbers are those of the table in `harness/provider/rules.py`."""

from __future__ import annotations

from typing import Any

import pytest

from harness.provider.facts import Facts, Served
from harness.provider.request import Request
from harness.provider.rules import RULES, Finding, examine
from harness.transcript import conversation_of
from harness.wire.codec import dumps
from tests.provider.serve import body

HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if len(content) == 1 else list(content)}


def model(*content: dict[str, Any] | str) -> dict[str, Any]:
    return {"role": "assistant", "content": [t(b) if isinstance(b, str) else b for b in content]}


def t(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id_: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "lookup", "input": {}} | fields


def result(id_: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": "42"} | fields


def search(id_: str) -> dict[str, Any]:
    return {"type": "server_tool_use", "id": id_, "name": "web_search", "input": {}}


def found(id_: str) -> dict[str, Any]:
    return {"type": "web_search_tool_result", "tool_use_id": id_, "content": []}


def findings(asked: Any, served: Served | None = None, **headers: str) -> list[Finding]:
    raw = asked if isinstance(asked, bytes) else dumps(asked)
    merged = {name: value for name, value in (HEADERS | headers).items() if value}
    request = Request(method="POST", path="/v1/messages", headers=merged, raw=raw)
    request.decode()
    return list(examine(Facts.of(request, conversation_of(request.body), served or Served())))


def rejected(asked: Any, **headers: str) -> Finding:
    verified = [finding for finding in findings(asked, **headers) if finding.verified]
    assert verified, "nothing was found wrong"
    return verified[0]


HI = user("Hi")
ROWS: list[tuple[int, dict[str, Any], str]] = [
    (5, {"model": "claude-opus-4-6", "messages": [HI]}, "max_tokens: Field required"),
    (5, {"model": "claude-opus-4-6", "max_tokens": 1}, "messages: Field required"),
    (5, {"max_tokens": 1, "messages": [HI]}, "model: Field required"),
    (5, body(tools=[{"name": "x"}]), "tools.0.custom.input_schema: Field required"),
    (5, body(HI, model({"type": "thinking", "thinking": "x"})), "messages.1.content.0.thinking.signature: Field required"),
    (5, body(max_tokens="1"), "max_tokens: Input should be a valid integer"),
    (5, body({"role": "user", "content": 3}), "messages.0.content: Input should be a valid list"),
    (5, body(user([t(5)])), "messages.0.content.0.text.text: Input should be a valid string"),
    (6, body(HI | {"clear_at": "never"}), "messages.0.clear_at: Extra inputs are not permitted"),
    (6, body(frequency_penalty=1), "frequency_penalty: Extra inputs are not permitted"),
    (6, body(user([t("a") | {"id": "x"}])), "messages.0.content.0.text.id: Extra inputs are not permitted"),
    (6, body(HI, model("a") | {"id": "msg_1"}, HI), "messages.1.id: Extra inputs are not permitted"),
    (6, body(tools=[{"name": "x", "input_schema": {}, "parameters": {}}]), "tools.0.custom.parameters: Extra inputs are not permitted"),
    (7, body(user([{"type": "input_text", "text": "a"}])), "messages.0.content.0: Input tag 'input_text' found using 'type' does not match any of the expected tags: 'bash_code_execution_tool_result', "),
    (7, body(HI, model({"type": "fallback", "from": {}, "to": {}}), HI), "messages.1.content.0: Input tag 'fallback' found using 'type' does not match any of the expected tags: "),
    (7, body(tools=[{"type": "function", "function": {}}]), "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: 'bash_20250124', "),
    (8, body(model="there-is-no-such-model"), "model: there-is-no-such-model"),
    (9, body(messages=[]), "messages: at least one message is required"),
    (10, body(model("Hello"), HI), 'messages: first message must use the "user" role'),
    (11, body(HI, {"role": "system", "content": "x"}), 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'),
    (12, body(HI, model("a"), {"role": "system", "content": "x"}, HI, model="claude-opus-4-8"), "messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result"),
    (12, body({"role": "system", "content": "x"}, HI, model="claude-opus-5"), "messages.0: role 'system' must follow a 'user' message"),
    (12, body(HI, model(use("a")), {"role": "system", "content": "x"}, user([result("a")]), model="claude-opus-5"), "messages.2: role 'system' must follow"),
    (13, body(HI, {"role": "system", "clear_at": "next_user_message", "content": [{"type": "image", "source": {}}]}, model="claude-opus-5"), "messages.1: a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')"),
    (14, body(HI, model(use("toolu_X")), user("Never mind")), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_X. Each `tool_use` block must have a corresponding `tool_result` block in the next message."),
    (14, body(HI, model(use("a"), use("b")), user([result("a")])), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. "),
    (14, body(HI, model(use("a")), user([t("Here:"), result("a")])), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. "),
    (14, body(HI, model(use("a"), use("b")), user("wait"), user([result("a"), result("b")])), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, b. "),
    (14, body(HI, model("Let me look.", use("a"))), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. "),
    (15, body(HI, model("a"), user([result("X")])), "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: X. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."),
    (15, body(user([result("X")])), "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: X. "),
    (15, body(HI, model(search("srvtoolu_1")), user([result("srvtoolu_1")])), "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: srvtoolu_1. "),
    (15, body(HI, model(use("a")), user([result("a"), result("toolu_b")])), "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_b. "),
    (17, body(HI, model(use("a")), user([result("a"), result("a")])), "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a"),
    (18, body(HI, model(use("a")), user([result("a")]), model("again", use("a")), user([result("a")])), "messages.3.content.1: `tool_use` ids must be unique"),
    (19, body(user([use("a")])), "messages.0: `tool_use` blocks can only be in `assistant` messages"),
    (20, body(HI, model(use("a", input=[])), user([result("a")])), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
    (28, body(user([t("")])), "messages: text content blocks must be non-empty"),
    (28, body(HI, model("", use("a")), user([result("a")])), "messages: text content blocks must be non-empty"),
    (28, body(system=[t("")]), "system: text content blocks must be non-empty"),
    (29, body(user([t(" \n")])), "messages: text content blocks must contain non-whitespace text"),
    (29, body(user("  ")), "messages: text content blocks must contain non-whitespace text"),
    (29, body(HI, model(" "), HI), "messages: text content blocks must contain non-whitespace text"),
    (29, body(system=[t(" ")]), "system: text content blocks must contain non-whitespace text"),
    (30, body(HI, model(), HI), "messages.1: all messages must have non-empty content except for the optional final assistant message"),
    (30, body(HI, model("a"), user("")), "messages.2: all messages must have non-empty content except for"),
    (31, body(HI, model("The answer is "), model="claude-haiku-4-5"), "messages: final assistant content cannot end with trailing whitespace"),
    (32, body(HI, model("The answer is")), "This model does not support assistant message prefill. The conversation must end with a user message."),
    (32, body(HI, model()), "This model does not support assistant message prefill. The conversation must end with a user message."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "asked", "message"), ROWS, ids=[f"{row}-{n}" for n, (row, _, _) in enumerate(ROWS)]
)
def test_a_broken_rule_is_told_in_the_apis_words(row: int, asked: dict[str, Any], message: str) -> None:
    finding = rejected(asked)
    assert (
        finding.message.startswith(message)
        if message.endswith((" ", "user' message", "follow", "for"))
        else (finding.message == message)
    )
    rule = next(rule for rule in RULES if rule.name == finding.rule)
    assert rule.row == row
    assert finding.failure.status == (404 if row == 8 else 400)


def test_each_row_that_rejects_has_a_test() -> None:
    tested = {row for row, _, _ in ROWS} | {1, 3, 4}
    assert {rule.row for rule in RULES if rule.ground and rule.row} == tested


def test_credentials_come_first() -> None:
    finding = rejected(b"not json", **{"x-api-key": "", "anthropic-version": ""})
    assert (finding.failure.status, finding.message) == (401, "x-api-key header is required")


def test_a_bearer_token_is_a_credential() -> None:
    assert not findings(body(), **{"x-api-key": "", "authorization": "Bearer k"})


def test_the_version_comes_before_the_body() -> None:
    finding = rejected(b"not json", **{"anthropic-version": ""})
    assert (finding.failure.status, finding.message) == (400, "anthropic-version: header is required")


def test_a_body_that_is_not_json_is_told_with_its_position() -> None:
    assert rejected(b'{"a": "\\ud800"}').message == (
        "The request body is not valid JSON: no low surrogate in string: line 1 column 8 (char 7)"
    )
    assert rejected(b"").message.startswith("The request body is not valid JSON: ")


def test_the_form_comes_before_the_model_and_the_model_before_the_conversation() -> None:
    assert [finding.rule for finding in findings(body(model("Hello"), model="nope"))] == ["model_unknown"]
    wrong = body(model("Hello"), top_k_=1)
    assert [finding.rule for finding in findings(wrong)] == ["field_unknown", "first_not_user", "prefill_unsupported"]  # fmt: skip


@pytest.mark.parametrize("field", ["temperature", "top_p", "top_k"])
def test_sampling_is_refused_since_the_version_that_dropped_it(field: str) -> None:
    asked = body(**{field: 1})
    assert (
        rejected(asked, **{"anthropic-version": "2026-10-21"}).message
        == f"{field}: Extra inputs are not permitted"
    )
    assert not findings(asked)


def test_what_is_not_verified_is_noted_and_rejects_nothing() -> None:
    asked = body(HI, model({"type": "document", "source": {"type": "text", "data": "x"}}), HI)
    new = findings(asked, **{"anthropic-version": "2026-10-21"})
    assert [(finding.rule, finding.verified) for finding in new] == [("document_in_assistant_message", False)]
    assert not findings(asked)


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


def test_blank_text_beside_a_call_is_noted_because_a_recording_shows_it_accepted() -> None:
    asked = body(HI, model(" ", use("a")), user([result("a")]))
    assert [(f.rule, f.verified) for f in findings(asked)] == [("text_blank_beside_others", False)]
