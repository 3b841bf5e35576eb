"""What docs/recordings.md tells to do, done."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cassettes.read import read
from harness.cli import main
from harness.serving import everything
from tests.cassettes.serving import KEY, serving
from tests.provider.serve import reply

PAGE = (Path(__file__).parent.parent / "docs" / "recordings.md").read_text()
AGENT = """
import json, os, urllib.request

def run(prompt):
    asked = {"model": "claude-opus-4-6", "max_tokens": 100, "messages": [{"role": "user", "content": prompt}]}
    headers = {"x-api-key": "sk-ant-api03-0123456789abcdef", "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(asked).encode(), headers)) as answer:
        return json.load(answer)["content"][0]["text"]

if __name__ == "__main__":
    print(run("What changed in the latest release?"))
"""


@pytest.fixture
def api() -> Iterator[Any]:
    with serving(scenario=everything([reply("Two modules are new.", repeat="forever")])) as server:
        yield server


def commands(name: str) -> list[list[str]]:
    found = re.findall(rf"^    loop-harness {name} (.*)$", PAGE, re.MULTILINE)
    return [[name, *shlex.split(line.replace("-- python", f"-- {sys.executable}"))] for line in found]


def blocks() -> list[str]:
    return re.findall(r"```python\n([\s\S]*?)```", PAGE[PAGE.index("## Record") :])


def test_the_commands_record_and_replay(
    api: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT)
    [record], [replay] = commands("record"), commands("replay")
    record[record.index("https://api.anthropic.com")] = api.url

    assert main(record) == 0
    api.close()
    assert main(replay) == 0
    assert capfd.readouterr().out == "Two modules are new.\n" * 2
    assert KEY not in Path("cassettes/agent.yaml").read_text()


@pytest.mark.timeout(180)
def test_the_test_and_the_block_record_and_replay(api: Any, adopter: Any) -> None:
    test, block = blocks()
    adopter.write({"agent.py": AGENT, "test_agent.py": test, "block.py": block})
    reached = {"ANTHROPIC_BASE_URL": api.url}
    line = re.search(r"^    (pytest .*)$", PAGE, re.MULTILINE)
    assert line

    adopter.pytest(*shlex.split(line[1])[1:], as_module=True, **reached).assert_outcomes(passed=1)
    assert adopter.python("block.py", **reached).outlines == ["Two modules are new."]
    api.close()
    adopter.pytest(as_module=True, **reached).assert_outcomes(passed=1)
    assert adopter.python("block.py", **reached).outlines == ["Two modules are new."]

    found = "cassettes/test_agent/test_it_says_what_changed.yaml"
    for path in (found, "cassettes/agent.yaml"):
        assert f"`{path}`" in PAGE or path in block
        assert len(read(adopter.path / path).interactions) == 1
