"""The reference loop as it is played to: changed, or watched, as the environment says.

A loop under test runs in this process or in a host; both import it from here.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import anthropic  # noqa: F401 - a new host has it before it is asked for anything

from tests.mutation.changes import Change
from tests.mutation.hosted_names import CHANGE, LINES

if told := os.environ.get(CHANGE):
    path, after = json.loads(Path(told).read_text())
    Change(Path(path), "", 0, "", after).install()

from harness.loops import reference
from harness.turn import EXPOSABLE, Outcome, Turn

FOLDER = f"{Path(reference.__file__).parent}/"


class Lines:
    """Writes down, for each conversation, which lines of the reference were run; a kill loses none."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.seen: set[tuple[str, int]] = set()
        self.file = -1

    def begin(self, turn: Turn) -> None:
        self.seen = set()
        path = self.folder / turn.conversation.rpartition("-")[0]
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(FOLDER):
            return None
        line = name[len(FOLDER) :], frame.f_lineno
        if line not in self.seen:
            self.seen.add(line)
            os.write(self.file, f"{line[0]} {line[1]}\n".encode())
        return self.trace


lines = Lines(os.environ[LINES]) if os.environ.get(LINES) else None


def loop(turn: Turn) -> Outcome:
    if lines:
        lines.begin(turn)
    return reference.loop(turn)


async def async_loop(turn: Turn) -> Outcome:
    if lines:
        lines.begin(turn)
    return await reference.async_loop(turn)


# Whatever it can do is claimed, so that no clause is spared when a change takes a hook away.
for one in (loop, async_loop):
    one.declaration = reference.DECLARATION.__class__(  # type: ignore[attr-defined]
        policies=reference.DECLARATION.policies, exposes=sorted(EXPOSABLE)
    )
