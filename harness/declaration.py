"""Collects what a loop's owner declares: `[tool.loop-harness]`, attributes of the callable, options.

Later ones win, entry by entry. All problems are found at once, each with the nearest name.
"""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from .own_tools import parse_tool
from .project import Project, ProjectError, find
from .turn import EXPOSABLE, POLICIES, STATUSES, Declaration

FIELDS: tuple[str, ...] = Declaration.__struct_fields__
MAPPINGS = ("policies", "caps", "keys", "raises")
CAPS = ("iterations", "wall_clock", "pauses")
KEYS = ("checkpoint", "cancel")
TOOLS = ("turn", "own", "none")
OPTIONS = ("loop", "command", "http", "scenarios", "profile", "baseline", "seed", "jobs", "strict")
"""What somebody may want to declare, and is said to a run."""

Problem: TypeAlias = tuple[tuple[str, ...], str]
"""The keys that lead to what is wrong, and what is."""


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
    try:
        project = find(folder or Path.cwd())
    except ProjectError as error:
        problems.append(str(error))
        project = Project(None, "", {})
    sources: list[tuple[Callable[..., str], Mapping[str, Any]]] = [
        (project.place, project.table),
        (lambda *_: place, declared),
        (lambda *_: "the options", msgspec.to_builtins(options) if options else {}),
    ]
    for placed, source in sources:
        problems += [f"{placed(*keys)}: {problem}" for keys, problem in _problems(source)]
        for name, value in source.items():
            both = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
            merged[name] = {**merged[name], **value} if both else value
    if problems:
        raise DeclarationError(problems)
    return msgspec.convert(merged, Declaration)


def problems_of(values: Mapping[str, Any]) -> list[str]:
    """What is wrong with a declaration by itself."""
    return [problem for _, problem in _problems(values)]


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


def _problems(source: Mapping[str, Any]) -> Iterator[Problem]:
    for name, value in source.items():
        if name in OPTIONS:
            yield (name,), f"{name!r} is nothing to declare; say it to the run: --{name}"
        elif name not in FIELDS:
            yield (name,), f"{name!r} is not something to declare{_near(name, FIELDS)}"
        elif name in MAPPINGS and not isinstance(value, Mapping):
            yield (name,), f"{name} is a mapping, not {value!r}"
        elif name in MAPPINGS:
            for key, item in value.items():
                if what := _entry(name, key, item):
                    yield (name, str(key)), f"{name}.{key}: {what}"
        elif name == "tools" and value not in TOOLS:
            yield (name,), f"tools: {_one_of(value, TOOLS)}"
        elif name == "own_tool":
            yield from (((name,), what) for what in _own_tool(value))
        elif name == "exposes":
            yield from (((name,), what) for what in _exposes(value))


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
    right = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf
    return "" if right else f"a number above 0, not {value!r}"


def _near(name: object, known: Collection[str]) -> str:
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
