"""A baseline in a pytest run: what the cases say together, as the command line does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.baseline.gathered import Found, Suite, problems, told
from harness.baseline.ledger import Played
from harness.chosen import find_cases
from harness.judge import CheckResult
from harness.runner import CaseResult
from tests.test_plugin import WRONG

SUITE = (
    "from harness import conformance\n"
    "test_loop = conformance('mine:loop', select=['text/one', 'stop'], baseline='known.yaml')\n"
)
FAMILY = [case for case in find_cases() if case.scenario.id.startswith("pause/")]


def known(*entries: str, coverage: str = "{}") -> str:
    lines = "".join(f"\n  - {{{entry}, grade: fail, reason: not yet}}" for entry in entries)
    return f"coverage: {coverage}\nknown:{lines or ' []'}\n"


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_a_pattern_nothing_is_left_of_makes_the_session_red(adopter: Any, workers: str) -> None:
    # The last is of a family of which only a part is played.
    entries = ("scenario: stop/*", "scenario: stop/*, clause: BASE-1", "scenario: text/*, clause: BASE-1")
    adopter.write({"mine.py": WRONG, "known.yaml": known(*entries), "test_it.py": SUITE})

    whole = adopter.pytest("-n", workers)

    assert whole.ret == pytest.ExitCode.TESTS_FAILED
    assert whole.parseoutcomes().keys() == {"xfailed", "passed", "skipped"}
    [told] = [line for line in whole.outlines if line.startswith(("STALE", "LESS"))]
    assert told.startswith("STALE  known.yaml:4: BASE-1 in stop/* is no longer `fail`, as stop/")

    assert adopter.pytest("-n", workers, "-k", "not sequence").ret == pytest.ExitCode.OK


def found(folder: Path, loop: str = "mine:loop", spared: str = "sse", **grades: str) -> list[str]:
    """What the cases of a family say, each of them with these grades: `PAUSE_1="pass"`."""
    suite = Suite(baseline=str(folder / "known.yaml"), folder="", loop=loop, profile="")
    checks = [
        CheckResult(clause=name.replace("_", "-"), level="MUST", grade=grade)
        for name, grade in grades.items()
    ]
    return [
        told(
            Found(
                suite=suite,
                case=Played(case.scenario.id, case.variant),
                named=[],
                result=None
                if case.variant == spared
                else CaseResult(scenario=case.scenario.id, variant=case.variant, grade="pass", checks=checks),
            )
        )
        for case in FAMILY
    ]


def test_what_another_loop_needs_or_may_need_is_not_stale(tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text(known("scenario: pause/*, clause: PAUSE-1"))
    better, needing = found(tmp_path, PAUSE_1="pass"), found(tmp_path, "other", PAUSE_1="fail")

    assert len(problems(better)) == 1
    assert problems([*better, *needing]) == []
    assert problems([*better, *found(tmp_path, "other", PAUSE_1="pass")[:1]]) == []


def test_fewer_clauses_than_there_were_are_told_once_everything_was_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "known.yaml").write_text(known(coverage="{'mine:loop': 2}"))
    assert problems(found(tmp_path, PAUSE_1="pass")) == []

    monkeypatch.setattr("harness.baseline.gathered.find_cases", lambda *_: FAMILY)

    [line] = problems(found(tmp_path, PAUSE_1="pass"))
    assert line.startswith("LESS   mine:loop: 1 clause decided, and 2 when ")
    assert problems(found(tmp_path, PAUSE_1="pass", HIST_1="fail")) == []
    assert problems(found(tmp_path, PAUSE_1="pass")[:-2]) == []


def test_a_file_that_was_changed_meanwhile_is_told(tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text("known: 3\n")

    [line] = problems(found(tmp_path, PAUSE_1="pass"))

    assert "known.yaml:1:8: expected a list" in line
