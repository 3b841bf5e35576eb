"""The command line's reports: several at once, of several loops, and rendered again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.report.load import load


def test_several_loops_and_several_reports_come_from_one_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = ("json", "junit", "markdown", "text", "badge")
    reports = [word for kind in kinds for word in ("--report", f"{kind}:out.{kind}")]
    loops = ["--loop", "one=mine:loop", "--loop", "two=mine:broken", "--loop", "three=mine.py:loop"]

    code = main(["run", "pause/no-tools", *loops, "--seed", "7", "--history", "kept", *reports])

    out, err = capsys.readouterr()
    assert code == 4, "a loop cannot be driven"
    assert "== one (mine:loop)\n\nFAIL  PAUSE-1" in out
    assert "\n== three (mine.py:loop)\n" in out
    assert out.endswith("\n3 of 3 loops with failures\n")
    assert "loop-harness: the loop cannot be driven" in err
    assert sorted(path.name for path in here.iterdir() if path.name.startswith("out")) == sorted(
        f"out.{kind}" for kind in kinds
    )
    one, two, three = load(here / "out.json").loops
    assert [result.grade for result in one.results] == ["fail"]
    assert "no such luck" in two.problem
    assert one.again(one.results[0]) == (
        "loop-harness run 'pause/no-tools[json]' --loop one=mine:loop --seed 7"
    )
    assert one.results[0].history == "kept/one/pause/no-tools.json.ndjson"
    assert Path(three.results[0].history or "").exists()

    assert main(["render", "out.json", "junit:again.junit", "markdown:again.markdown", "text:-"]) == 0
    for kind in ("junit", "markdown"):
        assert (here / f"again.{kind}").read_text() == (here / f"out.{kind}").read_text()
    assert capsys.readouterr().out == (here / "out.text").read_text()


def test_what_goes_to_the_output_stands_there_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "pause/no-tools", "--loop", "mine:loop", "--report", "json:-"]) == 1

    out, err = capsys.readouterr()
    assert json.loads(out)["loops"][0]["results"][0]["grade"] == "fail"
    assert err.startswith("FAIL  PAUSE-1")


def test_annotations_stand_among_the_lines(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "pause/no-tools", "--loop", "mine:loop", "--report", "github:-", "--quiet"]) == 1

    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith("FAIL   PAUSE-1  pause/no-tools[json]: ")
    assert any(line.startswith("::error title=PAUSE-1 in pause/no-tools[json]::") for line in lines)
    assert err == ""


def test_a_report_says_also_that_a_loop_cannot_be_driven(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "text/one", "--loop", "mine:broken", "--report", "junit:out.xml"]) == 4

    assert 'name="the loop can be driven"' in (here / "out.xml").read_text()
    assert "raised RuntimeError" in capsys.readouterr().err


def test_stored_histories_give_the_same_reports(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "pause/no-tools", "--loop", "mine:loop", "--history", "kept", "--report", "json:run.json"])
    stored = "kept/pause/no-tools.json.ndjson"

    assert main(["judge", stored, "--report", "json:judged.json"]) == 1

    [live], [judged] = load(here / "run.json").loops, load(here / "judged.json").loops
    assert judged.results[0].checks == live.results[0].checks
    assert judged.coverage == live.coverage
    assert judged.again(judged.results[0]) == f"loop-harness judge {stored}"


def test_a_report_that_cannot_be_written_keeps_no_other_from_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "full").symlink_to("/dev/full")
    reports = ["--report", "text:full", "--report", "json:run.json"]

    assert main(["run", "text/one", "--loop", "mine:loop", *reports]) == 2

    assert "--report text:full: No space left on device" in capsys.readouterr().err
    assert load(here / "run.json").loops[0].results


def test_the_schema_of_a_report_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "report"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "loop-harness report"
