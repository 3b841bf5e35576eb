"""Cases for loops that somebody else runs: a wrapper asks for them, or somebody says their prompts."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.cli import main
from tests.commanding import ask, serving, start


class Wrapper(NamedTuple):
    """What a test runner in any language has to do, and no more."""

    control: str
    history: Path

    def asks(self, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.control + path, data)) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def runs(self, case: str, **how: object) -> dict[str, Any]:
        status, opened = self.asks("/sessions", {"case": case, **how})
        assert status == 201
        turn, session = opened["turn"], opened["session"]
        while turn:
            _, told = self.asks(f"/sessions/{session}/next", {"outcome": loop(turn)})
            turn = told["turn"]
        return self.asks(f"/sessions/{session}/verdict", {})[1]


def loop(turn: dict[str, Any]) -> dict[str, Any]:
    """Right for a text, wrong for whatever needs a second request."""
    body = {name: turn[name] for name in ("model", "max_tokens", "messages", "system")}
    if turn["tools"]:
        body["tools"] = turn["tools"]
    headers = {
        "x-api-key": turn["api_key"],
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    }
    url = turn["base_url"] + "/v1/messages"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as got:
            content = json.load(got)["content"]
    except urllib.error.HTTPError as error:
        with error:
            return {"status": "failed"}
    said = [*turn["messages"], {"role": "assistant", "content": content}]
    return {
        "status": "completed",
        "shown": [block["text"] for block in content if block["type"] == "text"],
        "history": said,
    }


def ends(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")


@pytest.fixture(scope="module")
def wrapper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wrapper]:
    history = tmp_path_factory.mktemp("history")
    process = start("serve", "--control", "--history", str(history), "--base-path", "/v1")
    url, _ = serving(process)
    assert url.endswith("/w0/v1")
    assert process.stdout is not None
    made = Wrapper(process.stdout.readline().strip().partition("HARNESS_CONTROL_URL=")[2], history)
    # The probe first, as for any loop: it is a session like the others.
    assert made.runs("probe")["exposes"] == ["history", "shown", "status", "tools"]
    yield made
    ends(process)


def test_a_wrapper_plays_a_case_and_is_told_what_is_broken(wrapper: Wrapper) -> None:
    verdict = wrapper.runs("pause/no-tools")

    assert (verdict["case"], verdict["grade"]) == ("pause/no-tools[json]", "fail")
    assert {check["clause"] for check in verdict["checks"] if check["grade"] == "fail"} >= {"PAUSE-1"}
    assert verdict["text"].startswith("FAIL  PAUSE-1  ")


@pytest.mark.parametrize("known_by", ["key", "prompt", "order"])
def test_a_conversation_is_played_turn_by_turn(wrapper: Wrapper, known_by: str) -> None:
    verdict = wrapper.runs("text/followed-up", known_by=known_by)

    assert (verdict["grade"], verdict["text"]) == ("pass", "")


def test_what_was_played_is_judged_again_from_its_folder(
    wrapper: Wrapper, capsys: pytest.CaptureFixture[str]
) -> None:
    wrapper.runs("truncate/text")

    assert main(["judge", str(wrapper.history / "truncate")]) == 1
    assert "FAIL  TRUNC-1" in capsys.readouterr().out


def test_sessions_may_be_open_side_by_side(wrapper: Wrapper) -> None:
    opened = [wrapper.asks("/sessions", {"case": "text/one"})[1] for _ in range(3)]
    for one in reversed(opened):
        told = wrapper.asks(f"/sessions/{one['session']}/next", {"outcome": loop(one["turn"])})
        assert told == (200, {"turn": None})
    grades = [wrapper.asks(f"/sessions/{one['session']}/verdict", {})[1]["grade"] for one in opened]

    assert grades == ["pass"] * 3


def test_hooks_are_below_the_url_of_the_turn(wrapper: Wrapper) -> None:
    _, opened = wrapper.asks("/sessions", {"case": "text/one"})
    hooks = wrapper._replace(control=opened["turn"]["harness_url"])

    assert hooks.asks("/cancelled") == (200, {"cancelled": False})
    assert hooks.asks("/outcome", loop(opened["turn"])) == (200, {})
    assert wrapper.asks(f"/sessions/{opened['session']}/verdict", {})[1]["grade"] == "pass"


def test_what_a_wrapper_declares_is_what_its_loop_is_judged_by(wrapper: Wrapper) -> None:
    def declared(**how: object) -> dict[str, Any]:
        verdict = wrapper.runs("text/one", **how)
        with Path(verdict["history"]).open("rb") as history:
            found: dict[str, Any] = json.loads(history.readline()).get("declaration", {})
        return dict(found.get("policies", {}))

    said = {"policies": {"on_max_tokens": "continue"}}
    assert declared(declaration=said) == {"on_max_tokens": "continue"}
    assert declared() == {}
    # What is said with the probe holds for what comes after it.
    wrapper.runs("probe", declaration=said)
    assert declared() == {"on_max_tokens": "continue"}
    assert declared(declaration={}) == {}
    wrapper.runs("probe", declaration={})


def test_a_turn_that_asked_nobody_is_an_error_of_the_wrappers(wrapper: Wrapper) -> None:
    _, opened = wrapper.asks("/sessions", {"case": "text/one", "by_hand": True})
    verdict = wrapper.asks(f"/sessions/{opened['session']}/verdict", {})[1]

    assert (verdict["grade"], verdict["reason"]) == (
        "error",
        "the turn is over, and the provider was not asked",
    )


def test_all_cases_are_told(wrapper: Wrapper) -> None:
    _, told = wrapper.asks("/cases")

    names = {one["case"] for one in told["cases"]}
    assert {"text/one[json]", "text/one[sse]"} <= names


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/sessions", {"case": "txt/one"}, 404, "did you mean 'text/one"),
        ("/sessions", {"case": "text/one", "knownby": "key"}, 400, "did you mean 'known_by'"),
        ("/sessions", {"case": "text/one", "known_by": "luck"}, 400, "one of key, prompt, order"),
        ("/sessions", {"case": "text/one", "known_by": ["key"]}, 400, "one of key, prompt, order"),
        ("/sessions", {"case": "text/one", "declaration": "stop"}, 400, "declaration: an object such as"),
        (
            "/sessions",
            {"case": "text/one", "declaration": {"policies": {"on_max_token": "stop"}, "cap": {}}},
            400,
            "did you mean 'on_max_tokens'? (one of",
        ),
        ("/sessions", ["text/one"], 400, "the body is an object"),
        ("/sessions/s999/next", {}, 404, "there is no session 's999'"),
        ("/session", {}, 404, "There is GET /control/cases"),
    ],
)
def test_what_cannot_be_meant_is_told(
    wrapper: Wrapper, path: str, body: object, status: int, said: str
) -> None:
    code, told = wrapper.asks(path, body)

    assert code == status
    assert said in told["error"]


@pytest.mark.slow
def test_cases_come_one_by_one_for_whoever_says_their_prompts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = "pause/no-tools", "text/one", "text/two"
    process = start("serve", *chosen, "--history", str(tmp_path), "--patience", "0.3")
    try:
        url, key = serving(process)
        assert process.stdout is not None
        process.stdout.readline()
        for case, grade in (("pause/no-tools", "fail"), ("text/one", "pass")):
            name, _, prompt = process.stdout.readline().strip().partition(": say ")
            assert name == f"{case}[json]"
            ask(url, key, json.loads(prompt))
            assert process.stdout.readline().strip() == f"{case}[json]: {grade}"
    finally:
        ends(process)

    # What nobody came to has left nothing.
    assert sorted(path.name for path in tmp_path.rglob("*.ndjson")) == [
        "no-tools.json.ndjson",
        "one.json.ndjson",
    ]
    assert main(["judge", str(tmp_path)]) == 1
    assert "FAIL  PAUSE-1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--history", "x"], "name scenarios, or give --control"),
        (["--control", "--script", "x.yaml"], "leave it out to have cases judged"),
        (["nope/one"], "nope/one"),
    ],
)
def test_what_does_not_go_together_is_told(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *arguments]) == 2
    assert said in capsys.readouterr().err
