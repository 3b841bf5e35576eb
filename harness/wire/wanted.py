"""What a request asked for that shows in its reply: some fields are there for those alone who asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

_VERSION = re.compile(r"claude-[a-z]+-(\d)(?:-(\d)(?!\d))?")

CONTEXT_BETAS = ("context-management-2025-06-27", "compact-2026-01-12")
"""Replies to requests with one of these say which edits were applied."""

BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""Replies to requests with this say what was done to their thinking blocks."""


ESTIMATE_BETA = "thinking-token-count-2026-05-13"
"""Streams for requests with this estimate the tokens of thinking on the way."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What shows in a reply of what its request asked for."""

    model: str = ""
    max_tokens: int | None = None
    thinking: bool = False
    """Thinking is counted apart: it was asked for, or the model thinks without being asked."""
    geo: str = "global"
    speed: str | None = None
    caching: Mapping[str, Any] | None = None
    """The `cache_control` of the request itself, which stands for one on its last block."""
    edits: bool = False
    """Whether the reply tells which edits to the context were applied."""
    iterations: bool = False
    """Whether the usage lists each time the model was asked."""
    advisor: str | None = None
    """The model that gives advice."""
    estimates: bool = False
    """Whether fragments of thinking say about how many tokens it has so far."""
    bindings: bool = False
    """Whether the reply tells what was done to thinking blocks."""
    container: str | None = None
    """The container to go on with."""

    @classmethod
    def of(cls, body: Any, headers: Mapping[str, str]) -> Wanted:
        """What a request with this body and these headers wants."""
        asked: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        betas = headers.get("anthropic-beta", "")
        model = str(asked.get("model", ""))
        caching = asked.get("cache_control")
        limit = asked.get("max_tokens")
        return cls(
            model=model,
            max_tokens=limit if isinstance(limit, int) else None,
            thinking=_thinks(asked.get("thinking"), model),
            geo=str(asked.get("inference_geo") or _geo(model)),
            speed=asked["speed"] if isinstance(asked.get("speed"), str) else None,
            caching=caching if isinstance(caching, Mapping) else None,
            edits="context_management" in asked or any(beta in betas for beta in CONTEXT_BETAS),
            iterations=_lists_iterations(asked),
            advisor=_advisor(asked),
            estimates=ESTIMATE_BETA in betas,
            bindings=BINDING_BETA in betas,
            container=_container(asked.get("container")),
        )


def _thinks(asked: Any, model: str) -> bool:
    if isinstance(asked, Mapping) and "type" in asked:
        return bool(asked["type"] != "disabled")
    # Recorded: 4.6 does not think unless asked, 4.8 and the fifth generation do.
    return _version(model) >= (4, 8)


def _lists_iterations(asked: Mapping[str, Any]) -> bool:
    """Recorded for requests that may compact, hold a budget for a whole task, or ask for advice."""
    management, config = asked.get("context_management"), asked.get("output_config")
    edits = management.get("edits") if isinstance(management, Mapping) else None
    kinds = [str(edit.get("type")) for edit in edits or () if isinstance(edit, Mapping)]
    budget = isinstance(config, Mapping) and config.get("task_budget") is not None
    return budget or any(kind.startswith("compact_") for kind in kinds) or _advisor(asked) is not None


def _advisor(asked: Mapping[str, Any]) -> str | None:
    tools = asked.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, Mapping) and str(tool.get("type")).startswith("advisor_"):
            return str(tool.get("model", ""))
    return None


def _geo(model: str) -> str:
    """Where a model is served: the older ones do not say."""
    return "global" if _version(model) >= (4, 6) else "not_available"


def _version(model: str) -> tuple[int, int]:
    """What the name says; a name without a version is taken for today's."""
    found = _VERSION.match(model)
    if found:
        return int(found[1]), int(found[2] or 0)
    return (3, 0) if re.match(r"claude-[\d]", model) else (9, 9)


def _container(asked: Any) -> str | None:
    if isinstance(asked, Mapping):
        asked = asked.get("id")
    return asked if isinstance(asked, str) else None
