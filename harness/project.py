"""`[tool.loop-harness]` of the nearest pyproject.toml, and where in it each key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

TABLE = ("tool", "loop-harness")
_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?")
_NAME = r"""(?:[\w-]+|"[^"]*"|'[^']*')"""
_KEY = re.compile(rf"(?:^|[{{,])\s*({_NAME}(?:\s*\.\s*{_NAME})*)\s*=")
_AT = re.compile(r" \(at line (\d+), column (\d+)\)$")


class ProjectError(Exception):
    """The file cannot be used: the message says where and why."""


class Project(NamedTuple):
    """What a project's file says of its loop."""

    path: Path | None
    """None where there is no such file."""
    text: str
    table: dict[str, Any]

    def place(self, *keys: str) -> str:
        """`pyproject.toml:12:3`, where the value of these keys, or of as many as are found, is written."""
        wanted = (*TABLE, *keys)
        best, line, column = 0, 1, 1
        for written, number, begins in _keys(self.text):
            if len(written) > best and wanted[: len(written)] == written:
                best, line, column = len(written), number, begins
        return f"{self.path}:{line}:{column}"


def find(folder: Path) -> Project:
    """The project that a folder belongs to. Raises `ProjectError`."""
    for parent in (folder.resolve(), *folder.resolve().parents):
        path = parent / "pyproject.toml"
        if path.is_file():
            return _read(path)
    return Project(None, "", {})


def _read(path: Path) -> Project:
    try:
        text = path.read_bytes().decode("utf-8")
        tool = tomllib.loads(text).get("tool")
    except OSError as error:
        raise ProjectError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        byte = error.object[error.start]
        raise ProjectError(f"{path}:{line}:{column}: byte 0x{byte:02x} is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        place = f"{at[1]}:{at[2]}" if at else f"{max(1, len(text.splitlines()))}:1"
        raise ProjectError(f"{path}:{place}: not TOML: {_AT.sub('', str(error))}") from error
    tool = tool if isinstance(tool, dict) else {}
    project = Project(path, text, {})
    if "loop_harness" in tool:
        place = project._replace(text=text.replace("loop_harness", "loop-harness", 1)).place()
        raise ProjectError(f"{place}: [tool.loop_harness] is read by nobody; write [tool.loop-harness]")
    table = tool.get("loop-harness", {})
    if not isinstance(table, dict):
        raise ProjectError(f"{project.place()}: [tool.loop-harness] is a table, not {table!r}")
    return project._replace(table=table)


def _keys(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Each table and key with its line and column. Behind the first key of a line are those of its value."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            table = _parts(header[1])
            yield table, number, header.start(1)
            continue
        outer = table
        for key in _KEY.finditer(line):
            written = (*outer, *_parts(key[1]))
            outer = outer if len(outer) > len(table) else written
            yield written, number, key.start(1) + 1


def _parts(written: str) -> tuple[str, ...]:
    """A key as it is written, dots and quotes and all, taken apart."""
    return tuple(part.strip("\"'") for part in re.findall(_NAME, written))
