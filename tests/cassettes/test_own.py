"""The project's own cassettes: replayed to the loops that recorded them, and no older than these."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from harness.cassettes.read import read
from tests.cassettes.serving import post, replaying
from tests.record_cassettes import FOLDER, TAKES, Take, play, record

EACH = pytest.mark.parametrize("take", TAKES, ids=lambda take: f"{take.loop}/{take.path.stem}")


@EACH
def test_the_loop_asks_what_it_asked_when_it_was_recorded(take: Take) -> None:
    with replaying(take.path) as (url, player):
        play(take, url)

    assert player.finish() == []
    assert player.played == len(read(take.path).interactions) > 0


@pytest.mark.parametrize(
    ("recorded", "played"), [("runner", "runner-unthreaded"), ("runner-unthreaded", "runner")]
)
def test_a_recording_over_a_thread_and_one_without_are_the_same(recorded: str, played: str) -> None:
    for take in [take for take in TAKES if take.loop == recorded]:
        with replaying(take.path) as (url, player):
            play(take._replace(loop=played), url)

        assert player.finish() == []


def test_what_differs_in_a_thread_is_shown_with_what_the_thread_stands_for() -> None:
    [take] = [take for take in TAKES if (take.loop, take.scenario) == ("runner", "tool/chained")]
    with replaying(take.path) as (url, player):
        again = json.loads(read(take.path).interactions[1].request.body)
        again["messages"][0]["content"][0]["content"] = "something else"
        post(url, read(take.path).interactions[0].request.body)
        post(url, again)

    message = player.findings[0].message
    assert "first at messages[2].content[0]:" in message
    assert "something else" in message
    assert "thread" not in message


@EACH
def test_it_is_what_would_be_recorded_today(take: Take, tmp_path: Path) -> None:
    if read(take.path).made_by != take.made_by:
        assert f"anthropic {version('anthropic')}" not in read(take.path).made_by
        pytest.skip("recorded with another version of the SDK")
    record(take, tmp_path / "x.yaml")

    assert take.path.read_text() == (tmp_path / "x.yaml").read_text()


def test_there_is_no_other_and_each_says_how_it_was_made() -> None:
    assert sorted(FOLDER.rglob("*.yaml")) == sorted(take.path for take in TAKES)
    for take in TAKES:
        cassette = read(take.path)
        assert cassette.secrets_checked
        assert "not the API" in cassette.made_by
