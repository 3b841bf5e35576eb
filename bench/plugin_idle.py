"""What an installed and unused plugin adds to a pytest run (the aim: at most 10 ms)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from _measure import compare, environment, of_process, report

ARGUMENTS = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]

if __name__ == "__main__":
    env = {**environment(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_one.py").write_text("def test_one():\n    assert True\n")

        def run(*more: str) -> float:
            """Seconds of one pytest run."""
            return of_process([sys.executable, *ARGUMENTS, *more], env, Path(folder))

        medians = compare(
            {
                "python -c pass": lambda: of_process([sys.executable, "-c", "pass"], env),
                "pytest": run,
                "pytest with the plugin": lambda: run("-p", "loop_harness.plugin"),
            }
        )
    report(medians)
    added = medians["pytest with the plugin"] - medians["pytest"]
    print(f"the plugin adds {added * 1000:.1f} ms")
