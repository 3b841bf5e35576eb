"""The commands `record` and `replay`: what they print, leave behind, and exit with."""

from __future__ import annotations

import contextlib
import http.client
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vcr.serialize
from vcr.serializers import yamlserializer

from harness.cassettes.read import read
from harness.cli import main
from harness.serving import everything
from tests.cassettes.serving import KEY, post, serving
from tests.provider.serve import reply

ASK = """
import json, os, sys, urllib.request
for content in sys.argv[1:]:
    body = {"model": "claude-opus-4-6", "max_tokens": 9, "messages": [{"role": "user", "content": content}]}
    headers = {"x-api-key": os.environ.get("ANTHROPIC_API_KEY", ""), "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        print(json.load(answer)["content"][0]["text"])
if "fail" in sys.argv:
    sys.exit(7)
"""


@pytest.fixture
def api() -> Iterator[Any]:
    with serving(scenario=everything([reply("Hi.", repeat="forever")])) as server:
        yield server


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ask.py").write_text(ASK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return tmp_path


def ask(*contents: str) -> list[str]:
    return ["--", sys.executable, "ask.py", *contents]


def test_a_command_is_recorded_and_the_recording_takes_the_place_of_the_api(
    api: Any, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", "--upstream", api.url, "--cassette", "x.yaml", *ask("a", "b")]) == 0
    out, err = capfd.readouterr()
    assert out == "Hi.\nHi.\n"
    assert err.endswith("loop-harness: POST /v1/messages: 200\nloop-harness: 2 interactions in x.yaml\n")
    assert KEY not in (here / "x.yaml").read_text() + err
    api.close()

    assert main(["replay", "x.yaml", *ask("a", "b")]) == 0
    assert capfd.readouterr() == ("Hi.\nHi.\n", "loop-harness: 2 of 2 interactions played, 0 findings\n")

    assert main(["replay", "x.yaml", "--any-order", "--pace", "0.5", *ask("b")]) == 1
    told = capfd.readouterr().err
    assert "x.yaml:4 (interaction 1) was never asked for: POST http://127.0.0.1" in told
    assert told.endswith("1 of 2 interactions played, 1 finding\n")

    assert main(["replay", "x.yaml", "--ignore", "messages", *ask("b", "c", "fail")]) == 1
    assert "was asked once more" in capfd.readouterr().err


def test_a_command_that_fails_leaves_the_old_cassette_unless_asked_to(
    api: Any, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    record = ["record", "--upstream", api.url, "--cassette", "x.yaml"]
    assert main([*record, *ask("a")]) == 0
    before = (here / "x.yaml").read_bytes()

    assert main([*record, *ask("fail")]) == 7
    assert (
        "nothing is kept, since the command ended with 7; --keep-failed keeps it anyway"
        in capfd.readouterr().err
    )
    assert (here / "x.yaml").read_bytes() == before

    assert main([*record, "--keep-failed", *ask("fail")]) == 7
    assert b"fail" in (here / "x.yaml").read_bytes()
    assert main([*record, "--", "true"]) == 0
    assert "no request came, so nothing is kept" in capfd.readouterr().err
    assert {path.name for path in here.iterdir()} == {"ask.py", "x.yaml"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["record", "--upstream", "api.anthropic.com", "--cassette", "x.yaml"],
            "is no address: write https://api",
        ),
        (
            ["record", "--upstream", "http://x", "--cassette", "/proc/x.yaml"],
            "/proc/x.yaml cannot be written:",
        ),
        (
            ["record", "--upstream", "http://x", "--cassette", "x.yaml", "--redact", "("],
            "is no regular expression:",
        ),
        (
            ["record", "--upstream", "http://x", "--cassette", "x.yaml", "--secret-env", "NO_SUCH"],
            "no such variable",
        ),
        (
            ["record", "--upstream", "http://x", "--cassette", "x.yaml", "--", "no-such"],
            "is no command that can be",
        ),
        (["record", "--upstream", "http://x", "--cassette", "x.json"], "as YAML; name it x.yaml"),
        (["replay", "none.yaml"], "none.yaml:1:1: there is no such file"),
        (["replay", "ask.py"], "ask.py:"),
        (["replay", "x.yaml", "--ignore", "a..b"], "is no path of fields"),
    ],
)
def test_what_cannot_be_done_is_said_without_a_traceback(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    (here / "x.yaml").write_text("interactions: []\nversion: 1\n")

    assert main(arguments) == 2
    assert told in capsys.readouterr().err


def test_a_pace_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for pace in ("soon", "-1", "nan", "inf"):
        with pytest.raises(SystemExit):
            main(["replay", "x.yaml", f"--pace={pace}"])
        assert f"{pace!r} is no pace; write recorded, fast, or a factor" in capsys.readouterr().err


# --- without a command ------------------------------------------------------------------------------


class Running:
    """`record` or `replay` as a process, until it is stopped."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harness", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip().partition("=")[2]

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err


def conversation(*contents: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": content} for content in contents]
    return {"model": "claude-opus-4-6", "max_tokens": 9, "messages": messages}


def test_without_a_command_every_exchange_is_kept_at_once(api: Any, here: Path) -> None:
    running = Running("record", "--upstream", api.url, "--cassette", "x.yaml")
    for number in range(3):
        assert post(running.url, conversation(str(number)))[0] == 200
    seen = wait_for(here / "x.yaml", 3)
    code, err = running.stop()

    assert (seen, code) == (3, 0)
    assert err.endswith("loop-harness: 3 interactions in x.yaml\n")
    replayed = Running("replay", "x.yaml")
    assert [post(replayed.url, conversation(str(number)))[0] for number in range(3)] == [200] * 3
    assert replayed.stop(signal.SIGTERM) == (0, "loop-harness: 3 of 3 interactions played, 0 findings\n")


def wait_for(path: Path, count: int) -> int:
    deadline = time.monotonic() + 10
    while len(read(path).interactions) < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return len(read(path).interactions)


def keep_asking(url: str) -> None:
    """Until nobody answers. What is said is large, so that much of the time is spent writing."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        for number in range(10_000):
            post(url, conversation(str(number), "x" * 300_000))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_recording_that_is_killed_at_any_moment_leaves_a_whole_cassette(api: Any, here: Path) -> None:
    path = here / "x.yaml"
    moments = random.Random(5)
    found = set()
    for _ in range(20):
        running = Running("record", "--upstream", api.url, "--cassette", "x.yaml")
        asking = threading.Thread(target=keep_asking, args=(running.url,))
        asking.start()
        time.sleep(moments.uniform(0.01, 1.0))
        running.stop(signal.SIGKILL)
        asking.join()

        count = len(read(path).interactions)
        assert len(vcr.serialize.deserialize(path.read_text(), yamlserializer)[0]) == count
        found.add(count)
    assert len(found) > 3
    with pytest.raises(SystemExit):
        main(["record", "--upstream", api.url])
    assert main(["record", "--upstream", api.url, "--cassette", "x.yaml", *ask("a")]) == 0
    assert {each.name for each in here.iterdir()} == {"ask.py", "x.yaml"}
