"""Reading a JSON report again, to render it as any other kind, to compare it, or to merge it with others."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..scenario.problems import missing
from .model import SCHEMA, Report
from .packed import unpacked


class ReportError(Exception):
    """A stored report cannot be read: the message says where and why."""


class _Head(msgspec.Struct):
    schema: int


def load(path: Path) -> Report:
    """The report stored at `path`. Raises `ReportError`."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise ReportError(f"{path}: {missing(path, 'file').message}") from error
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    return decode(data, str(path))


def decode(data: bytes | str, name: str = "the report") -> Report:
    """The report in `data`; `name` is what an error calls it. Raises `ReportError`."""
    try:
        schema = msgspec.json.decode(data, type=_Head).schema
    except msgspec.MsgspecError as error:
        raise ReportError(f"{name}: not a JSON report of loop-harness: {error}") from error
    if schema != SCHEMA:
        other = "a newer" if schema > SCHEMA else "an older"
        raise ReportError(
            f"{name}: written by {other} loop-harness (schema {schema}, this one reads {SCHEMA}); "
            "judge the loop again, or use that version"
        )
    try:
        report = msgspec.json.decode(data, type=Report)
    except msgspec.MsgspecError as error:
        raise ReportError(f"{name}: not a JSON report of loop-harness: {error}") from error
    for loop in report.loops:
        loop.results = [
            msgspec.structs.replace(result, events=unpacked(result.events)) for result in loop.results
        ]
    return report
