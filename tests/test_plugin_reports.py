"""Reports of a pytest run: the same as the command line's, whatever runs beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.report.kinds import rendered
from harness.report.load import load
from harness.report.model import LoopReport
from tests.test_plugin import WRONG

SUITE = "from harness import conformance\ntest_loop = conformance('mine:loop', select={select!r}{more})\n"
SELECT = ["text/one", "pause/no-tools"]


def only(path: Path) -> LoopReport:
    [loop] = load(path / "run.json").loops
    return loop


def decided(result: pytest.RunResult) -> list[str]:
    """The last lines of the summary."""
    return [line for line in result.outlines if "clauses decided" in line]


def test_several_are_written_from_one_run(adopter: Any) -> None:
    adopter.write({"mine.py": WRONG, "test_it.py": SUITE.format(select=SELECT, more="")})
    kinds = (
        "json:run.json",
        "junit:run.xml",
        "html:run.html",
        "markdown:run.md",
        "repro:bugs",
        "badge:b.json",
    )

    result = adopter.pytest(*(word for kind in kinds for word in ("--harness-report", kind)))

    result.assert_outcomes(failed=1, passed=1, skipped=2)
    loop = only(adopter.path)
    assert [(each.id, each.grade) for each in loop.results] == [
        ("pause/no-tools[json]", "fail"),
        ("text/one[json]", "pass"),
    ]
    assert (loop.name, loop.seed, loop.unplayed, loop.problem) == ("mine:loop", 1, [], "")
    assert loop.results[0].events
    assert len(loop.coverage.decided) > 5
    assert loop.again(loop.results[0]) == "pytest 'test_it.py::test_loop[pause/no-tools-json]'"
    assert (adopter.path / "run.md").read_text() == rendered("markdown", load(adopter.path / "run.json"))
    assert [path.name for path in (adopter.path / "bugs").iterdir()] == ["pause-no-tools-json.py"]
    assert json.loads((adopter.path / "b.json").read_text())["color"] == "red"
    assert "PAUSE-1" in (adopter.path / "run.xml").read_text()
    assert (adopter.path / "run.html").exists()


def test_the_controller_of_xdist_writes_and_sums_up_the_same(adopter: Any) -> None:
    adopter.write({"mine.py": WRONG, "test_it.py": SUITE.format(select=["text", "pause"], more="")})
    alone = adopter.pytest("-p", "no:xdist", "--harness-report", "json:run.json")
    once = only(adopter.path)

    spread = adopter.pytest("-n", "2", "--harness-report", "json:run.json")
    twice = only(adopter.path)

    assert alone.parseoutcomes() == spread.parseoutcomes()
    assert decided(alone) == decided(spread) != []
    for loop in (once, twice):
        for result in loop.results:
            result.events, result.seconds = [], 0
    assert twice == once


def test_what_is_known_and_what_is_scored_is_in_them(adopter: Any) -> None:
    known = "known:\n  - {scenario: pause/no-tools, clause: PAUSE-*, grade: fail, reason: not yet}\n"
    known += "  - {scenario: pause/no-tools, clause: EXPECT, grade: fail, reason: not yet}\n"
    known += "  - {scenario: text/one, clause: END-1, grade: fail, reason: it was}\n"
    more = ", profile='core-1', baseline='known.yaml'"
    adopter.write(
        {"mine.py": WRONG, "known.yaml": known, "test_it.py": SUITE.format(select=SELECT, more=more)}
    )

    result = adopter.pytest("--harness-report", "json:run.json")

    result.assert_outcomes(xfailed=1, failed=1, skipped=2)
    loop = only(adopter.path)
    assert [each.grade for each in loop.results] == ["known", "pass"]
    assert loop.profile == "core-1"
    assert any("known.yaml:4: this is no longer `fail`" in note for note in loop.notes)


def test_a_session_that_ends_early_says_what_was_not_played(adopter: Any) -> None:
    adopter.write({"mine.py": WRONG, "test_it.py": SUITE.format(select=["text", "pause"], more="")})

    adopter.pytest("-x", "--harness-report", "json:run.json").assert_outcomes(failed=1)

    loop = only(adopter.path)
    assert [each.grade for each in loop.results] == ["fail"]
    assert "text/one[json]" in loop.unplayed


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_one_that_is_interrupted_before_it_began_names_all_its_cases(adopter: Any, workers: str) -> None:
    adopter.write(
        {
            "test_it.py": "import pytest\ndef test_a():\n    raise KeyboardInterrupt\n"
            "@pytest.mark.parametrize('x', ['a/b-json'])\ndef test_mine(x): pass\n"
            "from harness import conformance\n"
            "test_loop = conformance('harness.loops.reference:loop', select='text/one')\n",
        }
    )

    adopter.pytest("-n", workers, "--dist", "loadfile", "--harness-report", "json:run.json")

    loop = only(adopter.path)
    assert loop.name.endswith("test_it.py::test_loop")
    assert loop.unplayed == ["text/one[json]", "text/one[sse]"]


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_a_loop_that_cannot_be_driven_is_in_them(adopter: Any, workers: str) -> None:
    adopter.write({"test_it.py": SUITE.format(select="text", more="")})

    adopter.pytest("-n", workers, "--harness-report", "json:run.json")

    loop = only(adopter.path)
    assert "no module 'mine'" in loop.problem
    assert (loop.results, loop.unplayed) == ([], [])


def test_a_loop_that_several_tests_are_about_is_told_with_the_test(adopter: Any) -> None:
    adopter.write(
        {
            "mine.py": WRONG,
            "test_it.py": SUITE.format(select="text/one", more="")
            + "test_core = conformance('mine:loop', select='text/one', profile='core-1')\n",
        }
    )

    adopter.pytest("--harness-report", "json:run.json").assert_outcomes(passed=2, skipped=2)

    names = [loop.name for loop in load(adopter.path / "run.json").loops]
    assert names == ["mine:loop (test_loop)", "mine:loop (test_core, core-1)"]


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ("jsn:x", "*--harness-report jsn:x: write KIND:PATH*did you mean json:x?*"),
        ("json:nowhere/x.json", "*--harness-report json:nowhere/x.json: there is no folder nowhere*"),
    ],
)
def test_one_that_cannot_be_written_is_told_before_anything_is_run(
    adopter: Any, report: str, message: str
) -> None:
    adopter.write({"test_it.py": "def test_it(): pass\n"})

    result = adopter.pytest("--harness-report", report)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*passed*")


def test_one_that_cannot_be_written_at_the_end_is_told_and_red(adopter: Any) -> None:
    adopter.write({"test_it.py": "def test_it():\n    import os\n    os.rmdir('out')\n"})
    (adopter.path / "out").mkdir()

    result = adopter.pytest("--harness-report", "json:out/run.json", "--harness-report", "text:-")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["*--harness-report json:*out/run.json: No such file or directory"])
