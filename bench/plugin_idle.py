"""What an installed and unused plugin adds to a pytest run (the aim: at most 10 ms).

Two environments that differ in nothing else: pytest alone, and pytest with our wheel, found by its entry
point. Measured is the processor's time, which other work on the machine changes little.
"""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import tempfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from _measure import ROOT, compare, cpu_of_process, report

PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
RUN = """
import sys
sys.path[:0] = {paths!r}
import pytest
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider"]))
"""


def only(names: tuple[str, ...], folder: Path) -> None:
    """A folder that holds these installed distributions and no other."""
    folder.mkdir()
    for name in names:
        found = distribution(name)
        tops = {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            (folder / top).symlink_to(str(found.locate_file(top)))


def wheel(folder: Path) -> None:
    """A folder that holds our wheel, unpacked and compiled as an installer does."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder.parent)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.parent.glob("*.whl"))) as archive:
        archive.extractall(folder)
    compileall.compile_dir(str(folder), quiet=2)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        only(PYTEST, place / "pytest")
        wheel(place / "ours")
        tests = place / "tests"
        tests.mkdir()
        (tests / "test_one.py").write_text("def test_one():\n    assert True\n")
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}

        def pytest(*paths: str) -> float:
            code = RUN.format(paths=[str(place / path) for path in paths])
            return cpu_of_process([sys.executable, "-I", "-S", "-c", code], env, tests)

        medians = compare(
            {
                "python -c pass": lambda: cpu_of_process([sys.executable, "-I", "-S", "-c", "pass"], env),
                "pytest": lambda: pytest("pytest"),
                "pytest with the plugin": lambda: pytest("pytest", "ours"),
            },
            times=25,
        )
    report(medians)
    added = medians["pytest with the plugin"] - medians["pytest"]
    print(f"the plugin adds {added * 1000:.1f} ms")


if __name__ == "__main__":
    main()
