"""Whether the same loop gets the same verdicts however its cases are played.

`python -m tests.steadiness` plays the whole catalogue to a right loop and to one with many faults: in order,
shuffled, four at a time, with other seeds, beside two busy processes, and through pytest in two processes. It
takes some ten minutes, prints a table for `docs/proof.md`, and fails where a verdict differs.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from harness.runner import CaseResult, Runner, cases_of
from harness.scenario.discover import find_scenarios

LOOPS = ("harness.loops.reference:loop", "harness.loops.sdk_runner:threaded")
BUSY = 2
ROOT = Path(__file__).parent.parent
Verdicts: TypeAlias = dict[str, dict[str, str]]
"""Case to clause to grade."""

COLLECT = """
import json, os

def pytest_terminal_summary(terminalreporter):
    every = [report for reports in terminalreporter.stats.values() for report in reports]
    found = [getattr(report, "loop_harness", None) for report in every]
    with open(os.environ["HARNESS_VERDICTS"], "w") as file:
        json.dump([one for one in found if one], file)
"""


def verdict(checks: Iterator[tuple[str, str]]) -> dict[str, str]:
    """What counts of a result: notes do not."""
    return {clause: grade for clause, grade in checks if grade != "info"}


def played(loop: str, *, jobs: int = 1, seed: int = 1, shuffle: int | None = None) -> Verdicts:
    """Every case, by a runner of its own."""
    cases = cases_of(find_scenarios(), ("json", "sse"))
    if shuffle is not None:
        random.Random(shuffle).shuffle(cases)
    with Runner(loop, jobs=jobs, seed=seed) as runner:
        wanted = [case for case in cases if case.variant in runner.probe().variants]
        return {result.id: _verdict(result) for result in runner.run_all(wanted)}


def _verdict(result: CaseResult) -> dict[str, str]:
    found = verdict((check.clause, check.grade) for check in result.checks)
    return found or {"": result.grade}


def by_pytest(loop: str) -> Verdicts:
    """Every case as a test, in two processes of pytest-xdist."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(COLLECT)
        (folder / "test_loop.py").write_text(
            f"from harness import conformance\n\ntest_loop = conformance({loop!r})\n"
        )
        told = folder / "verdicts.json"
        path = os.pathsep.join([str(ROOT), str(ROOT / "harness" / "alias"), *sys.path])
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-n",
                "2",
                "-p",
                "harness.plugin",
                "-p",
                "no:cacheprovider",
            ],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "HARNESS_VERDICTS": str(told)},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        found: list[dict[str, Any]] = json.loads(told.read_text())
    return {
        one["case"]: verdict((clause, grade) for clause, grade, *_ in one["checks"]) or {"": one["grade"]}
        for one in found
    }


@contextmanager
def busy() -> Iterator[None]:
    """Two processes beside that do nothing but use a processor each."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def beside_others(loop: str) -> Verdicts:
    with busy():
        return played(loop)


WAYS: dict[str, Callable[[str], Verdicts]] = {
    "in order, one at a time": played,
    "shuffled": lambda loop: played(loop, shuffle=11),
    "with `--jobs 4`": lambda loop: played(loop, jobs=4),
    "with `--seed 2`": lambda loop: played(loop, seed=2),
    "with `--seed 3`": lambda loop: played(loop, seed=3),
    "beside two busy processes": beside_others,
    "by pytest with `-n 2`": by_pytest,
}
"""The first is what the others are compared with."""


@dataclass(frozen=True)
class Difference:
    """A clause that was graded otherwise in a case."""

    case: str
    clause: str
    first: str | None
    now: str | None

    @property
    def contradicts(self) -> bool:
        """Whether both plays decided it, and not alike. A late machine decides less."""
        undecided = (None, "inconclusive", "unsupported")
        return self.now == "error" or (self.first not in undecided and self.now not in undecided)


def differences(first: Verdicts, now: Verdicts) -> list[Difference]:
    """Where two plays of a loop were judged otherwise; a case that is missing is one, too."""
    found = []
    for case in sorted({*first, *now}):
        one, other = first.get(case, {}), now.get(case, {})
        found += [
            Difference(case, clause, one.get(clause), other.get(clause))
            for clause in sorted({*one, *other})
            if one.get(clause) != other.get(clause)
        ]
    return found


def main() -> int:
    """Play all, or the loops that are named; print the table, and tell each difference."""
    print(
        "| loop | played | cases | verdicts | seconds | that differ |\n|---|---|---|---|---|---|", flush=True
    )
    unsteady = 0
    for loop in sys.argv[1:] or LOOPS:
        first: Verdicts = {}
        for way, play in WAYS.items():
            began = time.monotonic()
            now = play(loop)
            seconds = time.monotonic() - began
            first = first or now
            found = differences(first, now)
            found += [
                Difference(case, "", None, "error") for case, one in now.items() if one == {"": "error"}
            ]
            other = [one for one in found if one.contradicts]
            unsteady += len(other)
            count = sum(map(len, now.values()))
            counts = f"{count} | {seconds:.0f} | {len(found) - len(other)} | {len(other)}"
            print(f"| `{loop}` | {way} | {len(now)} | {counts} |", flush=True)
            for one in found:
                print(f"{one.case} {one.clause}: {one.first} -> {one.now}", file=sys.stderr, flush=True)
    return 1 if unsteady else 0


if __name__ == "__main__":
    sys.exit(main())
