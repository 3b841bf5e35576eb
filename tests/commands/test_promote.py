"""`promote`: from a recording or a history to a scenario in one command."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.cli import main
from harness.scenario.load import load_scenario
from tests.cassettes.recordings import answer, assistant, cassette, reply, request, user, written

ONE = (request([user("What is a?")]), answer(reply("end_turn", "A thing.")))
TWO = (request([user("What is b?")]), answer(reply("end_turn", "Another thing.", identifier="msg_2")))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a recording of one conversation and one of two."""
    written(cassette(ONE), tmp_path / "one.yaml")
    written(cassette(ONE, TWO), tmp_path / "two.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_scenario_is_written_that_can_be_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["promote", "one.yaml", "-o", "scenarios/a.yaml"]) == 0
    assert capsys.readouterr().out == "scenarios/a.yaml: 1 turn, 1 step\n"

    scenario = load_scenario(here / "scenarios" / "a.yaml")
    assert scenario.turns[0].script[0].reply is not None
    assert main(["validate", "scenarios"]) == 0


@pytest.mark.parametrize(
    "text", ["header-key-77-plain", "aGVhZGVyLWtleS03Ny1wbGFpbg==", "query-key-88-plain"]
)
def test_a_key_the_recording_was_made_with_is_nowhere_in_the_scenario(
    here: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    asked = request([user(f"Use {text} for it.")], {"x-api-key": "header-key-77-plain"})
    asked = msgspec.structs.replace(asked, uri=f"{asked.uri}?api_key=query-key-88-plain")
    written(cassette((asked, answer(reply("end_turn", f"It is {text}.")))), here / "keys.yaml")

    assert main(["promote", "keys.yaml", "--keep-text"]) == 0
    out = capsys.readouterr().out
    assert "for it." in out
    assert text not in out


def test_without_a_file_it_is_printed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["promote", "two.yaml", "--conversation", "2", "--keep-text"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("# Promoted from two.yaml, line ")
    assert "Another thing." in out


def test_every_conversation_gets_a_file(here: Path) -> None:
    assert main(["promote", "two.yaml", "-o", "s/x.yaml"]) == 0

    assert sorted(path.name for path in (here / "s").iterdir()) == ["x-1.yaml", "x-2.yaml"]


def test_a_file_that_is_there_is_kept(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "x.yaml").write_text("mine")

    assert main(["promote", "one.yaml", "-o", "x.yaml"]) == 2
    assert "x.yaml: there already; --force replaces it" in capsys.readouterr().err
    assert (here / "x.yaml").read_text() == "mine"
    assert main(["promote", "one.yaml", "-o", "x.yaml", "--force"]) == 0
    assert (here / "x.yaml").read_text().startswith("# Promoted")


def test_what_was_broken_in_the_recording_is_what_the_scenario_is_about(here: Path) -> None:
    later = request([user("What is a?"), assistant("A thing, or so."), user("And b?")])
    written(cassette(ONE, (later, answer(reply("end_turn", "b.", identifier="m")))), here / "bad.yaml")

    assert main(["judge", "bad.yaml"]) == 1
    assert main(["promote", "bad.yaml", "-o", "x.yaml"]) == 0
    assert load_scenario(here / "x.yaml").clauses[0] == "HIST-1"


@pytest.mark.parametrize("scenario", ["pause/then-tool", "text/followed-up"])
def test_a_run_that_was_kept_becomes_a_scenario(
    scenario: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = "harness.loops.reference:loop"
    assert main(["run", scenario, "--loop", loop, "--in-process", "--history", "kept"]) == 0
    [stored, *_] = sorted((here / "kept").rglob("*.ndjson"))

    assert main(["promote", "--from-history", str(stored), "-o", "again/x.yaml"]) == 0

    assert f"Promoted from the history of {scenario}" in (here / "again" / "x.yaml").read_text()
    capsys.readouterr()
    assert main(["run", "x", "--scenarios", "again", "--loop", loop, "--in-process"]) == 0
    assert "2 pass" in capsys.readouterr().out


def test_a_run_that_failed_is_about_what_it_broke(here: Path) -> None:
    loop = f"{Path(__file__).parents[2] / 'examples' / 'wrong_loop.py'}:loop"
    assert main(["run", "pause/then-tool[json]", "--loop", loop, "--in-process", "--history", "kept"]) == 1
    [stored] = (here / "kept").rglob("*.ndjson")

    assert main(["promote", "--from-history", str(stored), "-o", "x.yaml"]) == 0

    scenario = load_scenario(here / "x.yaml")
    assert scenario.clauses[:2] == ["PAUSE-1", "PAUSE-5"]
    assert scenario.why == "when it happened, PAUSE-1 and PAUSE-5 came out broken"
    assert [step.reply.stop_reason for step in scenario.turns[0].script if step.reply] == [
        "pause_turn",
        "end_turn",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a recording, or a history with --from-history FILE"),
        (["one.yaml", "--from-history", "x"], "name a recording, or a history"),
        (["nothing.yaml"], "nothing.yaml:1:1: there is no such file"),
        (["two.yaml"], "the recording has 2 conversations; choose one with --conversation N"),
        (["two.yaml", "--conversation", "3"], "--conversation 3: the recording has 2 conversations"),
        (["other.yaml"], "other.yaml: no conversation with the Messages API is in it"),
        (["one.yaml", "-o", "x.txt"], "-o x.txt: name a .yaml file"),
        (["--from-history", "one.yaml"], "one.yaml:1: not an event of a history"),
    ],
)
def test_what_cannot_be_promoted_is_said(
    arguments: list[str], said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (here / "one.yaml").read_text()
    (here / "other.yaml").write_text(text.replace("api.anthropic.com/v1/messages", "api.openai.com/v1"))

    assert main(["promote", *arguments]) == 2
    assert said in capsys.readouterr().err
