"""Loops that are started by a command, in any language: one process a turn, or one that is kept alive."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .driver import Driver, DriverError
from .place import Place
from .resolve import nearest

ANSWERS = ("stdout", "none")


@dataclass(frozen=True)
class Command:
    """A command and how it is to be understood."""

    words: tuple[str, ...]
    keep_alive: bool = False
    """It plays turn after turn: `hello`, `run`, `bye`."""
    answer: str = ""
    """Where a command that does not speak the protocol answers: `stdout` or `none`. Empty: it does."""
    cwd: Path | None = None
    """Where it runs; None: in a new folder each time."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables it gets beside the usual ones."""
    hello: dict[str, Any] = field(default_factory=dict)
    """What its processes declared, kept here for all drivers of the command."""

    @property
    def name(self) -> str:
        """The command as it would be typed."""
        return shlex.join(self.words)

    def driver(self, place: Place) -> Driver:
        """A driver for one worker."""
        from .agent import AgentDriver
        from .each_turn import EachTurnDriver
        from .kept import KeptDriver

        if self.answer:
            return AgentDriver(self, place)
        return KeptDriver(self, place) if self.keep_alive else EachTurnDriver(self, place)


def split(command: str) -> tuple[str, ...]:
    """The words of a command line, the files among them by their full names: it will run elsewhere.

    Raises `DriverError` where there is no such program.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DriverError(f"{command!r} cannot be split into words: {error}") from None
    if not words:
        raise DriverError("the command is empty")
    return (_program(words[0]), *(_in_full(word) for word in words[1:]))


def _program(word: str) -> str:
    path = Path(word)
    if "/" in word:
        if not path.is_file():
            near = [str(p) for p in path.parent.glob("*")] if path.parent.is_dir() else []
            raise DriverError(f"there is no file {word}{nearest(word, near)}")
        if not os.access(path, os.X_OK):
            raise DriverError(f"{word} may not be executed: chmod +x {word}, or name what runs it before it")
        return str(path.absolute())
    found = shutil.which(word)
    if found is None:
        hint = f"; to run the file here, write ./{word}" if path.is_file() else nearest(word, _programs())
        raise DriverError(f"there is no program {word!r} on PATH{hint}")
    return found


def _in_full(word: str) -> str:
    path = Path(word)
    return str(path.absolute()) if path.is_file() else word


def _programs() -> list[str]:
    folders = [Path(name) for name in os.environ.get("PATH", "").split(os.pathsep) if name]
    return [path.name for folder in folders if folder.is_dir() for path in folder.iterdir()]
