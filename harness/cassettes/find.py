"""The recordings that paths on a command line name: files, and folders with whatever is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .model import Cassette
from .problems import CassetteError, NotACassetteError, Problem, missing
from .read import SUFFIXES, read


@dataclass
class Found:
    """What was looked for in some files and folders."""

    files: list[Path]
    problems: list[Problem] = field(default_factory=list)
    """Of files that cannot be read."""
    others: int = 0
    """Files in folders that are no recordings."""
    _named: set[Path] = field(default_factory=set)

    def read(self) -> Iterator[Cassette]:
        """The recordings one after the other, so that nobody has to hold them all.

        At the end raises `CassetteError` with every problem of every file. A file of a folder that is
        something else is only counted.
        """
        yield from self.sound()
        if self.problems:
            raise CassetteError(self.problems)

    def sound(self) -> Iterator[Cassette]:
        """Those that can be read; what is wrong with the others is in `problems` at the end."""
        for path in self.files:
            try:
                yield read(path)
            except NotACassetteError as error:
                if path in self._named:
                    self.problems += error.problems
                else:
                    self.others += 1
            except CassetteError as error:
                self.problems += error.problems


def find(paths: Sequence[Path]) -> Found:
    """The files that may be recordings. Raises `CassetteError` for a path that is not there."""
    if problems := [missing(path) for path in paths if not path.exists()]:
        raise CassetteError(problems)
    named = [path for path in paths if not path.is_dir()]
    inside = [file for path in paths if path.is_dir() for file in _inside(path)]
    return Found(list(dict.fromkeys([*named, *inside])), _named=set(named))


def _inside(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.name.endswith(SUFFIXES)
        and path.is_file()
        and not any(part.startswith(".") or part == "node_modules" for part in path.relative_to(folder).parts)
    )
