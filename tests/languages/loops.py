"""The loops of examples/ in other languages, how each is started, and what catches its wrong twin."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.chosen import find_cases
from harness.loops.command import Command
from harness.probe import Probe
from harness.runner import CaseResult, Runner

EXAMPLES = Path(__file__).parents[2] / "examples"
REFERENCE = "harness.loops.reference:loop"
TOLD = ("status", "shown", "history", "usage", "report", "cancel", "wall_clock", "iterations")
OFTEN = ("tools", "pauses")
CACHED = ("publish", "done", "checkpoint")


@dataclass(frozen=True)
class Language:
    """A loop that is not written in Python."""

    name: str
    needs: tuple[str, ...]
    """What has to be installed."""
    words: tuple[str, ...]
    wrong: tuple[str, ...]
    """How its wrong twin is started."""
    clauses: frozenset[str]
    """What the wrong twin breaks."""
    case: str
    """Where it does."""
    exposes: tuple[str, ...]
    ready: tuple[str, ...] = ()
    """A command that fails where something beside the programs is missing."""

    def lacking(self) -> str:
        """What is not installed on this machine, or nothing."""
        missing = [name for name in self.needs if shutil.which(name) is None]
        if (
            not missing
            and self.ready
            and subprocess.run(self.ready, capture_output=True, check=False).returncode
        ):
            missing = [" ".join(self.ready)]
        return f"not on this machine: {', '.join(missing)}" if missing else ""

    def command(self, *, wrong: bool = False) -> Command:
        words = self.wrong if wrong else self.words
        return Command(words=tuple(str(EXAMPLES / word) if "/" in word else word for word in words))

    @property
    def known(self) -> Probe:
        """What a probe would find."""
        return Probe(exposes=sorted(self.exposes))


LANGUAGES = (
    Language(
        name="Node",
        needs=("node",),
        words=("node", "node/conformance.mjs"),
        wrong=("node", "node/conformance.mjs", "wrong_loop.mjs"),
        clauses=frozenset({"PAUSE-1"}),
        case="pause/no-tools[json]",
        exposes=TOLD + OFTEN,
    ),
    Language(
        name="PHP",
        needs=("php",),
        words=("php", "php/conformance.php"),
        wrong=("php", "php/conformance.php", "WrongJson"),
        clauses=frozenset({"HIST-1", "PAUSE-2"}),
        case="pause/no-arguments[json]",
        exposes=TOLD + CACHED,
        ready=("php", "-r", "exit((int) !(extension_loaded('curl') && extension_loaded('pcntl')));"),
    ),
    Language(
        name="shell",
        needs=("sh", "curl", "jq", "sed", "grep"),
        words=("sh", "shell/agent.sh"),
        wrong=("sh", "shell/wrong.sh"),
        clauses=frozenset({"TRUNC-1"}),
        case="truncate/text[json]",
        exposes=TOLD + OFTEN,
    ),
    Language(
        name="Ruby",
        needs=("ruby",),
        words=("ruby", "ruby/conformance.rb"),
        wrong=("ruby", "ruby/conformance.rb", "wrong.rb"),
        clauses=frozenset({"TOOL-2"}),
        case="tool/one-of-three-raises[json]",
        exposes=TOLD + OFTEN,
    ),
)


def verdicts(
    target: Any, selectors: Iterable[str], probe: Probe | None = None, jobs: int = 1
) -> dict[str, CaseResult]:
    """What became of each case. Without a probe one is made."""
    with Runner(target, jobs=jobs, probe=probe) as runner:
        assert runner.probe().problem is None, runner.probe().problem
        return {one.id: one for one in runner.run_all(find_cases(list(selectors)))}


def compared(
    right: dict[str, CaseResult], language: Language, selectors: Iterable[str] = ()
) -> tuple[dict[str, CaseResult], list[str]]:
    """The verdicts of a language, all if nothing is selected, and where they differ from the reference's.

    On a machine with other work a process is now and then too slow for a clause that is judged by the clock:
    what differs is played once more, one at a time, and has to differ again.
    """
    got = verdicts(language.command(), selectors, jobs=2)
    if doubtful := sorted({line.partition(" ")[0].rstrip(":") for line in differences(right, got)}):
        got |= verdicts(language.command(), doubtful)
    return got, differences(right, got)


def clauses(result: CaseResult) -> dict[str, str]:
    """The grade of each clause that was judged, but for what only a Python callable is judged by."""
    return {one.clause: one.grade for one in result.checks if one.grade not in ("unsupported", "info")}


def differences(right: dict[str, CaseResult], other: dict[str, CaseResult]) -> list[str]:
    """Where a verdict is neither the reference's, nor missing for what the loop does not expose."""
    found = []
    for name, result in other.items():
        expected = clauses(right[name]) if name in right else {}
        for clause, grade in clauses(result).items():
            if grade not in (expected.get(clause, "pass"), "inconclusive"):
                found.append(f"{name}: {clause} is {grade}, not {expected.get(clause)}")
        if result.grade not in ("pass", "inconclusive", "unsupported"):
            found.append(f"{name} is {result.grade}: {result.reason}")
    return found
