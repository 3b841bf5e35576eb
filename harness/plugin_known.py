"""What all the cases of a session say together about their baselines.

A pytest plugin of its own, which under pytest-xdist lives in the controller: what the cases found travels
there on pytest's own reports. It is loaded in every run, and imports nothing else. (PYTEST_DONT_REWRITE)
"""

from __future__ import annotations

import pytest

ATTRIBUTE = "loop_harness_found"
"""Where on pytest's report stands what a case found, as plain data."""


class Together:
    """Gathers what the cases found, and compares it with their baselines when the session is over."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}
        self._problems: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in a verdict. Of a test that is run again, the last one counts."""
        if found := getattr(report, ATTRIBUTE, None):
            self._found[report.nodeid] = found

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Compare, unless the session was interrupted: what is wrong makes it red."""
        if self._found and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            from .baseline.gathered import problems

            self._problems = problems(self._found.values())
            session.exitstatus = pytest.ExitCode.TESTS_FAILED if self._problems else session.exitstatus

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what is wrong."""
        if self._problems:
            terminalreporter.write_sep("=", "loop-harness: known results")
        for line in self._problems:
            terminalreporter.write_line(line, red=True)
