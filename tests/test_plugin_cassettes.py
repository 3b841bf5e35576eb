"""Recordings of tests, in other people's repositories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cassettes.marked import used
from harness.serving import everything
from tests.cassettes.serving import serving
from tests.provider.serve import reply

TEST = """
import json, os, urllib.request
import pytest

def ask(content):
    body = {{"model": "claude-opus-4-6", "max_tokens": 9}}
    body["messages"] = [{{"role": "user", "content": content}}]
    headers = {{"x-api-key": "sk-ant-api03-0123456789abcdef", "anthropic-version": "2023-06-01"}}
    headers["content-type"] = "application/json"
    request = urllib.request.Request("{url}/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["content"][0]["text"]

@pytest.fixture
def asked_before():
    return ask("first")

@pytest.mark.harness_cassette
def test_one(asked_before):
    assert (asked_before, ask(os.environ.get("SAY", "a"))) == ("Hi.", "Hi.")

@pytest.mark.harness_cassette("mine.yaml", ignore=["messages"])
def test_two():
    assert ask(os.environ.get("SAY", "b")) == "Hi."
    assert "FAIL" not in os.environ
"""


@pytest.mark.timeout(180)
def test_a_test_is_recorded_and_replayed_without_a_network(adopter: Any) -> None:
    with serving(scenario=everything([reply("Hi.", repeat="forever")])) as api:
        adopter.write({"tests/test_it.py": TEST.format(url=api.url)})
        missing = adopter.pytest()
        adopter.pytest("--harness-record", FAIL="1").assert_outcomes(passed=1, failed=1)
        kept = {path.relative_to(adopter.path).as_posix() for path in adopter.path.rglob("*.yaml")}
        adopter.pytest("--harness-record=once").assert_outcomes(passed=2)

    missing.assert_outcomes(errors=2)
    missing.stdout.fnmatch_lines(["*mine.yaml is not recorded yet: *pytest --harness-record"])
    missing.stdout.no_fnmatch_line("*Traceback*")
    assert kept == {"tests/cassettes/test_it/test_one.yaml"}
    assert "sk-ant-api03" not in (adopter.path / "tests/mine.yaml").read_text()

    adopter.pytest().assert_outcomes(passed=2)
    other = adopter.pytest(SAY="something else")
    other.assert_outcomes(passed=1, failed=1)
    other.stdout.fnmatch_lines(['*+   "text": "something else"*', "FAILED tests/test_it.py::test_one*"])


@pytest.mark.parametrize(
    ("arguments", "options", "told"),
    [
        (("a", "b"), {}, "harness_cassette takes one path"),
        ((), {"ignore": ["a..b"]}, "'a..b' is no path of fields"),
        ((), {"wrong": 1}, "a cassette has no option 'wrong'; it has: redact, "),
    ],
)
def test_a_marker_that_is_wrong_is_said_so(
    tmp_path: Path, arguments: tuple[str, ...], options: dict[str, Any], told: str
) -> None:
    cassette = tmp_path / "cassettes" / "test_it" / "test_it[a-b].yaml"
    cassette.parent.mkdir(parents=True)
    cassette.write_text("interactions: []\nversion: 1\n")

    use, problem = used(tmp_path / "test_it.py", "test_it[a/b]", arguments, options, None)

    assert use is None
    assert problem.startswith(told)
