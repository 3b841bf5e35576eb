from __future__ import annotations

from harness.wire import blocks


def test_only_tool_use_is_the_clients_to_run() -> None:
    assert blocks.is_client_call({"type": "tool_use"})
    for kind in ("server_tool_use", "mcp_tool_use", "text", "tool_result"):
        assert not blocks.is_client_call({"type": kind})


def test_results_of_server_tools_are_known_by_their_form() -> None:
    assert blocks.is_server_result({"type": "web_search_tool_result"})
    assert blocks.is_server_result({"type": "mcp_tool_result"})
    assert blocks.is_server_result({"type": "teleport_tool_result"})
    assert not blocks.is_server_result({"type": "tool_result"})


def test_each_call_has_its_kind_of_result() -> None:
    assert blocks.result_type({"type": "tool_use", "name": "x"}) == "tool_result"
    assert blocks.result_type({"type": "mcp_tool_use", "name": "x"}) == "mcp_tool_result"
    assert blocks.result_type({"type": "server_tool_use", "name": "web_fetch"}) == "web_fetch_tool_result"
    assert blocks.result_type({"type": "server_tool_use", "name": "new"}) is None


def test_open_server_calls_are_those_without_a_result_after_them() -> None:
    calls = [{"type": "server_tool_use", "id": name} for name in ("a", "b", "c")]
    content = [calls[0], calls[1], {"type": "web_search_tool_result", "tool_use_id": "a"}, calls[2]]
    assert blocks.open_server_calls(content) == [calls[1], calls[2]]


def test_a_string_is_one_text_block() -> None:
    assert blocks.as_blocks("hi") == [{"type": "text", "text": "hi"}]
    assert blocks.as_blocks([{"type": "x"}]) == [{"type": "x"}]
    assert blocks.as_blocks(None) == []


def test_keys_stand_in_the_order_of_the_wire_and_unknown_ones_last() -> None:
    block = {"future": 1, "input": {}, "name": "n", "id": "i", "type": "tool_use"}
    assert list(blocks.ordered(block)) == ["type", "id", "name", "input", "future"]
    assert blocks.ordered({"b": 1, "type": "new", "a": 2}) == {"type": "new", "b": 1, "a": 2}
