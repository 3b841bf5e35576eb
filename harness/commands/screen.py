"""What `run` shows while it goes on: the first breach of each clause in full, the others by name."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator

from ..report.lines import Line, labelled
from ..report.text import case_lines
from ..runner import CaseResult
from .terminal import show


class Screen:
    """Shows results as they come."""

    def __init__(self, options: Namespace, seed: int) -> None:
        self._options = options
        self._seed = seed
        self._also: dict[str, list[str]] = {}
        """The cases of each breach shown so far, but for the first."""

    def add(self, result: CaseResult) -> None:
        """Show the result if it is a failure of a new kind."""
        if result.grade not in ("fail", "error"):
            return
        kinds = _kinds(result)
        new = kinds - self._also.keys()
        for kind in kinds:
            self._also.setdefault(kind, [])
        for kind in kinds - new:
            self._also[kind].append(result.id)
        if new:
            show([*case_lines(result, self._again(result)), Line("")])

    def rest(self) -> Iterator[Line]:
        """Where else each clause is broken."""
        for kind, cases in sorted(self._also.items()):
            if cases:
                yield from labelled("also", f"{kind} in {', '.join(cases)}", indent=0, column=14)

    def _again(self, result: CaseResult) -> str:
        words = ["loop-harness", "run", result.id, "--loop", self._options.loop, "--seed", str(self._seed)]
        if self._options.in_process:
            words.append("--in-process")
        if self._options.scenarios:
            words += ["--scenarios", self._options.scenarios]
        return shlex.join(words)


def _kinds(result: CaseResult) -> set[str]:
    """What is wrong, by clause; an error without one by its reason."""
    broken = {check.clause for check in result.checks if check.grade in ("fail", "error")}
    return broken or {f"error: {result.reason}"}
