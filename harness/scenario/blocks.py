"""Content blocks as people write them (`text: Hello`) to content blocks as the wire has them.

A block with the key `type` is taken as it is, so that anything can be written. Of a short form the first key
names the block: its value is a mapping of fields, or the one field that matters; further keys are fields.
Ids, signatures, encrypted parts and the `tool_use_id` of results may be left out: the provider fills them in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .problems import nearest


class Form(NamedTuple):
    """The short form of one block type."""

    main: str | None
    """The field a value that is no mapping goes to."""
    takes: str
    """What that value is, in words."""
    defaults: dict[str, Any]
    required: tuple[str, ...] = ()


_RESULT = Form("content", "a list or a mapping", {})

FORMS: dict[str, Form] = {
    "text": Form("text", "text", {}, ("text",)),
    "thinking": Form("thinking", "text", {}, ("thinking",)),
    "redacted_thinking": Form("data", "text", {}, ("data",)),
    "tool_use": Form(None, "a mapping with name and input", {"input": {}}, ("name",)),
    "server_tool_use": Form(None, "a mapping with name and input", {"input": {}}, ("name",)),
    "mcp_tool_use": Form(
        None, "a mapping with name, server_name and input", {"input": {}}, ("name", "server_name")
    ),
    "mcp_tool_result": Form("content", "text, a list or a mapping", {"is_error": False}, ("content",)),
    "web_search_tool_result": _RESULT,
    "web_fetch_tool_result": _RESULT,
    "code_execution_tool_result": _RESULT,
    "bash_code_execution_tool_result": _RESULT,
    "text_editor_code_execution_tool_result": _RESULT,
    "tool_search_tool_result": _RESULT,
    "compaction": Form("content", "text", {}, ("content",)),
    "container_upload": Form("file_id", "text", {}, ("file_id",)),
}
"""Every block that has a short form. Others are written with `type`."""

_TEXTS = frozenset(
    {"text", "thinking", "data", "file_id", "name", "server_name", "id", "tool_use_id", "signature"}
)
"""Fields that are text in every block with a short form."""


def expand_block(written: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The block in its wire form, and what is wrong with how it is written."""
    if "type" in written:
        kind = written["type"]
        return dict(written), [] if isinstance(kind, str) and kind else ["the `type` of a block is a text"]
    if not written:
        return {}, ["an empty block; write one as `text: Hello`"]
    kind = next(iter(written))
    form = FORMS.get(kind)
    if form is None:
        hint = nearest(kind, FORMS, listed=0) or f"; write any other block as `type: {kind}`"
        return {}, [f"unknown block `{kind}`{hint}"]
    return _expand(kind, form, written)


def _expand(kind: str, form: Form, written: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    value = written[kind]
    rest = {key: each for key, each in written.items() if key != kind}
    problems: list[str] = []
    if isinstance(value, dict) and not _is_content(kind, value):
        fields = value
    elif form.main is None or (form.takes == "text" and not isinstance(value, str)):
        return {}, [f"`{kind}` takes {form.takes}"]
    else:
        fields = {form.main: value}
    problems += [f"`{key}` is written twice in `{kind}`" for key in rest if key in fields]
    block: dict[str, Any] = {"type": kind, **form.defaults, **fields, **rest}
    problems += [f"`{kind}` needs `{name}`" for name in form.required if name not in block]
    problems += [
        f"`{key}` of `{kind}` is a text; put it in quotes"
        for key in sorted(_TEXTS & block.keys())
        if not isinstance(block[key], str)
    ]
    if "input" in form.defaults and not isinstance(block["input"], dict):
        problems.append(f"`input` of `{kind}` is a mapping; write another kind with `type: {kind}`")
    return _completed(block), problems


def _is_content(kind: str, value: dict[str, Any]) -> bool:
    """Whether a mapping is itself the content of a result (`{type: web_fetch_result, ...}`)."""
    return FORMS[kind].main == "content" and value.get("type", kind) != kind


def _completed(block: dict[str, Any]) -> dict[str, Any]:
    content = block.get("content")
    if block["type"] == "mcp_tool_result" and isinstance(content, str):
        block["content"] = [{"type": "text", "text": content}]
    if block["type"] == "web_search_tool_result" and isinstance(content, list):
        block["content"] = [_hit(item) if isinstance(item, dict) else item for item in content]
    return block


def _hit(item: dict[str, Any]) -> dict[str, Any]:
    return item if "type" in item else {"type": "web_search_result", **item}
