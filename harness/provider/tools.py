"""Which tools a request offers, and which of them a scripted call means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Self, TypeAlias

from ..own_tools import OwnTool, bind
from ..turn import ToolSpec

Rule: TypeAlias = Mapping[str, dict[str, Any] | None]
"""Patterns of names of a loop's own tools, and with what each is called; None: with the scenario's input."""

SERVER_TOOLS = ("web_search", "web_fetch", "code_execution", "advisor", "tool_search_tool", "mcp_toolset")
"""How the types begin of tools that the provider's side runs."""


def client_tools(tools: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of the tools that the client would have to run."""
    return [
        str(tool["name"])
        for tool in tools
        if "name" in tool and not str(tool.get("type") or "custom").startswith(SERVER_TOOLS)
    ]


class Binder:
    """Knows which of the tools that a request offers the scenario's calls mean."""

    def __init__(self, scripted: Iterable[str], rules: Mapping[str, Rule] | None = None) -> None:
        """`scripted`: names of the scenario's tools. `rules`: what may be called in their place."""
        self._scripted = frozenset(scripted)
        self._rules = rules or {}
        self.own: OwnTool | None = None
        """The loop offers its own tools in their place, and this is the one to call."""

    @classmethod
    def of(cls, tools: Iterable[ToolSpec]) -> Self:
        """Of a scenario's tools."""
        specs = list(tools)
        return cls((tool.name for tool in specs), {tool.name: tool.own for tool in specs if tool.own})

    @property
    def always(self) -> bool:
        """Whether every request of the conversation is known to offer tools."""
        return self.own is not None and bool(self.own.name)

    def offered_in(self, names: Iterable[str]) -> bool:
        """Whether a request that offers these tools belongs to the conversation."""
        offered = list(names)
        if self.own is not None and offered:
            ruled = any(self._in_place_of(name, offered)[0] for name in self._rules)
            return not self.own.name or self.own.name in offered or ruled
        return any(bind(name, offered) in offered for name in self._scripted)

    def bind(self, call: dict[str, Any], offered: Iterable[str]) -> None:
        """Turn a scripted call into one of a tool that is offered, where one is meant."""
        names = list(offered)
        call["name"] = bind(str(call.get("name", "")), names)
        if call["name"] not in self._scripted - set(names) or self.own is None:
            return
        name, given = self._in_place_of(call["name"], names)
        if name:
            call["name"] = name
        if given is not None:
            call["input"] = dict(given)

    def _in_place_of(self, scripted: str, names: Sequence[str]) -> tuple[str, dict[str, Any] | None]:
        """The tool of the loop's own to call, and with what: the scenario's rule goes before the run's."""
        for pattern, given in self._rules.get(scripted, {}).items():
            if found := next((name for name in names if fnmatchcase(name, pattern)), ""):
                return found, given
        named = self.own is not None and self.own.name in names
        return (self.own.name, self.own.input) if named and self.own else ("", None)

    def can_bind(self, call: Mapping[str, Any], offered: Iterable[str]) -> bool:
        """Whether this call can be made with what is offered. One of a tool nobody has always can."""
        names = list(offered)
        if self.own is None or call.get("name") not in self._scripted:
            return bool(names)
        bound = dict(call)
        self.bind(bound, names)
        return bound["name"] in names
