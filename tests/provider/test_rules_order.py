# ruff: noqa: E501 - messages are quoted whole
"""What comes first where a request breaks several rules, and what is no fault beside them."""

from __future__ import annotations

from typing import Any

from tests.provider.asking import (
    HI,
    Talk,
    findings,
    model,
    search,
    use,
)
from tests.provider.serve import body


def error(answer: Any) -> tuple[int, str, str]:
    said = answer.body.get("error", {})
    assert answer.body["type"] == "error", answer.body
    assert answer.body["request_id"] == answer.headers["request-id"]
    return answer.status, said["type"], said["message"]


def test_credentials_come_first() -> None:
    answer = Talk().ask(b"not json", **{"anthropic-version": "", "x-api-key": ""})
    assert error(answer) == (401, "authentication_error", "x-api-key header is required")


def test_a_bearer_token_is_a_credential() -> None:
    assert not findings(body(), **{"x-api-key": "", "authorization": "Bearer k"})


def test_the_version_comes_before_the_body() -> None:
    answer = Talk().ask(b"not json", **{"anthropic-version": ""})
    assert error(answer) == (400, "invalid_request_error", "anthropic-version: header is required")


def test_a_body_that_is_not_json_is_told_with_its_position() -> None:
    assert error(Talk().ask(b'{"a": "\\ud800"}'))[2] == (
        "The request body is not valid JSON: no low surrogate in string: line 1 column 8 (char 7)"
    )
    assert error(Talk().ask(b""))[2].startswith("The request body is not valid JSON: ")


def test_an_unknown_model_is_not_found_by_the_token_count_either() -> None:
    asked = body(model="nope")
    del asked["max_tokens"]
    answer = Talk().ask(asked, path="/v1/messages/count_tokens")
    assert error(answer) == (404, "not_found_error", "model: nope")


def test_the_form_comes_before_the_model_and_the_model_before_the_conversation() -> None:
    assert [finding.rule for finding in findings(body(model("Hello"), model="nope"))] == ["model_unknown"]
    wrong = body(model("Hello"), top_k_=1)
    assert [finding.rule for finding in findings(wrong)] == ["field_unknown", "first_not_user", "prefill_unsupported"]  # fmt: skip


def test_a_call_of_ours_comes_before_one_of_the_servers() -> None:
    both = body(HI, model(search("s"), use("a")), HI)
    assert [finding.rule for finding in findings(both)] == [
        "call_without_result",
        "server_call_without_result",
    ]
