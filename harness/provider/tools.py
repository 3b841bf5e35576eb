"""Which tools a request offers, and which of them a scripted call means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

SERVER_TOOLS = ("web_search", "web_fetch", "code_execution", "advisor", "tool_search_tool", "mcp_toolset")
"""How the types begin of tools that the provider's side runs."""


def client_tools(tools: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of the tools that the client would have to run."""
    return [
        str(tool["name"])
        for tool in tools
        if "name" in tool and not str(tool.get("type") or "custom").startswith(SERVER_TOOLS)
    ]


def bind(name: str, offered: Iterable[str]) -> str:
    """The offered tool that a scripted call of `name` means, else `name`: a tool that does not exist.

    Loops rename tools to fit their own rules (`lookup` becomes `functions_lookup` or `Lookup`).
    """
    names = list(offered)
    if name in names:
        return name
    wanted = _plain(name)
    for candidates in (
        [other for other in names if _plain(other) == wanted],
        [other for other in names if re.search(rf"[^a-z0-9]{re.escape(name.lower())}$", other.lower())],
    ):
        if len(candidates) == 1:
            return candidates[0]
    return name


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
