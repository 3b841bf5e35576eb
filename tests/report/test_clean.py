"""No report tells a secret."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.history import RequestSeen
from harness.report.clean import Cleaner
from harness.report.kinds import KINDS, rendered
from tests.report.samples import LOST, events, loop, report, result

KEY = "sk-ant-api03-" + "Ab3" * 10
OWN = "hunter2-hunter2-hunter2"


def leaky() -> object:
    told = events(f"My key is {KEY}, and {OWN}.")
    request = told[2]
    assert isinstance(request, RequestSeen)
    request.body["mcp_servers"] = [{"url": "https://example.com", "authorization_token": "abc"}]
    request.headers = {"authorization": "<bearer token>", "x-own": KEY}
    broken = LOST.__class__(clause="TOOL-2", level="MUST", grade="fail", message=f"It said {KEY}.", diff=OWN)
    return result("tool/one", "json", broken, events=told, reason=KEY)


@pytest.mark.parametrize("kind", KINDS)
def test_keys_reach_no_report(kind: str) -> None:
    clean = Cleaner({"MY_SECRET": OWN}).result(leaky())  # type: ignore[arg-type]
    text = rendered(kind, report(loop("mine", clean)))
    told = text if isinstance(text, str) else "".join(text.values())

    assert told
    assert KEY not in told
    assert OWN not in told
    assert '"abc"' not in told


def test_what_is_no_secret_stays() -> None:
    clean = Cleaner({"MY_SECRET": OWN}).result(leaky())  # type: ignore[arg-type]

    request = clean.events[2]
    assert isinstance(request, RequestSeen)
    assert request.headers == {"authorization": "<bearer token>", "x-own": "REDACTED"}
    assert clean.checks[0].message == "It said REDACTED."
    assert clean.checks[0].diff == "REDACTED"


def test_a_result_without_secrets_is_left_alone() -> None:
    one = result("tool/one", "json", LOST)

    assert Cleaner({}).result(one) is one


LEAKY = """
import json, os, sys, urllib.request
given = json.loads(sys.stdin.readline())
key = os.environ["OWN_API_KEY"]
tools = [{"name": each["name"], "input_schema": each["input_schema"]} for each in given["tools"]]
body = {"model": given["model"], "max_tokens": 9, "metadata": {"user_id": key}, "tools": tools}
body["messages"] = [{"role": "user", "content": f"{given['prompt']} with {key}"}]
headers = {"x-api-key": given["api_key"], "anthropic-version": "2023-06-01", "x-mine": key}
headers["content-type"] = "application/json"
request = urllib.request.Request(given["base_url"] + "/v1/messages", json.dumps(body).encode(), headers)
with urllib.request.urlopen(request) as answer:
    said = json.load(answer)
print(key, file=sys.stderr)
print(json.dumps({"outcome": {"shown": [f"No, {key}."], "history": body["messages"], "detail": key}}))
"""


def test_keys_of_a_command_line_reach_no_report_and_no_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leaky.py").write_text(LEAKY)
    reports = [word for kind in KINDS for word in ("--report", f"{kind}:out/{kind}")]
    (tmp_path / "out").mkdir()
    command = f"leaky={sys.executable} {tmp_path / 'leaky.py'}"

    assert main(["run", "tool/one[json]", "--command", command, "--env", f"OWN_API_KEY={OWN}", *reports]) == 1

    written = {path: path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert len(written) == len(KINDS)
    out, err = capfd.readouterr()
    assert [str(path) for path, text in written.items() if OWN in text] == []
    assert OWN not in out + err
    assert "--env OWN_API_KEY=REDACTED" in out
    assert "with REDACTED" in written[tmp_path / "out" / "repro" / "tool-one-json.py"]


def test_a_header_that_is_sent_to_a_service_is_a_key_where_its_name_says_so() -> None:
    headers = [("Authorization", f"Bearer {OWN}"), ("x-kind", "of-no-importance"), ("x-api-key", "test")]
    cleaner = Cleaner({}, headers)

    assert cleaner.text(f"it sent {OWN} and of-no-importance in a test") == (
        "it sent REDACTED and of-no-importance in a test"
    )
