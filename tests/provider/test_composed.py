"""The whole message of a reply: what its blocks, its request and its era add to what the scenario wrote."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness.provider.compose import Composer, compose
from harness.provider.script import Play
from harness.scenario.model import Reply, Step
from harness.wire.cache import PromptCache
from harness.wire.eras import EraName, era
from harness.wire.ids import Ids
from harness.wire.wanted import Wanted
from tests.provider.serve import call, text

SEEN = {"messages": [{"role": "user", "content": "Hi"}]}
CODE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "bash_code_execution", "input": {}}
RAN = {"type": "bash_code_execution_tool_result", "content": {"type": "bash_code_execution_result"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def said(
    *blocks: dict[str, Any], asked: Any = None, name: EraName = "2026-09", **fields: Any
) -> dict[str, Any]:
    reply = Reply(content=list(blocks), **fields)
    content = Composer(Ids(0), era(name)).content(reply, Play(0, 0, Step(reply=reply)), ("lookup",))
    body = {"model": "claude-opus-4-6", **(asked or {})}
    headers = {"anthropic-beta": str(body.pop("beta", ""))}
    wanted = Wanted.of(body, headers)
    cache = PromptCache()
    return compose("msg_01", reply, content, SEEN, wanted=wanted, cache=cache, of=era(name)).message


def test_the_model_is_called_by_its_own_name() -> None:
    assert said(asked={"model": "claude-haiku-4-5"})["model"] == "claude-haiku-4-5-20251001"


def test_the_model_that_took_over_is_named() -> None:
    fallback = {"type": "fallback", "from": {"model": "claude-opus-5"}, "to": {"model": "claude-opus-4-8"}}
    assert said(fallback, text("Hi."))["model"] == "claude-opus-4-8"


def test_a_call_says_who_called_since_calls_can_come_from_programs() -> None:
    assert said(call())["content"][0]["caller"] == {"type": "direct"}
    assert said(FOUND)["content"][0]["caller"] == {"type": "direct"}
    assert "caller" not in said(CODE)["content"][0]
    assert "caller" not in said(call(), name="2025-11")["content"][0]


def test_a_programs_call_names_the_code_by_its_label() -> None:
    code = CODE | {"id": "the code", "name": "code_execution"}
    made = said(code, call() | {"caller": {"type": "code_execution_20260120", "tool_id": "the code"}})
    assert made["content"][1]["caller"]["tool_id"] == made["content"][0]["id"]
    assert made["container"]


def test_code_runs_in_a_container_that_lasts_an_hour() -> None:
    container = said(CODE)["container"]
    assert re.fullmatch(r"container_011C\w{20}", container["id"])
    lasts = datetime.fromisoformat(container["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=59) < lasts <= timedelta(hours=1)
    assert said(RAN)["container"]
    assert said(text("Hi."))["container"] is None


def test_the_container_that_was_asked_for_goes_on() -> None:
    assert said(CODE, asked={"container": "container_mine"})["container"]["id"] == "container_mine"
    written = {"id": "container_written", "expires_at": "2026-12-01T00:00:00Z"}
    assert said(CODE, container=written)["container"] == written


def test_edits_are_told_to_those_who_asked() -> None:
    asked = {"beta": "context-management-2025-06-27"}
    assert said(asked=asked)["context_management"] == {"applied_edits": []}
    edits = {"applied_edits": [{"type": "clear_thinking_20251015"}]}
    assert said(asked=asked, fields={"context_management": edits})["context_management"] == edits
    assert "context_management" not in said()
    assert said(asked={"beta": "thinking-binding-controls-2026-08-01"})["input_transformations"] == []


def test_written_usage_wins() -> None:
    usage = said(text("Hi."), usage={"input_tokens": 404500, "iterations": []})["usage"]
    assert (usage["input_tokens"], usage["iterations"]) == (404500, [])


@pytest.mark.parametrize("name", ["2024", "2026-09"])
def test_written_details_are_told_in_any_era(name: EraName) -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "no"}
    assert said(stop_reason="refusal", stop_details=details, name=name)["stop_details"] == details
