"""`--harness-report KIND:PATH`: the reports of a pytest run, written where all its results come together.

A pytest plugin of its own, registered only where reports are asked for. Under pytest-xdist it lives in the
controller: the verdicts travel there on pytest's own reports. (PYTEST_DONT_REWRITE)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from .commands import Stop
from .commands.reports import OUTPUT, Wanted, wanted_reports, write_reports
from .report.clean import Cleaner
from .report.kinds import View
from .report.model import LoopReport, Report, covered, report_of
from .report.packed import packed, unpacked
from .runner import CaseResult

ATTRIBUTE = "loop_harness_result"
"""Where a verdict stands on pytest's report, as plain data."""
_CASE = re.compile(r"(?P<before>.*[\[-])(?P<id>(?P<scenario>[\w.-]+/[\w./-]+)-(?P<variant>json|sse))\]")
"""The node id of a case: `tests/test_it.py::test_loop[pause/no-tools-sse]`."""


@cache
def cleaner() -> Cleaner:
    """Who takes the keys out of what is reported."""
    return Cleaner()


def told(of: dict[str, Any], result: CaseResult) -> dict[str, Any]:
    """A verdict as plain data, for `ATTRIBUTE`; `of` is what is to be told of its loop."""
    result = cleaner().result(result)
    small = msgspec.structs.replace(result, events=packed(result.events))
    return of | {"result": msgspec.json.encode(small).decode()}


class Reporting:
    """Gathers what became of the cases, and writes the reports when the session is over."""

    def __init__(self, written: Sequence[str]) -> None:
        """Raises `pytest.UsageError` where such reports cannot be written."""
        try:
            wanted = wanted_reports(written, "--harness-report ")
        except Stop as stop:
            raise pytest.UsageError(str(stop)) from None
        # A test may have gone elsewhere by the time they are written.
        self._wanted = [
            each if each.path == OUTPUT else Wanted(each.kind, str(Path(each.path).absolute()))
            for each in wanted
        ]
        self._planned: list[str] = []
        self._over: set[str] = set()
        self._found: dict[str, dict[str, Any]] = {}
        self._lines: list[str] = []

    # --- what pytest says ---

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know what is to be played, where it is this process that plays it."""
        self._plan([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Know it, where others do."""
        self._plan(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in a verdict. Of a test that is run again, the last one counts."""
        if report.when == "call" or (report.when == "setup" and report.skipped):
            self._over.add(report.nodeid)
        if given := getattr(report, ATTRIBUTE, None):
            self._found[report.nodeid] = given

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the reports, also of a session that was interrupted."""
        if session.config.option.collectonly:
            return
        try:
            write_reports(self._wanted, self._report(), View(), "--harness-report ")
        except Stop as stop:
            self._lines.append(str(stop))
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what could not be written."""
        for line in self._lines:
            terminalreporter.write_line(line, red=True)

    # --- what it comes to ---

    def _plan(self, ids: Sequence[str]) -> None:
        self._planned = self._planned or [nodeid for nodeid in ids if _CASE.fullmatch(nodeid)]

    def _report(self) -> Report:
        tests: dict[str, list[str]] = {}
        for nodeid in dict.fromkeys([*self._planned, *self._found]):
            tests.setdefault(_test_of(nodeid), []).append(nodeid)
        loops = [loop for test, ids in tests.items() if (loop := self._loop(test, ids)) is not None]
        return report_of(_told_apart(loops))

    def _loop(self, test: str, ids: Sequence[str]) -> LoopReport | None:
        """What became of the loop of one test function; None where it is no test of ours."""
        found = [self._found[nodeid] for nodeid in ids if nodeid in self._found]
        unplayed = [nodeid for nodeid in ids if nodeid not in self._over and nodeid not in self._found]
        if not found and not (unplayed and _is_ours(unplayed)):
            return None
        told: dict[str, Any] = found[0] if found else {"loop": test.partition("[")[0]}
        results = [_result(nodeid, self._found[nodeid]) for nodeid in ids if nodeid in self._found]
        # Where it could be driven in one process and not in another, that is an error of a case.
        problem = "" if any(each["result"] for each in found) else told.get("problem", "")
        return LoopReport(
            name=told["loop"],
            target=told["loop"],
            seed=told.get("seed", 0),
            command=["pytest", test],
            exposes=told.get("exposes", []),
            notes=list(dict.fromkeys(note for each in found for note in each["notes"])),
            problem=problem,
            profile=told.get("profile", ""),
            coverage=covered([] if problem else results, told.get("profile", "")),
            results=[] if problem else results,
            unplayed=[] if problem else [_case_of(nodeid) for nodeid in unplayed],
        )


def _names(nodeid: str) -> re.Match[str]:
    found = _CASE.fullmatch(nodeid)
    assert found  # noqa: S101 - for the types: no other is planned, and no other has a verdict
    return found


def _case_of(nodeid: str) -> str:
    """`pause/no-tools[sse]`."""
    names = _names(nodeid)
    return f"{names['scenario']}[{names['variant']}]"


def _test_of(nodeid: str) -> str:
    """The node id of all the cases of a test: `test_it.py::test_loop[{test}]`."""
    return f"{_names(nodeid)['before']}{{test}}]"


def _result(nodeid: str, told: dict[str, Any]) -> CaseResult:
    if not told["result"]:
        names = _names(nodeid)
        return CaseResult(
            scenario=names["scenario"], variant=names["variant"], grade="error", reason=told["problem"]
        )
    stored = msgspec.json.decode(told["result"], type=CaseResult)
    return msgspec.structs.replace(stored, events=unpacked(stored.events))


def _is_ours(nodeids: Sequence[str]) -> bool:
    """Whether the cases of a test are scenarios: nothing else is known of a test that was never begun."""
    from .chosen import find_cases

    known = {case.scenario.id for case in find_cases()}
    return any(_names(nodeid)["scenario"] in known for nodeid in nodeids)


def _told_apart(loops: Sequence[LoopReport]) -> Iterator[LoopReport]:
    """The loops, each with a name of its own: one that several tests are about is named with the test."""
    names = [loop.name for loop in loops]
    for loop in loops:
        if names.count(loop.name) > 1:
            test = loop.command[1].rpartition("[")[0].rpartition("::")[2]
            profile = f", {loop.profile}" if loop.profile else ""
            loop.name = f"{loop.name} ({test}{profile})"
        yield loop
