"""The content blocks of the Messages API: which there are, their fields, and which belong together.

Only names the API knows stand here. A block of another type is carried as it is, never refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Block: TypeAlias = Mapping[str, Any]

STOP_REASONS: frozenset[str] = frozenset(
    {
        "end_turn",
        "max_tokens",
        "stop_sequence",
        "tool_use",
        "pause_turn",
        "refusal",
        "model_context_window_exceeded",
        "compaction",
    }
)
"""Those of today; a new one may come any day."""

CLIENT_CALL = "tool_use"
CLIENT_RESULT = "tool_result"
MCP_CALL, MCP_RESULT = "mcp_tool_use", "mcp_tool_result"
SERVER_CALL = "server_tool_use"
SERVER_CALLS = frozenset({SERVER_CALL, MCP_CALL})
CALLS = SERVER_CALLS | {CLIENT_CALL}
THINKING = frozenset({"thinking", "redacted_thinking"})

RESULT_OF_SERVER_TOOL: dict[str, str] = {
    "web_search": "web_search_tool_result",
    "web_fetch": "web_fetch_tool_result",
    "code_execution": "code_execution_tool_result",
    "bash_code_execution": "bash_code_execution_tool_result",
    "text_editor_code_execution": "text_editor_code_execution_tool_result",
    "tool_search_tool_regex": "tool_search_tool_result",
    "tool_search_tool_bm25": "tool_search_tool_result",
    "advisor": "advisor_tool_result",
}
"""Name of a server tool to the type of its result block."""

SERVER_RESULTS: frozenset[str] = frozenset({*RESULT_OF_SERVER_TOOL.values(), MCP_RESULT})

ID_PREFIX: dict[str, str] = {CLIENT_CALL: "toolu_", SERVER_CALL: "srvtoolu_", MCP_CALL: "mcptoolu_"}
"""How the id of each kind of call begins."""

_CALL = ("type", "id", "name", "input")
_RESULT = ("type", "tool_use_id", "content", "cache_control")

FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("citations", "type", "text", "cache_control"),
    "thinking": ("type", "thinking", "signature"),
    "redacted_thinking": ("type", "data"),
    "tool_use": (*_CALL, "caller", "toolset_name", "cache_control"),
    "server_tool_use": (*_CALL, "caller", "cache_control"),
    "mcp_tool_use": (*_CALL, "server_name", "cache_control"),
    "mcp_tool_result": ("type", "tool_use_id", "is_error", "content", "cache_control"),
    "mcp_tool_listing": ("type", "mcp_server_name", "tools"),
    "web_search_tool_result": (*_RESULT, "caller"),
    "web_fetch_tool_result": (*_RESULT, "caller"),
    "code_execution_tool_result": _RESULT,
    "bash_code_execution_tool_result": _RESULT,
    "text_editor_code_execution_tool_result": _RESULT,
    "tool_search_tool_result": _RESULT,
    "advisor_tool_result": _RESULT,
    "tool_result": ("type", "tool_use_id", "content", "is_error", "toolset_name", "cache_control"),
    "image": ("type", "source", "transformations", "cache_control"),
    "document": ("type", "source", "title", "context", "citations", "cache_control"),
    "search_result": ("type", "source", "title", "content", "citations", "cache_control"),
    "container_upload": ("type", "file_id", "cache_control"),
    "compaction": ("type", "content", "encrypted_content", "signature", "tool_changes", "cache_control"),
    "fallback": ("type", "from", "to", "trigger"),
    "tool_addition": ("type", "tool", "cache_control"),
    "tool_removal": ("type", "tool", "cache_control"),
    "connector_text": ("type", "text", "connector_text", "signature", "citations", "cache_control"),
    "mid_conv_system": ("type", "text", "content", "cache_control"),
}
"""Fields by block type, in the order the wire shows them."""

REQUIRED: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input"),
    "server_tool_use": ("id", "name", "input"),
    "mcp_tool_use": ("id", "name", "input", "server_name"),
    "tool_result": ("tool_use_id",),
    "image": ("source",),
    "document": ("source",),
    **dict.fromkeys(SERVER_RESULTS, ("tool_use_id",)),
}
"""Fields a request must give in each block."""


def is_client_call(block: Block) -> bool:
    """Whether the client has to run and answer this block."""
    return block.get("type") == CLIENT_CALL


def is_server_call(block: Block) -> bool:
    """Whether the provider's side runs and answers this block."""
    return block.get("type") in SERVER_CALLS


def is_server_result(block: Block) -> bool:
    """Whether this block answers a call that the provider's side ran, of a kind known or to come."""
    kind = block.get("type")
    return isinstance(kind, str) and kind != CLIENT_RESULT and kind.endswith("_tool_result")


def is_server_side(block: Block) -> bool:
    """Whether this block belongs to a tool that the client neither runs nor answers."""
    return is_server_call(block) or is_server_result(block)


def result_type(call: Block) -> str | None:
    """The type of the block that answers `call`; None where the tool is not known."""
    match call.get("type"):
        case "tool_use":
            return CLIENT_RESULT
        case "mcp_tool_use":
            return MCP_RESULT
        case "server_tool_use":
            return RESULT_OF_SERVER_TOOL.get(str(call.get("name")))
        case _:
            return None


def open_server_calls(content: Iterable[Block]) -> list[Block]:
    """The server calls in `content` that no later block of it answers, oldest first."""
    waiting: dict[str, Block] = {}
    for block in content:
        if is_server_call(block):
            waiting[str(block.get("id"))] = block
        elif is_server_result(block):
            waiting.pop(str(block.get("tool_use_id")), None)
    return list(waiting.values())


def as_blocks(content: Any) -> list[dict[str, Any]]:
    """Message content as a list of blocks: a string equals one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return []


def ordered(block: Block) -> dict[str, Any]:
    """`block` with its keys in the order of the wire; unknown keys follow as written."""
    known = FIELDS.get(str(block.get("type")), ("type",))
    front = {key: block[key] for key in known if key in block}
    return {**front, **{key: value for key, value in block.items() if key not in front}}
