"""Profiles on the command line, and in a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.report.load import load
from tests.commanding import LOOP, told


def test_a_profile_is_shown_with_what_it_leaves_out_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--profile", "core-1", "pause"]) == 0

    out = told(capsys)
    assert "pause/no-tools[json,sse]" in out
    assert "text/one" not in out
    assert "core-1: what every loop on the Messages API must do" in out
    assert "not scored  CANCEL-1, CANCEL-2" in out

    assert main(["list", "--profile"]) == 0
    assert [line.partition(" ")[0] for line in told(capsys).splitlines() if line[0] != " "] == [
        "core-1", "turn-job-1", "threads-1", "wire-only-1",
    ]  # fmt: skip


def test_a_run_is_judged_by_its_profile(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = [
        "run",
        "pause/no-tools",
        "--loop",
        "mine:loop",
        "--report",
        "json:run.json",
        "--profile",
        "wire-only-1",
    ]

    assert main(run) == 1

    [loop] = load(here / "run.json").loops
    assert loop.profile == "wire-only-1"
    broken = {check.clause for check in loop.results[0].checks if check.grade == "fail"}
    assert broken == {"PAUSE-1"}, "what takes an outcome is not scored"
    out = told(capsys)
    assert "--seed 1 --profile wire-only-1" in out
    assert f"wire-only-1: {len(loop.coverage.decided)} of {loop.coverage.clauses} clauses decided" in out
    assert loop.coverage.clauses < 40
    assert main(["render", "run.json"]) == 0
    assert "wire-only-1: " in told(capsys)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--profile", "core"], "--profile core: there is no such profile; did you mean `core-1`?"),
        (["--profile", "core-1", "--scenarios", "."], "play your own scenarios without --profile"),
        (["cancel", "--profile", "core-1"], "cancel: not in core-1"),
    ],
)
def test_mistakes_are_told(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["run", *words, "--loop", "mine:loop"]) == 2
    assert message in told(capsys)


@pytest.mark.timeout(120)
def test_a_test_is_judged_by_a_profile(adopter: Any) -> None:
    adopter.write(
        {
            "mine.py": LOOP,
            "test_it.py": "from harness import conformance\n"
            "test_it = conformance('mine:loop', profile='core-1', select='text/one')\n",
        }
    )

    adopter.pytest().assert_outcomes(passed=1, skipped=1)
    adopter.write(
        {"test_it.py": "from harness import conformance\ntest_it = conformance('a:b', profile='cor-1')\n"}
    )
    adopter.pytest().stdout.fnmatch_lines(["*there is no profile cor-1; did you mean `core-1`?*"])
