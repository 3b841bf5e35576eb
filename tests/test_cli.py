"""The command line: what it prints, and the code it exits with."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from harness import __version__
from harness.cli import main
from harness.commands.verdict import exit_code
from harness.judge import CheckResult
from harness.runner import CaseResult
from tests.commanding import RIGHT, ROOT, told


def test_a_right_loop_exits_with_0_and_its_coverage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "text/one", "--loop", RIGHT]) == 0
    assert "2 cases: 2 pass" in told(capsys)


def test_a_broken_clause_exits_with_1_and_is_the_first_thing_on_the_screen(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "pause/no-tools", "--loop", "mine:loop"]) == 1

    out = capsys.readouterr().out
    assert out.startswith("FAIL  PAUSE-1  ")
    assert "loop-harness run 'pause/no-tools[json]' --loop mine:loop --seed 1" in out


def test_a_clause_broken_in_many_cases_is_explained_once(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "pause/no-tools", "pause/twice", "--loop", "mine:loop"])

    out = capsys.readouterr().out
    assert out.count("FAIL  PAUSE-1") == 1
    assert "also          PAUSE-1 in pause/twice[json]" in out


def test_a_loop_that_returns_only_a_string_is_judged_by_what_it_exposes(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "text/one", "--loop", "mine:loop"]) == 0

    out = capsys.readouterr().out
    assert "not judged" in out
    assert "clauses decided" in out


def test_the_loop_can_run_in_this_process(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "text/one", "--loop", "mine:loop", "--in-process"]) == 0
    assert "mine" in sys.modules


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        ("nowhere:loop", "there is no module 'nowhere'"),
        ("mine:lop", "did you mean 'loop'?"),
        ("mine:silent", "returned without asking the provider"),
        ("mine:broken", "raised RuntimeError before it asked the provider: no such luck"),
    ],
)
def test_a_loop_that_cannot_be_driven_exits_with_4_and_says_why(
    here: Path, capsys: pytest.CaptureFixture[str], loop: str, message: str
) -> None:
    assert main(["run", "text/one", "--loop", loop]) == 4

    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "pause/no-tool", "--loop", "a:b"], "did you mean `pause/no-tools`?"),
        (["run", "--loop", "a"], "name the loop as PKG.MOD:ATTR"),
        (["run", "--loop", "a:b", "--report", "xml:here"], "--report xml:here: write KIND:PATH, where KIND"),
        (["run", "--loop", "a:b", "--report", "juni:a"], "did you mean junit:a?"),
        (["run", "--loop", "a:b", "--report", "json:-", "--report", "text:-"], "json:- is written to the"),
        (["run", "--loop", "a:b", "--report", "json:r", "--report", "text:r"], "to the same place"),
        (["run", "--loop", "a:b", "--quiet", "--verbose"], "--quiet or --verbose, not both"),
        (["run", "--loop", "a:b", "--loop", "a:b"], "2 loops are called a:b; write --loop NAME=a:b"),
        (["run", "--loop", "x=a"], "name the loop as PKG.MOD:ATTR"),
        (["run"], "name what is to be judged: --loop PKG.MOD:ATTR, or --command CMD"),
        (["render", "nothing.json"], "nothing.json: there is no such file"),
        (["render", "mine.py"], "mine.py: not a JSON report of loop-harness"),
        (["render", "mine.py", "xml:here"], "xml:here: write KIND:PATH"),
        (["run", "--loop", "a:b", "--report", "json:no/where.json"], "there is no folder no"),
        (["run", "--loop", "a:b", "--report", "json:/"], "--report json:/: Is a directory"),
        (["run", "--loop", "a:b", "--report", "json:/proc/report"], "--report json:/proc/report: "),
        (["run", "--loop", "a:b", "--scenarios", "nowhere"], "nowhere"),
        (["run", "text/one", "--loop", "mine:loop", "--history", "full"], "full/text/one.json.ndjson cannot"),
        (["explain", "PAUS-1"], "did you mean `PAUSE-1`?"),
        (["judge", "nothing.ndjson"], "nothing.ndjson: there is no such file"),
        (["serve", "--script", "nothing.yaml"], "nothing.yaml"),
    ],
)
def test_a_users_mistake_exits_with_2_and_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (here / "full" / "text").mkdir(parents=True)
    (here / "full" / "text" / "one.json.ndjson").symlink_to("/dev/full")

    assert main(arguments) == 2

    out, err = capsys.readouterr()
    assert message in err
    assert "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--loop", "a:b", "--jobs", "0"], "'0' is no number of processes; write 1 to 999"),
        (["run", "--loop", "a:b", "--jobs", "two"], "'two' is no number of processes; write 1 to 999"),
        (["run", "--loop", "a:b", "--seed", "-1"], "'-1' is no seed; write 0 to "),
        (["serve", "--port", "65536"], "'65536' is no port; write 0 to 65535"),
        (["run", "--lopp", "a:b"], "there is no option --lopp; did you mean `--loop`?"),
        (["rnu", "--loop", "a:b"], "; did you mean `run`?"),
        (["serve", "--base-path", "v1"], "; did you mean `/v1`?"),
    ],
)
def test_what_argparse_refuses_exits_with_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err


def test_an_error_of_the_harness_itself_exits_with_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LOOP_HARNESS_TRACEBACK", raising=False)

    def wrong(*_: object, **__: object) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("harness.commands.chosen.find_cases", wrong)

    assert main(["list"]) == 3
    assert "an error of the harness itself: KeyError: 'lost'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("grades", "relaxed", "strict"),
    [
        (["pass"], 0, 0),
        (["pass", "warn"], 0, 1),
        (["pass", "inconclusive"], 0, 1),
        (["pass", "unsupported"], 0, 0),
        (["pass", "fail"], 1, 1),
        (["pass", "error"], 1, 1),
        (["inconclusive"], 4, 4),
        (["unsupported"], 4, 4),
        ([], 4, 4),
    ],
)
def test_the_exit_code_follows_from_the_grades(grades: list[str], relaxed: int, strict: int) -> None:
    results = [
        CaseResult(
            scenario="a",
            variant="json",
            grade=grade,
            checks=[CheckResult(clause="END-1", level="MUST", grade=grade)],
        )
        for grade in grades
    ]

    assert exit_code(results, strict=False) == relaxed
    assert exit_code(results, strict=True) == strict


def test_a_kept_history_is_judged_the_same_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "pause/no-tools", "--loop", "mine:loop", "--history", "kept"]) == 1
    live = capsys.readouterr().out
    stored = here / "kept" / "pause" / "no-tools.json.ndjson"

    assert main(["judge", str(stored)]) == 1
    again = capsys.readouterr().out
    assert again.splitlines()[0] == live.splitlines()[0]
    assert "clauses decided" in again


def test_a_history_that_breaks_off_is_no_evidence(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "text/one", "--loop", "mine:loop", "--history", "kept"])
    stored = here / "kept" / "text" / "one.json.ndjson"
    whole = stored.read_bytes().splitlines(keepends=True)
    stored.write_bytes(b"".join(whole[:-1]))
    capsys.readouterr()

    assert main(["judge", str(stored)]) == 4
    assert "incomplete" in told(capsys)


def test_list_names_each_scenario_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "pause"]) == 0

    out = capsys.readouterr().out
    assert out.count("pause/no-tools[json,sse]") == 1
    assert "PAUSE-1" in out


def test_explain_tells_all_about_a_clause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pause-1"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("PAUSE-1  MUST")
    for label in ("asks", "because", "ground", "source", "advice", "scenarios"):
        assert f"\n  {label}" in out
    assert "pause/no-tools" in out


def test_explain_shows_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "pause/no-tools[sse]"]) == 0
    assert "stop_reason: pause_turn" in capsys.readouterr().out


def test_validate_names_every_problem_with_its_place(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bad.yaml").write_text("titel: A\nclauses: [PAUSE-99]\nscript:\n  - repli: {}\n")

    assert main(["validate", "bad.yaml"]) == 2
    out = capsys.readouterr().out
    assert "bad.yaml:1:1: " in out
    assert "did you mean `title`" in out
    assert "PAUSE-99" in out
    assert "bad.yaml:4:" in out


def test_the_bundled_scenarios_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(ROOT / "scenarios")]) == 0
    assert "no problem" in capsys.readouterr().out


def test_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["title"]


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"loop-harness {__version__}\n"
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["judge", ""],
        ["validate", ""],
        ["drift", ""],
        ["render", ""],
        ["compare", "", "x.json"],
        ["merge", "", "-o", "x.json"],
        ["replay", ""],
        ["run", "--baseline", ""],
        ["run", "--history", ""],
        ["serve", "--script", ""],
    ],
)
def test_an_empty_name_is_not_that_of_the_working_directory(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)

    assert "an empty text names no file; the working directory is ." in capsys.readouterr().err


def test_a_pipe_that_nobody_may_ever_write_to_is_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")

    for command in (["judge"], ["validate"], ["replay"], ["render"], ["drift", "--against"]):
        with pytest.raises(SystemExit, match="2"):
            main([*command, str(tmp_path / "pipe.yaml")])

        assert "pipe.yaml is a pipe, which may never be written to; give a file" in capsys.readouterr().err


def test_what_a_shell_hands_over_as_a_pipe_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "examples" / "dropped_thinking.yaml").read_bytes()
    read, write = os.pipe()
    with os.fdopen(write, "wb") as theirs, os.fdopen(read):
        theirs.write(text)
        theirs.close()
        assert main(["judge", f"/dev/fd/{read}"]) == 1

    assert "HIST-1" in capsys.readouterr().out


def test_a_report_that_is_not_there_is_told_with_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.json").touch()

    for command in (["render"], ["compare", "report.json"], ["merge", "-o", "x.json"]):
        assert main([*command, "reprot.json"]) == 2
        said = capsys.readouterr().err
        assert "there is no such file; did you mean `report.json`?" in said or command[0] == "compare"
    assert main(["render", "nowhere/report.json"]) == 2
    assert "there is no folder nowhere" in capsys.readouterr().err
