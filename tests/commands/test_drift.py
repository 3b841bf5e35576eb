"""`drift`: what it says, and the code it exits with."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main
from tests.cassettes.recordings import answer, cassette, request, user, written
from tests.cassettes.test_drift import of_today

ASK = user("What is a?")
GONE = user("What is b?")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with recordings of today, of another year, and of nobody."""
    reply = answer(of_today())
    written(cassette((request([ASK]), reply), (request([GONE]), reply)), tmp_path / "today.yaml")
    written(cassette((request([ASK]), answer(of_today("2025-03")))), tmp_path / "old.yaml")
    written(cassette((request([ASK]), answer(of_today(mood="fine")))), tmp_path / "odd.yaml")
    written(cassette((request([ASK]), reply)), tmp_path / "fresh.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_of_today_is_summed_up(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drift", "today.yaml"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("1 recording, 2 replies: 0 that anthropic ")
    assert out.endswith("0 with unknown keys, 0 with other keys than today's\n")


def test_keys_that_came_since_count_only_where_that_is_asked(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["drift", "old.yaml"]) == 0
    assert "  `stop_details` has come: 1 reply\n" in capsys.readouterr().out
    assert main(["drift", "old.yaml", "--strict"]) == 1


def test_unknown_keys_are_told_with_their_place(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drift", "."]) == 1
    assert "  the reply has `mood`:\n    odd.yaml:2\n" in capsys.readouterr().out


def test_what_nobody_sends_any_more_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drift", "today.yaml", "--against", "fresh.yaml"]) == 1

    out = capsys.readouterr().out
    assert "  nobody sends this request any more:\n    today.yaml:" in out
    assert out.endswith("1 of 2 requests not sent any more\n")


def test_a_recording_of_nothing_but_that_is_told_as_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(cassette((request([GONE]), answer(of_today()))), here / "gone.yaml")

    assert main(["drift", "gone.yaml", "--against", "fresh.yaml"]) == 1
    assert (
        "nobody sends any request of these recordings any more:\n    gone.yaml\n" in capsys.readouterr().out
    )


def test_a_run_that_was_kept_says_what_is_sent(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = "harness.loops.reference:loop"
    assert main(["run", "text/one", "--loop", loop, "--in-process", "--history", "kept"]) == 0
    capsys.readouterr()

    assert main(["drift", "today.yaml", "--against", "kept"]) == 1
    assert "2 of 2 requests not sent any more" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nothing"], 2, "nothing:1:1: there is no such file or folder"),
        (["other.yaml"], 4, "no request of the Messages API in other.yaml"),
        (["today.yaml", "--against", "other.yaml"], 2, "--against: no request of the Messages API"),
        (["today.yaml", "--against", "x.ndjson"], 2, "--against: x.ndjson: there is no such file"),
    ],
)
def test_what_cannot_be_compared_is_said(
    arguments: list[str], code: int, said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (here / "fresh.yaml").read_text()
    (here / "other.yaml").write_text(text.replace("api.anthropic.com/v1/messages", "api.openai.com/v1"))

    assert main(["drift", *arguments]) == code
    assert said in capsys.readouterr().err
