"""Times of processes, as medians, beside a bare interpreter measured in the same breath."""

from __future__ import annotations

import compileall
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent


def environment() -> dict[str, str]:
    """As an installed package runs: compiled, and found without being installed."""
    compileall.compile_dir(str(ROOT / "harness"), quiet=2)
    path = os.pathsep.join([str(ROOT), str(ROOT / "harness" / "alias")])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}


def of_process(command: Sequence[str], env: dict[str, str], cwd: Path | None = None) -> float:
    """Seconds from the start of the process to its end."""
    began = time.perf_counter()
    subprocess.run(command, env=env, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def cpu_of_process(command: Sequence[str], env: dict[str, str], cwd: Path | None = None) -> float:
    """Seconds of the processor's time that the process took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_process(command, env, cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(measures: dict[str, Callable[[], float]], times: int = 15) -> dict[str, float]:
    """The median of each measure, taken in turns so that a busy moment hits all of them."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(times):
        for name, measure in measures.items():
            taken[name].append(measure())
    return {name: statistics.median(values) for name, values in taken.items()}


def report(medians: dict[str, float]) -> None:
    """Milliseconds, and the ratio to the first, which is the bare interpreter."""
    bare = next(iter(medians.values()))
    for name, seconds in medians.items():
        print(f"{name:<44}{seconds * 1000:8.1f} ms {seconds / bare:7.2f} x")


def python(code: str, env: dict[str, str]) -> Callable[[], float]:
    """A measure of an interpreter that runs `code`."""
    return lambda: of_process([sys.executable, "-c", code], env)
