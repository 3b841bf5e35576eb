from __future__ import annotations

from typing import Any

from harness.wire.usage import usage_of

TEXT = [{"type": "text", "text": "word " * 40}]


def body(words: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "word " * words}]}


def test_counts_grow_with_what_was_really_sent() -> None:
    small, large = usage_of(body(10), TEXT), usage_of(body(1000), TEXT * 5)
    assert 10 <= small["input_tokens"] < 60
    assert 1000 <= large["input_tokens"] < 3000
    assert 4 * small["output_tokens"] < large["output_tokens"]


def test_an_empty_reply_costs_two_or_three_tokens() -> None:
    assert usage_of(body(1), [])["output_tokens"] in (2, 3)


def test_keys_stand_in_the_recorded_order() -> None:
    assert list(usage_of(body(1), TEXT)) == [
        "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation",
        "output_tokens", "output_tokens_details", "service_tier", "inference_geo",
    ]  # fmt: skip


def test_thinking_is_counted_apart_where_the_model_thinks() -> None:
    content = [{"type": "thinking", "thinking": "a long thought " * 9, "signature": "s"}, *TEXT]
    usage = usage_of(body(1), content)
    assert 0 < usage["output_tokens_details"]["thinking_tokens"] < usage["output_tokens"]
    assert "output_tokens_details" not in usage_of(body(1), content, thinking=False)


def test_server_tools_are_counted_by_name() -> None:
    content = [{"type": "server_tool_use", "name": "web_search", "input": {}}] * 2
    assert usage_of(body(1), content)["server_tool_use"]["web_search_requests"] == 2
    assert "server_tool_use" not in usage_of(body(1), TEXT)


def test_written_usage_wins() -> None:
    usage = usage_of(body(1), TEXT, override={"input_tokens": 404500, "iterations": []})
    assert (usage["input_tokens"], usage["iterations"]) == (404500, [])
