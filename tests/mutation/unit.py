"""The checks under the kept histories and their own tests, in a fork that imports the changed check."""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.mutation import histories, verdicts
from tests.mutation.changes import Change
from tests.mutation.reach import CHECKS, Lines, reaches, watched

TESTS = Path(__file__).parent.parent / "checks"
BEFORE = ("harness.arrange", "harness.evidence", "harness.scenario.load")
"""What a fork need not import again, none of which imports a check."""
OPTIONS = ["-q", "-p", "no:cacheprovider", "-n", "0", "--no-header", "--tb=no"]
REACHED = "tests.json"
MANY = 300
"""Tests beyond which all are run and none is named."""


@dataclass
class Standing:
    """What the proofs say of a kept history before anything is changed: nothing, if all is well."""

    name: str
    bad: list[str] = field(default_factory=list)


def baseline(folder: Path) -> list[Standing]:
    """Play the histories, judge them and watch the tests, where that was not done before."""
    histories.keep(folder)
    bench = verdicts.Bench(folder)
    reached(folder)
    found = [Standing(one.name) for one in bench.kept]
    for one in bench.judged:
        history = bench.kept[one.history]
        if history.right and one.grade in verdicts.BAD:
            found[one.history].bad.append(f"{one.clause}: {one.grade}")
    for standing, history in zip(found, bench.kept, strict=True):
        missed = [clause for clause in history.wanted if (history.loop, clause) not in bench.breaks]
        standing.bad += [f"{clause}: missed" for clause in missed]
    return found


def kept_baseline(folder: Path) -> tuple[verdicts.Bench, dict[str, Lines]]:
    """The histories as they were judged, and what the tests reach."""
    bench = verdicts.Bench(folder)
    gc.freeze()  # a fork that collects would copy all of it
    return bench, reached(folder)


def reached(folder: Path) -> dict[str, Lines]:
    """The lines of the checks that each of their tests runs; kept in `folder`."""
    path, now = folder / REACHED, hashlib.sha256()
    for source in sorted([*CHECKS.glob("*.py"), *TESTS.glob("*")]):
        now.update(source.read_bytes() if source.is_file() else b"")
    if not path.exists() or json.loads(path.read_text())["of"] != now.hexdigest():
        watch = Watch()
        if pytest.main([*OPTIONS, str(TESTS)], plugins=[watch]) != pytest.ExitCode.OK:
            raise RuntimeError("the tests of the checks fail, and nothing was changed")
        path.write_text(json.dumps({"of": now.hexdigest(), "found": watch.lines}))
    found: dict[str, Lines] = json.loads(path.read_text())["found"]
    return found


class Watch:
    """A plugin that notes which lines each test runs."""

    def __init__(self) -> None:
        self.lines: dict[str, Lines] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        with watched() as lines:
            yield
        self.lines[item.nodeid] = dict(lines)


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
    """What is tried for a change, the likely first."""

    def __init__(self, bench: verdicts.Bench, tests: dict[str, Lines]) -> None:
        for name in BEFORE:
            importlib.import_module(name)
        self.bench, self.tests = bench, tests
        self.caught: Counter[tuple[str, str]] = Counter()

    def learn(self, change: Change, name: str) -> None:
        """Remember what caught a change."""
        self.caught[change.path.name, name.partition("::")[0]] += 1

    def batches(self, change: Change, *, second: bool = False) -> list[Any]:
        """The kept histories, and the tests that reach the change, in order; all of them the first time."""
        if second:
            return []
        stem = change.path.stem

        def rank(test: str) -> tuple[bool, int, str]:
            file = test.partition("::")[0]
            return Path(file).stem != f"test_{stem}", -self.caught[change.path.name, file], file

        imported = self.bench.imported
        found = [test for test, lines in self.tests.items() if reaches(lines, change, imported)]
        files = dict.fromkeys(test.partition("::")[0] for test in sorted(found, key=rank))
        return [self.bench, *(files if len(found) > MANY else sorted(found, key=rank))]


def attempt(change: Change, batches: list[Any], seconds: float) -> dict[str, Any]:
    """Judge histories and run tests until one fails. To be called in a process of its own."""
    if not batches:
        return {"survived": 0, "second": True}
    bench, tests = batches[0], batches[1:]
    change.install()
    try:
        importlib.import_module("harness.checks").registered()
        proof, other = bench.changed(change)
    except Exception as error:  # noqa: BLE001 - the changed module cannot be imported
        return {"caught": "import", "by": [f"{type(error).__name__}: {error}"[:200]]}
    if proof:
        return {"caught": "history", "by": [proof]}
    if tests and (test := _failing(tests)):
        return {"caught": test, "by": []}
    return {"caught": "verdict", "by": [other]} if other else {"survived": len(tests)}


def _failing(tests: Iterable[str]) -> str:
    """The first test that fails; empty where all pass."""
    caught = Caught()
    code = pytest.main(["-x", *OPTIONS, *tests], plugins=[caught])
    if code != pytest.ExitCode.OK and not caught.name:
        raise RuntimeError(f"pytest ended with {code}, and no test failed")
    return caught.name
