from __future__ import annotations

from typing import Any

import pytest

from harness.wire.wanted import BINDING_BETA, Wanted


def wanted(model: str = "claude-opus-4-6", beta: str = "", **asked: Any) -> Wanted:
    return Wanted.of({"model": model, **asked}, {"anthropic-beta": beta} if beta else {})


@pytest.mark.parametrize(
    ("model", "thinking", "counted"),
    [
        ("claude-haiku-4-5-20251001", None, False),
        ("claude-haiku-4-5-20251001", {"type": "enabled", "budget_tokens": 1024}, True),
        ("claude-sonnet-4-6", None, False),
        ("claude-opus-4-6", {"type": "adaptive"}, True),
        ("claude-opus-4-8", None, True),
        ("claude-sonnet-5", None, True),
        ("claude-opus-5", {"type": "disabled"}, False),
        ("claude-sonnet-4-20250514", None, False),
        ("claude-3-5-haiku-20241022", None, False),
    ],
)
def test_thinking_is_counted_where_there_is_any(model: str, thinking: Any, counted: bool) -> None:
    asked = {"thinking": thinking} if thinking else {}
    assert wanted(model, **asked).thinking is counted


@pytest.mark.parametrize(
    ("model", "geo"),
    [
        ("claude-haiku-4-5-20251001", "not_available"),
        ("claude-sonnet-4-20250514", "not_available"),
        ("claude-sonnet-4-6", "global"),
        ("claude-opus-5", "global"),
    ],
)
def test_older_models_do_not_say_where_they_are(model: str, geo: str) -> None:
    assert wanted(model).geo == geo
    assert wanted(model, inference_geo="us").geo == "us"


def test_applied_edits_are_told_to_those_who_asked() -> None:
    assert not wanted().edits
    assert wanted(beta="context-management-2025-06-27,fast-mode-2026-02-01").edits
    assert wanted(context_management={"edits": []}).edits
    assert not wanted(beta="compact-2026-09-04").edits
    assert wanted(beta=BINDING_BETA).bindings


def test_iterations_are_listed_for_what_may_have_several_kinds() -> None:
    assert not wanted(tools=[{"type": "web_search_20250305", "name": "web_search"}]).iterations
    assert wanted(context_management={"edits": [{"type": "compact_20260112"}]}).iterations
    assert wanted(output_config={"task_budget": {"type": "tokens", "total": 1}}).iterations
    advised = wanted(tools=[{"type": "advisor_20260301", "name": "advisor", "model": "claude-opus-5"}])
    assert advised.iterations
    assert advised.advisor == "claude-opus-5"


def test_a_container_is_named_or_described() -> None:
    assert wanted(container="container_1").container == "container_1"
    assert wanted(container={"id": "container_2", "skills": []}).container == "container_2"
    assert wanted().container is None


def test_what_is_no_request_wants_nothing() -> None:
    assert Wanted.of(None, {}) == Wanted.of({}, {})
