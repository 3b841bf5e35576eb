"""Which tools a request offers, and which of them a scripted call means."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..own_tools import OwnTool

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


class Binder:
    """Knows which of the tools that a request offers the scenario's calls mean."""

    def __init__(self, scripted: Iterable[str]) -> None:
        """`scripted`: names of the scenario's tools."""
        self._scripted = frozenset(scripted)
        self.own: OwnTool | None = None
        """The loop offers its own tools in their place, and this is the one to call."""

    @property
    def always(self) -> bool:
        """Whether every request of the conversation is known to offer tools."""
        return self.own is not None and bool(self.own.name)

    def offered_in(self, names: Iterable[str]) -> bool:
        """Whether a request that offers these tools belongs to the conversation."""
        offered = list(names)
        if self.own is not None and offered:
            return not self.own.name or self.own.name in offered
        return any(bind(name, offered) in offered for name in self._scripted)

    def bind(self, call: dict[str, Any], offered: Iterable[str]) -> None:
        """Turn a scripted call into one of a tool that is offered, where one is meant."""
        names = list(offered)
        call["name"] = bind(str(call.get("name", "")), names)
        if call["name"] in self._scripted - set(names) and self.own and self.own.name in names:
            call["name"] = self.own.name
            if self.own.input is not None:
                call["input"] = dict(self.own.input)

    def can_bind(self, call: Mapping[str, Any], offered: Iterable[str]) -> bool:
        """Whether this call can be made with what is offered. One of a tool nobody has always can."""
        names = list(offered)
        if self.own is None or call.get("name") not in self._scripted:
            return bool(names)
        bound = dict(call)
        self.bind(bound, names)
        return bound["name"] in names


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
