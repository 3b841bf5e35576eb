"""The checks under their own tests, in a fork that imports the changed check."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.changes import Change

TESTS = Path(__file__).parent.parent / "checks"
BEFORE = ("harness.arrange", "harness.evidence", "harness.scenario.load")
"""What a fork need not import again, none of which imports a check."""


class Caught:
    """A plugin that remembers the first test that failed."""

    name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.name:
            self.name = f"import of {report.nodeid}"


class Order:
    """Which tests are tried for a change, the likely ones first."""

    def __init__(self) -> None:
        for name in BEFORE:
            importlib.import_module(name)
        self.files = sorted(TESTS.glob("test_*.py"))
        self.caught: Counter[tuple[str, str]] = Counter()

    def learn(self, change: Change, name: str) -> None:
        """Remember what caught a change."""
        self.caught[change.path.name, Path(name.partition("::")[0]).name] += 1

    def batches(self, change: Change, *, second: bool = False) -> list[Path]:
        """The files of tests, in order; all of them the first time."""
        if second:
            return []
        family = change.path.stem.partition("_")[0]

        def rank(file: Path) -> tuple[int, int, str]:
            named = (file.stem == f"test_{change.path.stem}") * 2 + (file.stem == f"test_{family}")
            return -named, -self.caught[change.path.name, file.name], file.name

        return sorted(self.files, key=rank)


def attempt(change: Change, files: list[Path], seconds: float) -> dict[str, Any]:
    """Run tests until one fails. To be called in a process of its own."""
    if not files:
        return {"survived": 0, "second": True}
    change.install()
    caught = Caught()
    options = ["-x", "-q", "-p", "no:cacheprovider", "-n", "0", "--no-header", "--tb=no"]
    code = pytest.main([*options, *(str(file) for file in files)], plugins=[caught])
    if code == pytest.ExitCode.OK:
        return {"survived": len(files)}
    if not caught.name:
        raise RuntimeError(f"pytest ended with {code}, and no test failed")
    return {"caught": caught.name, "by": []}
