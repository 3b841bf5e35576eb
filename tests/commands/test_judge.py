"""`judge` for recordings: what it prints, and the code it exits with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.report.load import load
from tests.cassettes.recordings import (
    TOOL,
    answer,
    assistant,
    call,
    cassette,
    reply,
    request,
    result,
    thinking,
    user,
    written,
)

ASK = user("What is a?")
DONE = reply("end_turn", "A thing.", identifier="msg_2")
CALLED = reply("tool_use", thinking(), call())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with recordings of a right and a wrong client."""
    kept, lost = assistant(thinking(), call()), assistant(call())
    for name, said in (("right", kept), ("wrong", lost)):
        steps = cassette(
            (request([ASK], tools=[TOOL]), answer(CALLED)),
            (request([ASK, said, user(result())], tools=[TOOL]), answer(DONE)),
        )
        folder = tmp_path / name
        folder.mkdir()
        written(steps, folder / "x.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_fault_is_told_with_the_line_of_its_request(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "wrong/x.yaml"]) == 1

    out = capsys.readouterr().out
    lines = (here / "wrong" / "x.yaml").read_text().splitlines()
    second = [number for number, line in enumerate(lines, 1) if line.startswith("- request:")][1]
    assert out.startswith("FAIL  HIST-1  Request 2 does not have the `thinking` block of the reply.\n")
    assert f"where     wrong/x.yaml:{second}, request 2\n" in out
    assert "FAIL  HIST-4" in out
    assert out.endswith("by 2 requests in 1 conversation\n1 recording: 1 fail\n")


def test_what_is_right_is_summed_up(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "right"]) == 0

    out = capsys.readouterr().out
    assert "clauses decided by 2 requests in 1 conversation" in out
    assert out.endswith("1 recording: 1 pass\n")


def test_a_further_breach_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "wrong" / "y.yaml").write_text((here / "wrong" / "x.yaml").read_text())

    assert main(["judge", "."]) == 1

    out = capsys.readouterr().out
    assert out.count("FAIL  HIST-1") == 1
    assert "also          HIST-1  wrong/y.yaml:" in out
    assert out.endswith("3 recordings: 2 fail, 1 pass\n")


def test_the_report_has_every_finding_with_its_place(here: Path) -> None:
    assert main(["judge", ".", "--report", "json:report.json"]) == 1

    [loop] = json.loads((here / "report.json").read_text())["loops"]
    right, wrong = loop["results"]
    assert loop["recorded"] is True
    assert loop["notes"][-2].endswith(" by 4 requests in 2 conversations")
    assert (right["scenario"], right["grade"]) == ("right/x.yaml", "pass")
    [found] = [check for check in wrong["checks"] if check["clause"] == "HIST-4"]
    assert found["grade"] == "fail"
    assert found["request"] == 2
    assert found["line"] > 1
    assert "thinking" in found["diff"]
    assert "HIST-4" in loop["coverage"]["decided"]


def test_an_annotation_stands_at_the_line_of_the_recording(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge", "wrong", "--quiet", "--report", "github:-"]) == 1

    out = capsys.readouterr().out
    assert "FAIL   HIST-1  wrong/x.yaml: Request 2 does not have" in out
    lines = (here / "wrong" / "x.yaml").read_text().splitlines()
    second = [number for number, line in enumerate(lines, 1) if line.startswith("- request:")][1]
    assert f"::error file=wrong/x.yaml,line={second},title=HIST-1 in wrong/x.yaml::Request 2" in out


def test_recordings_and_histories_are_judged_together(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "text/one", "--loop", "harness.loops.reference:loop", "--history", "kept"]) == 0
    capsys.readouterr()

    assert main(["judge", "kept", "right"]) == 0

    out = capsys.readouterr().out
    assert "2 cases: 2 pass" in out
    assert "1 recording: 1 pass" in out


def test_files_of_a_folder_that_are_something_else_are_passed_over(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "right" / "package.json").write_text('{"name": "x"}')
    (here / "right" / "template.yaml").write_text("a: {{ b }}: c")

    assert main(["judge", "right"]) == 0
    assert "1 recording: 1 pass" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "nothing:1:1: there is no such file or folder"),
        (["bad/won.yaml"], "bad/won.yaml:1:1: there is no such file or folder; did you mean `one.yaml`?"),
        (["empty"], "no recording in empty: they end in .yaml, .yml or .json"),
        (["package.json"], "package.json:1:1: no recording"),
        (["bad"], "bad/one.yaml:1:16: not YAML"),
        (["bad"], "bad/two.json:1:21: not JSON"),
        (["right", "--report", "xml:x"], "--report xml:x: write KIND:PATH"),
    ],
)
def test_what_cannot_be_judged_is_said(
    arguments: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "empty").mkdir()
    (here / "package.json").write_text("{}")
    (here / "bad").mkdir()
    (here / "bad" / "one.yaml").write_text("interactions: {]")
    (here / "bad" / "two.json").write_text('{"interactions": [1 2]}')

    assert main(["judge", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_recording_of_something_else_decides_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = here / "right" / "x.yaml"
    path.write_text(path.read_text().replace("api.anthropic.com/v1/messages", "api.openai.com/v1/responses"))

    assert main(["judge", "right"]) == 4
    assert "passed over   2 other interactions: 2 of api.openai.com" in capsys.readouterr().out


def test_one_that_cannot_be_read_keeps_no_other_from_being_judged(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "wrong" / "bad.yaml").write_text("interactions:\n- request: {}\n- response: 3\n")
    (here / "right" / "torn.yaml").write_text("interactions: [\n")
    (here / "right" / "x.ndjson").write_text("{}\n")

    assert main(["judge", ".", "--report", "json:report.json"]) == 2

    out, err = capsys.readouterr()
    assert "FAIL  HIST-1" in out
    assert "2 recordings: 1 fail, 1 pass" in out
    said = [line.partition(":")[0] for line in err.splitlines()[1:]]
    assert said == ["right/torn.yaml", *["wrong/bad.yaml"] * 4, "right/x.ndjson"]
    [loop] = load(here / "report.json").loops
    assert [note for note in loop.notes if note.startswith("cannot be read: wrong/bad.yaml:2:")]
    assert main(["drift", "."]) == 2
    assert "wrong/bad.yaml:2:" in capsys.readouterr().err
