"""Why a file cannot be used as a recording."""

from __future__ import annotations

from collections.abc import Sequence

from ..scenario.problems import Problem, Spot, missing

__all__ = ["CassetteError", "NotACassetteError", "Problem", "Spot", "missing"]


class CassetteError(Exception):
    """Recordings cannot be used. The message lists every problem, one a line: `file:line:column: what`."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = sorted(problems, key=lambda problem: (problem.path, problem.spot))
        super().__init__("\n".join(map(str, self.problems)))


class NotACassetteError(CassetteError):
    """The file is sound, and yet it is no recording: a folder may well hold such files too."""
