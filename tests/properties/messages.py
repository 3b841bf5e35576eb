"""Any message that can be built from known blocks, for Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from harness.wire.blocks import FIELDS, SERVER_RESULTS, STOP_REASONS, ordered
from harness.wire.eras import ERAS, Era
from harness.wire.message import message
from harness.wire.usage import usage_of
from harness.wire.wanted import Wanted

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
WORD = st.text("abcdefgh_", min_size=1, max_size=12)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=4)
ID = WORD.map("toolu_01{}".format)
CITATION = st.fixed_dictionaries(
    {"type": st.just("char_location"), "cited_text": TEXT, "document_index": st.just(0)}
)
CALLER = {"caller": st.just({"type": "direct"})}


def block(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Blocks of one type, their keys in the order of the wire."""
    optional = {
        name: fields.pop(name)
        for name in list(fields)
        if name in ("citations", "caller", "encrypted_content")
    }
    return st.fixed_dictionaries({"type": st.just(kind), **fields}, optional=optional).map(ordered)


def part(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """What a server tool gives back."""
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


def ran(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """What code gives back that ran."""
    return part(kind, stdout=TEXT, stderr=TEXT, return_code=st.integers(0, 255), content=st.just([]))


HIT = part("web_search_result", title=TEXT, url=WORD, encrypted_content=WORD, page_age=st.none() | WORD)
REFERENCE = part("tool_reference", tool_name=WORD)
RESULTS: dict[str, st.SearchStrategy[Any]] = {
    "web_search_tool_result": st.lists(HIT, max_size=3),
    "web_fetch_tool_result": part("web_fetch_tool_result_error", error_code=st.just("unavailable")),
    "code_execution_tool_result": ran("code_execution_result"),
    "bash_code_execution_tool_result": ran("bash_code_execution_result"),
    "text_editor_code_execution_tool_result": part(
        "text_editor_code_execution_create_result", is_file_update=st.booleans()
    ),
    "tool_search_tool_result": part(
        "tool_search_tool_search_result", tool_references=st.lists(REFERENCE, max_size=2)
    ),
    "advisor_tool_result": part("advisor_result", text=TEXT, stop_reason=st.just("end_turn")),
}

BLOCKS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "text": block("text", text=TEXT, citations=st.lists(CITATION, min_size=1, max_size=3)),
    "thinking": block("thinking", thinking=TEXT, signature=WORD),
    "redacted_thinking": block("redacted_thinking", data=WORD),
    "tool_use": block("tool_use", id=ID, name=WORD, input=OBJECT, **CALLER),
    "server_tool_use": block("server_tool_use", id=ID, name=WORD, input=OBJECT, **CALLER),
    "mcp_tool_use": block("mcp_tool_use", id=ID, name=WORD, input=OBJECT, server_name=WORD),
    "mcp_tool_listing": block("mcp_tool_listing", mcp_server_name=WORD, tools=st.just([])),
    "compaction": block("compaction", content=TEXT | st.none(), encrypted_content=WORD | st.none()),
    "fallback": block(
        "fallback", to=st.just({"model": "claude-b"}), **{"from": st.just({"model": "claude-a"})}
    ),
    "container_upload": block("container_upload", file_id=WORD),
    "mcp_tool_result": block(
        "mcp_tool_result",
        tool_use_id=ID,
        is_error=st.booleans(),
        content=st.lists(block("text", text=TEXT), max_size=3),
    ),
    **{kind: block(kind, tool_use_id=ID, content=content) for kind, content in RESULTS.items()},
}
assert BLOCKS.keys() <= FIELDS.keys()
assert BLOCKS.keys() >= SERVER_RESULTS


@st.composite
def messages(draw: st.DrawFn, of: Era) -> dict[str, Any]:
    """A message of an era."""
    content = draw(st.lists(st.one_of(*BLOCKS.values()), max_size=6))
    stop = draw(st.sampled_from(sorted(STOP_REASONS)))
    wanted = Wanted(thinking=draw(st.booleans()), edits=of.running)
    serving = "claude-b" if any(each["type"] == "fallback" for each in content) else "claude-a"
    return message(
        id="msg_01",
        model=serving,
        content=content,
        stop_reason=stop,
        stop_sequence=draw(st.none() | WORD),
        stop_details=draw(st.none() | st.just({"type": "refusal", "category": "cyber", "explanation": None})),
        container=draw(st.none() | st.just({"id": "container_01", "expires_at": "2026-12-01T00:00:00Z"})),
        usage=usage_of({"messages": []}, content if of.running else [], stop, wanted=wanted, of=of).total,
        of=of,
    )


ERA = st.sampled_from(ERAS)
"""Any era."""
