"""Loops with tools of their own, or the turn's by other names: which of them a scenario's tool stands for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from .turn import Declaration


class OwnTool(msgspec.Struct, frozen=True):
    """The tool a scripted call is turned into. Without a name none is known, and no call can be made."""

    name: str = ""
    input: dict[str, Any] | None = None
    """What it is called with; None: what the scenario's tool is called with."""


def parse_tool(written: str) -> OwnTool:
    """`NAME`, or `NAME={"its": "input"}`; nothing is no name. Raises `ValueError` with what is wrong."""
    name, equals, given = written.partition("=")
    if not name and written:
        raise ValueError(f'{written!r}: write NAME, or NAME={{"its": "input"}}')
    if not equals:
        return OwnTool(name)
    try:
        value = json.loads(given)
    except ValueError as error:
        raise ValueError(f"{given!r} is not JSON: {error}") from None
    if isinstance(value, dict):
        return OwnTool(name, value)
    raise ValueError(f"{given!r} is no input of a tool: write an object")


def own_tool(declared: Declaration) -> OwnTool | None:
    """What a loop declares about its own tools; None where it offers those of the turn."""
    return parse_tool(declared.own_tool) if declared.tools == "own" or declared.own_tool else None


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
