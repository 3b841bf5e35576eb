# ruff: noqa: E501 - a row is a line
"""What the API accepts, and therefore must not be rejected."""

from __future__ import annotations

from typing import Any

import pytest

from tests.provider.asking import HI, NEW, findings, found, model, result, search, t, tool, use, user
from tests.provider.serve import body

MCP = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "n", "input": {}, "server_name": "s"}
MCP_RESULT = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [t("ok")]}
THINK = {"type": "thinking", "thinking": "", "signature": "s"}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}
CACHE = {"cache_control": {"type": "ephemeral"}}
CODE = search("srvtoolu_1", "code_execution")
NEW_TOOL = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool("later")}}
KNOWN_TOOL = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "lookup"}}
BY_CODE = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
SYSTEM = {"role": "system", "content": "Be brief."}

ACCEPTED: dict[str, dict[str, Any]] = {
    "one user message": body(),
    "content as blocks": body(user([t("Hi")])),
    "consecutive user messages": body(HI, user("And?")),
    "consecutive assistant messages": body(HI, model("a"), model("b"), HI),
    "a result without content": body(HI, model(use("a")), user([{"type": "tool_result", "tool_use_id": "a"}])),
    "a result with null content": body(HI, model(use("a")), user([result("a", content=None)])),
    "an empty result": body(HI, model(use("a")), user([result("a", content="")])),
    "results in blocks": body(HI, model(use("a")), user([result("a", content=[t("x"), IMAGE])])),
    "a failed result": body(HI, model(use("a")), user([result("a", is_error=True)])),
    "results in another order": body(HI, model(use("a"), use("b")), user([result("b"), result("a")])),
    "results in separate messages": body(HI, model(use("a"), use("b")), user([result("a")]), user([result("b")])),
    "text after all results": body(HI, model(use("a")), user([result("a"), t("Thanks")])),
    "text in a message after the results": body(HI, model(use("a")), user([result("a")]), user("Thanks")),
    "calls split over two messages": body(HI, model(use("a")), model(use("b")), user([result("a"), result("b")])),
    "text around calls": body(HI, model("a", use("a"), "b", use("b")), user([result("a"), result("b")])),
    "a call with a caller": body(HI, model(use("a", caller={"type": "direct"})), user([result("a")])),
    "a dangling server call and results": body(HI, model(search("s"), use("a")), user([result("a")])),
    "a dangling mcp call and results": body(HI, model(MCP, use("a")), user([result("a")])),
    "a server call with its result": body(HI, model(search("s"), found("s"), "Found."), HI),
    "an mcp call with its result": body(HI, model(MCP, MCP_RESULT, "Done."), HI),
    "a paused turn": body(HI, model("Looking.", search("s"))),
    "two paused turns in a row": body(HI, model(search("s")), model(found("s"), search("r"))),
    "a result that opens a reply": body(HI, model(search("s"), use("a")), user([result("a")]), model(found("s"), "b"), HI),
    "thinking that is not shown": body(HI, model(THINK, "a"), HI),
    "redacted thinking": body(HI, model({"type": "redacted_thinking", "data": "x"}, "a"), HI),
    "thinking and a call": body(HI, model(THINK, use("a")), user([result("a")])),
    "a document": body(user([{"type": "document", "source": {"type": "text", "data": "x"}, "title": "T"}, t("?")])),
    "an image alone": body(user([IMAGE])),
    "a search result": body(user([{"type": "search_result", "source": "u", "title": "t", "content": [t("x")]}])),
    "an uploaded file": body(user([{"type": "container_upload", "file_id": "file_1"}, t("?")])),
    "cache control on blocks": body(user([t("Hi") | CACHE]), system=[t("S") | CACHE], cache_control={"type": "ephemeral"}),
    "cache control on a result": body(HI, model(use("a") | CACHE), user([result("a") | CACHE])),
    "citations in a reply": body(HI, model({"type": "text", "text": "a", "citations": []}), HI),
    "null citations": body(HI, model({"type": "text", "text": "a", "citations": None}), HI),
    "a prefill": body(HI, model("The answer is ("), model="claude-haiku-4-5"),
    "an empty message at the end": body(HI, model(), model="claude-sonnet-4-5"),
    "a system message": body(HI, SYSTEM, model="claude-opus-4-8"),
    "a system message after a server tool": body(HI, model(search("s"), found("s")), SYSTEM, model="claude-opus-5"),
    "two system messages": body(HI, SYSTEM, SYSTEM, model("a"), HI, model="claude-opus-4-8"),
    "a system message for one turn": body(HI, SYSTEM | {"clear_at": "next_user_message"}, model="claude-opus-5"),
    "no system prompt": body(system=""),
    "no tools": body(tools=[]),
    "a typed tool": body(tools=[{"type": "custom", "name": "x", "description": "", "input_schema": {}, "strict": True}]),
    "tools of the server": body(
        tools=[
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
            {"type": "code_execution_20260120", "name": "code_execution"},
            {"type": "mcp_toolset", "mcp_server_name": "s"},
            {"type": "tool_search_tool_bm25", "name": "tool_search_tool_bm25"},
            {"type": "computer_20251124", "name": "computer", "display_width_px": 1},
        ],
    ),
    "every option": body(
        stop_sequences=["x"], metadata={"user_id": "u"}, service_tier="auto", thinking={"type": "adaptive"},
        output_config={"effort": "low"}, tool_choice={"type": "auto"}, stream=True, inference_geo="us",
        container="c", speed="fast", temperature=1.0,
    ),
    "options that are null": body(stream=None, container=None, thread=None, tools=None, diagnostics=None),
    "a warm-up": body(max_tokens=0),
    "white space around words": body(user(" Hi \n")),
    "white space at the end of an earlier reply": body(HI, model("a "), HI),
    "non-BMP text and nested input": body(user("😀"), model(use("a", input={"b": {"c": []}})), user([result("a", content="😀")])),
    "a tool reference in a result": body(HI, model(use("a")), user([result("a", content=[{"type": "tool_reference", "tool_name": "lookup"}])])),
    "a compaction at the beginning": body(user([{"type": "compaction", "content": "So far: …"}]), user("Go on")),
    "an older model": body(model="claude-3-5-haiku-latest"),
    "a model to come": body(model="claude-opus-9-9", max_tokens=500_000, output_config={"effort": "max"}),
    "another effort in the middle": body(HI, model("a"), {"role": "system", "content": [], "output_config": {"effort": "low"}}, HI, model="claude-opus-5"),
    "calls by code in their container": body(HI, model(CODE, use("a", caller=BY_CODE)), user([result("a")]), container="c"),
    "code that calls again": body(HI, model(CODE, use("a", caller=BY_CODE)), user([result("a")]), model(use("b", caller=BY_CODE)), user([result("b")]), container="c"),
    "a deferred tool beside another": body(tools=[tool("x"), tool("y", defer_loading=True)]),
    "a schema that refers to itself": body(tools=[{"name": "x", "input_schema": {"properties": {"a": {"$ref": "#"}}}}]),
    "a reference into a toolset": body(HI, model(use("a")), user([result("a", content=[{"type": "tool_reference", "tool_name": "s_x"}])]), tools=[{"type": "mcp_toolset", "mcp_server_name": "s"}, tool("lookup")]),
    "four cache marks": body(user([t(str(n)) | CACHE for n in range(3)]), system=[t("S") | CACHE], cache_control={"type": "ephemeral"}),
    "manual thinking": body(model="claude-haiku-4-5", max_tokens=2000, thinking={"type": "enabled", "budget_tokens": 1024}),
    "manual thinking, turned on after a turn without": body(HI, model("a"), HI, model="claude-opus-4-6", max_tokens=2000, thinking={"type": "enabled", "budget_tokens": 1024}),
    "no thinking": body(model="claude-opus-5", thinking={"type": "disabled"}),
    "thinking between tools": body(model="claude-sonnet-5-5", thinking={"type": "between_tools"}),
    "a forced call with adaptive thinking": body(model="claude-opus-5", thinking={"type": "adaptive"}, tool_choice={"type": "any"}),
    "no call at all": body(model="claude-opus-5-5", tool_choice={"type": "none"}),
    "the longest reply": body(model="claude-opus-5", max_tokens=128_000),
    "temperature on an older model": body(model="claude-opus-4-6", temperature=0.2, top_p=0.5, top_k=3),
    "temperature as it is anyway": body(model="claude-opus-5", temperature=1),
    "a summary at the beginning": body(user([{"type": "compaction", "content": "So far", "signature": "s"}]), user("Go on")),
    "a summary that failed": body(HI, model({"type": "compaction", "content": None}), HI),
    "tools that come and go": body(HI, SYSTEM | {"content": [NEW_TOOL, KNOWN_TOOL]}, model(use("a", name="later")), user([result("a", content=[{"type": "tool_reference", "tool_name": "later"}])]), model="claude-opus-5"),
    "thinking of an earlier turn left out": body(HI, model("a"), HI, model(THINK, "b"), HI),
}  # fmt: skip


@pytest.mark.parametrize("asked", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_the_request_is_accepted(asked: dict[str, Any]) -> None:
    assert [finding.message for finding in findings(asked) if finding.verified] == []


WITH_BETAS: dict[str, tuple[str, dict[str, Any]]] = {
    "a prefill paid for": ("fallback-credit-2026-07-01", body(HI, model("The"), fallback_credit_token="t")),
    "servers of others": ("mcp-client-2025-11-20", body(mcp_servers=[{"type": "url", "url": "https://x", "name": "s"}])),
    "edits of the context": ("context-management-2025-06-27", body(context_management={"edits": []})),
    "compaction on the way": ("compact-2026-01-12", body(context_management={"edits": [{"type": "compact_20260112"}]})),
    "compaction of all": ("compact-2026-09-04", body(HI, model("a"), compaction={"type": "summarize"})),
    "fallbacks": ("server-side-fallback-2026-07-01", body(fallbacks=[{"model": "claude-opus-4-8"}])),
    "a long reply": ("output-128k-2025-02-19", body(model="claude-3-7-sonnet-latest", max_tokens=128_000)),
    "a budget for a whole turn": ("interleaved-thinking-2025-05-14", body(model="claude-sonnet-4-5", max_tokens=1000, thinking={"type": "enabled", "budget_tokens": 9000})),
    "how thinking is bound": ("thinking-binding-controls-2026-08-01", body(model="claude-opus-5-5", thinking={"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}})),
}  # fmt: skip


@pytest.mark.parametrize(("beta", "asked"), WITH_BETAS.values(), ids=WITH_BETAS.keys())
def test_the_request_is_accepted_with_its_beta(beta: str, asked: dict[str, Any]) -> None:
    assert [
        finding.message for finding in findings(asked, **{"anthropic-beta": beta}) if finding.verified
    ] == []


OF_OLD = {"temperature on an older model", "temperature as it is anyway", "every option"}


@pytest.mark.parametrize("name", [name for name in ACCEPTED if name not in OF_OLD])
def test_the_request_is_accepted_by_the_current_version_too(name: str) -> None:
    assert [finding.message for finding in findings(ACCEPTED[name], **NEW) if finding.verified] == []


def test_a_fallback_block_is_accepted_with_its_beta() -> None:
    block = {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}, "trigger": {"type": "refusal"}}
    asked = body(HI, model("a", block, "b"), HI)
    assert not findings(asked, **{"anthropic-beta": "server-side-fallback-2026-07-01"})
    assert findings(asked)


@pytest.mark.parametrize("version", ["2023-01-01", "2023-06-01", "2026-10-21"])
def test_every_known_version_is_accepted(version: str) -> None:
    assert not findings(body(), **{"anthropic-version": version})
