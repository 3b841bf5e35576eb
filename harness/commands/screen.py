"""What `run` shows while it goes on: the first breach of each clause in full, the others by name."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator

from ..report.lines import Line
from ..report.text import also_lines, case_lines, kinds_of
from ..runner import CaseResult
from .target import words_of
from .terminal import show


class Screen:
    """Shows results as they come."""

    def __init__(self, options: Namespace, seed: int) -> None:
        self._options = options
        self._seed = seed
        self._also: dict[str, list[str]] = {}
        """For each kind of breach shown in full, the further cases it was found in."""

    def add(self, result: CaseResult) -> None:
        """Show the result if it is a failure of a new kind."""
        kinds = kinds_of(result)
        known = kinds & self._also.keys()
        for kind in known:
            self._also[kind].append(result.id)
        if kinds - known:
            show([*case_lines(result, self._again(result), known), Line("")])
            self._also |= {kind: [] for kind in kinds - known}

    def rest(self) -> Iterator[Line]:
        """Where else each clause is broken."""
        yield from also_lines(self._also)

    def _again(self, result: CaseResult) -> str:
        words = ["loop-harness", "run", result.id, *words_of(self._options), "--seed", str(self._seed)]
        if self._options.in_process:
            words.append("--in-process")
        if self._options.scenarios:
            words += ["--scenarios", self._options.scenarios]
        return shlex.join(words)
