"""Collects what a loop's owner declares: `[tool.loop-harness]`, attributes of the callable, options.

Later ones win, entry by entry. All problems are found at once, each with the nearest name.
"""

from __future__ import annotations

import difflib
import inspect
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from .own_tools import parse_tool
from .turn import EXPOSABLE, POLICIES, STATUSES, Declaration

FIELDS: tuple[str, ...] = Declaration.__struct_fields__
MAPPINGS = ("policies", "caps", "keys", "raises")
CAPS = ("iterations", "wall_clock", "pauses")
KEYS = ("checkpoint", "cancel")
TOOLS = ("turn", "own", "none")
OTHERS = ("loop", "scenarios", "select", "baseline", "seed", "jobs", "strict", "in-process")
"""Keys of `[tool.loop-harness]` that are options of a run and declare nothing."""


class DeclarationError(Exception):
    """What is declared cannot be meant: one problem a line, each with its place."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def attributes(function: Callable[..., Any]) -> dict[str, Any]:
    """What the callable's attributes declare: `declaration`, or `policies`, `caps` and so on, one by one.

    An object may have attributes of these names that mean something else (`tools`, `keys`), so only values of
    the declared form count there. On a function nothing else can be meant.
    """
    whole = _plain(getattr(function, "declaration", None))
    found: dict[str, Any] = dict(whole) if isinstance(whole, Mapping) else {}
    for name in FIELDS:
        value = _plain(getattr(function, name, None))
        if value is not None and (inspect.isfunction(function) or _has_form(name, value)):
            found[name] = value
    return found


def collect(
    declared: Mapping[str, Any],
    options: Declaration | None = None,
    folder: Path | None = None,
    place: str = "the loop's attributes",
) -> Declaration:
    """Put together the declaration of a loop, and check all of it.

    It comes from the nearest pyproject.toml from `folder` (the current one) upwards, then from the attributes
    in `declared` (which `place` names), then from the options. Raises `DeclarationError` with every problem.
    """
    problems: list[str] = []
    merged: dict[str, Any] = {}
    for origin, source in (
        _from_project(folder or Path.cwd(), problems),
        (place, declared),
        ("the options", msgspec.to_builtins(options) if options else {}),
    ):
        problems += [f"{origin}: {problem}" for problem in _problems(source)]
        for name, value in source.items():
            both = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
            merged[name] = {**merged[name], **value} if both else value
    if problems:
        raise DeclarationError(problems)
    return msgspec.convert(merged, Declaration)


def _plain(value: Any) -> Any:
    """Mappings of builtins; an exception class stands for its name."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    return value.__name__ if isinstance(value, type) else value


def _has_form(name: str, value: object) -> bool:
    if name in MAPPINGS:
        return isinstance(value, dict)
    if name == "own_tool":
        return False  # too little to tell it by: it is declared as a whole, or by an option
    return value in TOOLS if name == "tools" and isinstance(value, str) else _all_exposable(name, value)


def _all_exposable(name: str, value: object) -> bool:
    return name == "exposes" and isinstance(value, list) and all(item in EXPOSABLE for item in value)


def _from_project(folder: Path, problems: list[str]) -> tuple[str, dict[str, Any]]:
    for parent in (folder.resolve(), *folder.resolve().parents):
        path = parent / "pyproject.toml"
        if not path.is_file():
            continue
        try:
            tool = tomllib.loads(path.read_text("utf-8")).get("tool")
            table = tool.get("loop-harness", {}) if isinstance(tool, dict) else {}
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            problems.append(f"{path}: cannot be read: {error}")
            table = {}
        if not isinstance(table, dict):
            problems.append(f"{path}: [tool.loop-harness] is a table")
            table = {}
        return f"{path}: [tool.loop-harness]", {n: v for n, v in table.items() if n not in OTHERS}
    return "pyproject.toml", {}


def _problems(source: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for name, value in source.items():
        if name not in FIELDS:
            found.append(f"{name!r} is not something to declare{_near(name, FIELDS)}")
        elif name in MAPPINGS and not isinstance(value, Mapping):
            found.append(f"{name} is a mapping, not {value!r}")
        elif name in MAPPINGS:
            found += [
                f"{name}.{key}: {what}" for key, item in value.items() if (what := _entry(name, key, item))
            ]
        elif name == "tools" and value not in TOOLS:
            found.append(f"tools: {_one_of(value, TOOLS)}")
        elif name == "own_tool":
            found += _own_tool(value)
        elif name == "exposes":
            found += _exposes(value)
    return found


def _own_tool(value: object) -> list[str]:
    if not isinstance(value, str):
        return [f"own_tool: the name of a tool, not {value!r}"]
    try:
        parse_tool(value)
    except ValueError as error:
        return [f"own_tool: {error}"]
    return []


def _exposes(value: object) -> list[str]:
    if not isinstance(value, list):
        return [f"exposes is a list, not {value!r}"]
    wrong = [_one_of(item, tuple(EXPOSABLE)) for item in value]
    return [f"exposes: {what}" for what in wrong if what]


def _entry(name: str, key: object, value: object) -> str:
    """What is wrong with one entry of one of the mappings, or nothing."""
    match name:
        case "policies":
            return _unknown(key, POLICIES) or _one_of(value, POLICIES[str(key)])
        case "caps":
            return _unknown(key, CAPS) or _positive(value)
        case "keys":
            return _unknown(key, KEYS) or ("" if isinstance(value, str) and value else "a pattern, as text")
        case _:
            return _one_of(value, STATUSES)


def _unknown(key: object, known: Collection[str]) -> str:
    return "" if key in known else f"unknown{_near(key, known)} (one of {', '.join(known)})"


def _one_of(value: object, known: Collection[str]) -> str:
    return "" if value in known else f"one of {', '.join(known)}, not {value!r}{_near(value, known)}"


def _positive(value: object) -> str:
    right = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return "" if right else f"a number above 0, not {value!r}"


def _near(name: object, known: Collection[str]) -> str:
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
