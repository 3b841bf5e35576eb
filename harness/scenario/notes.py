"""What is found out about a file while it is read: where each value stands, and what is wrong."""

from __future__ import annotations

from typing import TypeAlias

from .problems import Problem, Spot

Where: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""


class Notes:
    """One file's problems, and the places of its values."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.spots: dict[Where, Spot] = {}
        self._broken: list[Where] = []

    def note(self, where: Where, message: str) -> None:
        """Note a problem of a value already read, at the nearest place known."""
        known = where
        while known and known not in self.spots:
            known = known[:-1]
        self._add(self.spots.get(known, Spot(1, 1)), message)

    def note_broken(self, where: Where, spot: Spot, message: str) -> None:
        """Note that the value at `where` is not well-formed."""
        self._add(spot, message)
        self._broken.append(where)

    def is_sound(self, where: Where) -> bool:
        """Whether everything at and below `where`, and what it stands in, is well-formed."""
        return not any(each[: len(where)] == where or where[: len(each)] == each for each in self._broken)

    def _add(self, spot: Spot, message: str) -> None:
        problem = Problem(self.path, spot, message)
        if problem not in self.problems:  # an alias is read as often as it is used
            self.problems.append(problem)
