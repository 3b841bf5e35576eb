"""Histories that were stored: which files they are, and reading one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from .history import SCHEMA, AnyEvent, Began, HistoryError, decode_event
from .scenario.problems import missing

SUFFIX = ".ndjson"
"""How the names of stored histories end."""


def histories_among(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The histories that paths name or lead to, and the paths that may lead to recordings as well."""
    named = [path for path in paths if path.suffix == SUFFIX]
    others = [path for path in paths if path not in named]
    return named + [file for path in others for file in sorted(path.rglob(f"*{SUFFIX}"))], others


def read_history(path: Path) -> list[AnyEvent]:
    """The events stored at `path`; the half line of a killed run is left out.

    Raises `HistoryError` with `path:line` when a whole line is not an event.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError as error:
        raise HistoryError(f"{path}: {missing(path, 'file').message}") from error
    except OSError as error:
        raise HistoryError(f"{path}: {error.strerror}") from error
    events: list[AnyEvent] = []
    for number, line in enumerate(lines[:-1], start=1):
        try:
            events.append(decode_event(line))
        except msgspec.MsgspecError as error:
            raise HistoryError(f"{path}:{number}: not an event of a history: {error}") from error
    if not events or not isinstance(events[0], Began):
        raise HistoryError(f"{path}:1: a history starts with a 'began' event")
    if (newer := events[0].schema) > SCHEMA:
        raise HistoryError(f"{path}:1: written by a newer loop-harness (schema {newer}, known is {SCHEMA})")
    return events
