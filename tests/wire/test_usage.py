from __future__ import annotations

from typing import Any

from harness.wire.eras import era
from harness.wire.usage import Usage, usage_of
from harness.wire.wanted import Wanted

TEXT = [{"type": "text", "text": "word " * 40}]
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"title": "word " * 100}]}


def body(words: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "word " * words}]}


def used(words: int, content: list[dict[str, Any]], stop: str = "end_turn", **wanted: Any) -> dict[str, Any]:
    return told(words, content, stop, **wanted).total


def told(words: int, content: list[dict[str, Any]], stop: str = "end_turn", **wanted: Any) -> Usage:
    return usage_of(body(words), content, stop, wanted=Wanted(**wanted))


def test_counts_grow_with_what_was_really_sent() -> None:
    small, large = used(10, TEXT), used(1000, TEXT * 5)
    assert 10 <= small["input_tokens"] < 60
    assert 1000 <= large["input_tokens"] < 3000
    assert 4 * small["output_tokens"] < large["output_tokens"]


def test_an_empty_reply_costs_two_or_three_tokens() -> None:
    assert used(1, [])["output_tokens"] in (2, 3)


def test_a_refusal_before_the_first_word_is_not_billed() -> None:
    usage = used(1, [], "refusal")
    assert usage["output_tokens"] == 0
    assert "service_tier" not in usage
    assert usage["inference_geo"] == "not_available"
    assert used(1, TEXT, "refusal")["service_tier"] == "standard"


def test_a_truncated_reply_used_up_its_limit() -> None:
    assert used(1, TEXT, "max_tokens", max_tokens=4096)["output_tokens"] == 4096


def test_keys_stand_in_the_recorded_order() -> None:
    assert list(used(1, [SEARCH, FOUND, *TEXT], thinking=True, iterations=True)) == [
        "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation",
        "iterations", "output_tokens", "output_tokens_details", "service_tier", "inference_geo",
        "server_tool_use",
    ]  # fmt: skip


def test_an_era_counts_what_it_knew() -> None:
    assert list(usage_of(body(1), TEXT, of=era("2024")).total) == ["input_tokens", "output_tokens"]
    assert "inference_geo" not in usage_of(body(1), TEXT, of=era("2025-11")).total
    old = usage_of(body(1), TEXT, wanted=Wanted(thinking=True), of=era("2026-03")).total
    assert "output_tokens_details" not in old


def test_thinking_is_counted_apart_where_it_was_asked_for() -> None:
    content = [{"type": "thinking", "thinking": "a long thought " * 9, "signature": "s"}, *TEXT]
    usage = used(1, content, thinking=True)
    assert 0 < usage["output_tokens_details"]["thinking_tokens"] < usage["output_tokens"]
    assert "output_tokens_details" not in used(1, content)


def test_thinking_that_is_not_shown_counts_as_well() -> None:
    content = [{"type": "thinking", "thinking": "", "signature": "s" * 400}, *TEXT]
    assert used(1, content, thinking=True)["output_tokens_details"]["thinking_tokens"] > 5


def test_server_tools_are_counted_by_name() -> None:
    assert used(1, [SEARCH, SEARCH])["server_tool_use"] == {"web_search_requests": 2, "web_fetch_requests": 0}
    assert used(1, [FOUND, *TEXT])["server_tool_use"]["web_search_requests"] == 0
    assert "server_tool_use" not in used(1, TEXT)


def test_a_server_tools_loop_reads_everything_again() -> None:
    once, loop = told(1000, TEXT), told(1000, [SEARCH, FOUND, SEARCH, FOUND, *TEXT])
    assert loop.first["input_tokens"] == once.total["input_tokens"]
    assert loop.total["input_tokens"] > 3 * once.total["input_tokens"] + 3 * 100
    assert "iterations" not in loop.total


def test_a_paused_loop_does_not_read_its_last_result() -> None:
    paused = told(1000, [SEARCH, FOUND, SEARCH], "pause_turn").total["input_tokens"]
    assert paused < told(1000, [SEARCH, FOUND, SEARCH, FOUND, *TEXT]).total["input_tokens"]


def test_a_resumed_turn_begins_with_what_was_found() -> None:
    resumed = told(1000, [FOUND, *TEXT])
    assert resumed.first["input_tokens"] == resumed.total["input_tokens"]
    assert resumed.total["input_tokens"] > told(1000, TEXT).total["input_tokens"]


def test_a_compaction_is_an_iteration_of_its_own_that_the_totals_leave_out() -> None:
    usage = told(1000, [{"type": "compaction", "content": "summary"}, *TEXT])
    compaction, said = usage.total["iterations"]
    assert list(compaction)[:4] == [
        "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
    ]  # fmt: skip
    assert (compaction["type"], said["type"]) == ("compaction", "message")
    assert usage.total["input_tokens"] == said["input_tokens"] < compaction["input_tokens"]
    assert usage.first["input_tokens"] == compaction["input_tokens"]


def test_advice_is_an_iteration_of_another_model() -> None:
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {}}
    advice = {"type": "advisor_tool_result", "tool_use_id": "srvtoolu_1", "content": {"text": "Wait."}}
    usage = used(100, [*TEXT, call, advice, *TEXT], advisor="claude-opus-5")
    kinds = [each["type"] for each in usage["iterations"]]
    assert kinds == ["message", "advisor_message", "message"]
    assert usage["iterations"][1]["model"] == "claude-opus-5"
    said = [each for each in usage["iterations"] if each["type"] == "message"]
    assert usage["output_tokens"] == sum(each["output_tokens"] for each in said)


def test_a_fallback_names_the_models_of_both_iterations() -> None:
    fallback = {"type": "fallback", "from": {"model": "first"}, "to": {"model": "second"}}
    usage = used(100, [*TEXT, fallback, *TEXT])
    assert [(each["type"], each["model"]) for each in usage["iterations"]] == [
        ("message", "first"),
        ("fallback_message", "second"),
    ]
    assert usage["output_tokens"] == sum(each["output_tokens"] for each in usage["iterations"])


def test_a_model_that_declined_at_once_costs_nothing() -> None:
    fallback = {"type": "fallback", "from": {"model": "first"}, "to": {"model": "second"}}
    usage = used(100, [fallback, *TEXT])
    declined, said = usage["iterations"]
    assert (declined["output_tokens"], usage["output_tokens"]) == (0, said["output_tokens"])
    assert usage["input_tokens"] == said["input_tokens"]
