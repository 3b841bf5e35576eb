"""What is wrong with a file: every problem with its place, all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple


class Spot(NamedTuple):
    """A place in a file. Both count from 1, as editors do."""

    line: int
    column: int


class Problem(NamedTuple):
    """One thing that is wrong, and what to write instead."""

    path: str
    spot: Spot
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.spot.line}:{self.spot.column}: {self.message}"


class ScenarioError(Exception):
    """Scenario files cannot be used. The message lists every problem, one a line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = sorted(problems, key=lambda problem: (problem.path, problem.spot))
        super().__init__("\n".join(map(str, self.problems)))


def missing(path: Path, what: str = "file or folder") -> Problem:
    """That nothing is at `path`, and what beside it is called almost so."""
    try:
        beside = [each.name for each in path.parent.iterdir()]
    except OSError:
        return Problem(str(path), Spot(1, 1), f"there is no such {what}: there is no folder {path.parent}")
    return Problem(str(path), Spot(1, 1), f"there is no such {what}{nearest(path.name, beside, listed=0)}")


def nearest(word: str, known: Iterable[str], *, listed: int = 12) -> str:
    """`; did you mean ...?` for the known word most like `word`, else the known words, else nothing."""
    words = list(known)
    folded = {each.casefold(): each for each in words}
    close = get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    if close:
        return f"; did you mean `{folded[close[0]]}`?"
    if words and len(words) <= listed:
        return "; known: " + ", ".join(words)
    return ""
