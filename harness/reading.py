"""Reads a history that was stored."""

from __future__ import annotations

from pathlib import Path

import msgspec

from .history import SCHEMA, AnyEvent, Began, HistoryError, decode_event


def read_history(path: Path) -> list[AnyEvent]:
    """The events stored at `path`; the half line of a killed run is left out.

    Raises `HistoryError` with `path:line` when a whole line is not an event.
    """
    try:
        lines = path.read_bytes().split(b"\n")
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
