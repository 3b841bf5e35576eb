"""Rules about the tools of a request and about cache marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...wire.blocks import CLIENT_CALL, as_blocks
from ..facts import Facts
from ..memory import marks
from .types import Breach

MOST_MARKS = 4
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_BAD_NAME = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"


def tool_name_malformed(facts: Facts) -> Iterator[str]:
    """Names are words, those of tools and those of calls sent back."""
    for index, tool in enumerate(facts.body.get("tools") or []):
        if tool.get("type") in (None, "custom") and not _is_name(tool.get("name", "x")):
            yield f"tools.{index}.custom.name: {_BAD_NAME}"
    for path, block in facts.blocks:
        # What the server itself called so, it takes back.
        known = block.get("type") != CLIENT_CALL or facts.served.owner(block) is not None
        if not known and not _is_name(block.get("name", "x")):
            yield f"{path}.tool_use.name: {_BAD_NAME}"


def _is_name(name: Any) -> bool:
    return not isinstance(name, str) or _NAME.fullmatch(name) is not None


def tool_names_repeated(facts: Facts) -> Iterator[str]:
    """A name stands for one tool."""
    names = [tool["name"] for tool in facts.tools if isinstance(tool.get("name"), str)]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."


def every_tool_deferred(facts: Facts) -> Iterator[str]:
    """Something has to be there to begin with."""
    if facts.tools and all(tool.get("defer_loading") is True for tool in facts.tools):
        yield "All tools have defer_loading: true. At least one tool must be non-deferred."


def deferred_tool_cached(facts: Facts) -> Iterator[str]:
    """What is not loaded cannot be cached."""
    for index, tool in enumerate(facts.tools):
        if tool.get("defer_loading") is True and tool.get("cache_control") is not None:
            yield f"tools.{index}: cache_control cannot be combined with defer_loading"


def schema_circular(facts: Facts) -> Iterator[str]:
    """Code cannot call what refers to itself."""
    for index, tool in enumerate(facts.tools):
        callers = tool.get("allowed_callers")
        if isinstance(callers, list) and any(str(caller).startswith("code_execution") for caller in callers):
            schema = tool.get("input_schema")
            if isinstance(schema, dict) and _refers_to_itself(schema, schema, ()):
                yield f"tools.{index}.custom.input_schema: Circular $ref detected"


def _refers_to_itself(part: Any, whole: dict[str, Any], seen: tuple[str, ...]) -> bool:
    if isinstance(part, list):
        return any(_refers_to_itself(item, whole, seen) for item in part)
    if not isinstance(part, dict):
        return False
    ref = part.get("$ref")
    if isinstance(ref, str) and ref.startswith("#"):
        return ref in seen or _refers_to_itself(_at(whole, ref), whole, (*seen, ref))
    return any(_refers_to_itself(value, whole, seen) for value in part.values())


def _at(whole: Any, ref: str) -> Any:
    for step in ref.split("/")[1:]:
        whole = whole.get(step) if isinstance(whole, dict) else None
    return whole


def domains_both_ways(facts: Facts) -> Iterator[str]:
    """Domains are allowed or blocked, not both."""
    for index, tool in enumerate(facts.tools):
        if tool.get("allowed_domains") and tool.get("blocked_domains"):
            yield f"tools.{index}: allowed_domains and blocked_domains cannot be combined"


def too_many_marks(facts: Facts) -> Iterator[str]:
    """Four places can be cached up to."""
    found = marks(facts.tools) + marks(facts.conversation.system)
    found += sum(count for index, count in facts.accepted.marks.items() if index < facts.start)
    found += sum(marks(said.content) for said in facts.said)
    if found > MOST_MARKS:
        yield f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {found}."


def empty_text_marked(facts: Facts) -> Iterator[str]:
    """Nothing cannot be cached."""
    for path, block in facts.blocks:
        if block.get("type") == "text" and block.get("text") == "" and block.get("cache_control") is not None:
            yield f"{path}.text: cache_control cannot be set for empty text blocks"


def _known_tools(facts: Facts) -> set[str] | None:
    """Names that may be referred to; None where a server's toolset has names nobody knows here."""
    names: set[str] = set()
    for tool in facts.tools:
        if "toolset" in str(tool.get("type")):
            return None
        names.add(str(tool.get("name")))
    for message in facts.conversation.messages:
        if message.get("role") == "system":
            for block in as_blocks(message.get("content")):
                names.add(str(_definition(block.get("tool")).get("name")))
    return names


def reference_unresolved(facts: Facts) -> Iterator[str]:
    """A tool that was found has to be there still."""
    named = [name for _, block in facts.blocks for name in _referred(block)]
    known = _known_tools(facts) if named else None
    for name in named if known is not None else []:
        if known is not None and name not in known:
            yield f"Tool reference '{name}' not found in available tools"


def _referred(block: dict[str, Any]) -> Iterator[str]:
    content = block.get("content")
    if block.get("type") == "tool_search_tool_result" and isinstance(content, dict):
        content = content.get("tool_references")
    elif block.get("type") != "tool_result":
        return
    for item in content if isinstance(content, list) else []:
        if isinstance(item, dict) and item.get("type") == "tool_reference":
            yield str(item.get("tool_name"))


def _definition(tool: Any) -> dict[str, Any]:
    """The tool that a change brings along; empty where it only names one."""
    definition = tool.get("definition") if isinstance(tool, dict) else None
    return definition if isinstance(definition, dict) else {}


def _changes(facts: Facts) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, block in facts.blocks:
        tool = block.get("tool")
        if block.get("type") in ("tool_addition", "tool_removal") and isinstance(tool, dict):
            yield path, tool


def changed_tool_unresolved(facts: Facts) -> Iterator[Breach]:
    """A tool that is made available by its name is one of the request's."""
    for path, tool in _changes(facts):
        known = _known_tools(facts)
        name = tool.get("name")
        if tool.get("type") == "tool_reference" and known is not None and name not in known:
            yield Breach(
                f"{path}: the tool reference {name!r} is not defined at this position in the conversation",
                {"error_code": "tool_reference_unresolved"},
            )


def changed_tool_conflicts(facts: Facts) -> Iterator[Breach]:
    """A tool that comes later does not take the name of one of another kind."""
    kinds = {tool.get("name"): tool.get("type") or "custom" for tool in facts.tools}
    for path, tool in _changes(facts):
        name, kind = _definition(tool).get("name"), _definition(tool).get("type") or "custom"
        if isinstance(name, str) and kinds.get(name, kind) != kind:
            yield Breach(
                f"{path}: the name {name!r} is already held by an available tool of another kind",
                {"error_code": "tool_name_conflict"},
            )
