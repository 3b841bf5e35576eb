"""The adapters of frameworks say what they need, and those of another environment need nothing of ours."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from harness.loops.command import Command
from harness.probe import Probe
from tests.languages.loops import EXAMPLES, verdicts

FRAMEWORKS = EXAMPLES / "frameworks"
PAGE = EXAMPLES.parent / "docs" / "frameworks.md"
NAMES = sorted(folder.name for folder in FRAMEWORKS.iterdir() if (folder / "loop.py").exists())
LOOP = f"""
import json, sys, urllib.request
sys.path.insert(0, {str(FRAMEWORKS)!r})
from adapter import serve

async def loop(turn):
    headers = {{"x-api-key": turn.api_key, "anthropic-version": "2023-06-01"}}
    headers["content-type"] = "application/json"
    messages = [*turn.messages]
    stopped = []
    turn.when_cancelled(lambda: stopped.append(1))
    for _ in range(5):
        tools = {{"tools": turn.tools}} if turn.tools else {{}}
        body = {{"model": turn.model, "max_tokens": turn.max_tokens, "messages": messages, **tools}}
        asked = urllib.request.Request(turn.base_url + "/v1/messages", json.dumps(body).encode(), headers)
        reply = json.load(urllib.request.urlopen(asked))
        messages.append({{"role": "assistant", "content": reply["content"]}})
        calls = [block for block in reply["content"] if block["type"] == "tool_use"]
        if not calls:
            text = "".join(block.get("text", "") for block in reply["content"])
            return {{"status": "completed", "shown": [text], "history": messages}}
        results = []
        for one in calls:
            said = await turn.tool(one["name"], one["input"])
            results.append({{"type": "tool_result", "tool_use_id": one["id"], **said}})
        messages.append({{"role": "user", "content": results}})

print("a library says something", end="")
serve(loop)
"""


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_it_needs_and_the_page_which_versions_were_judged(name: str) -> None:
    needed = (FRAMEWORKS / name / "requirements.txt").read_text("utf-8").split()
    versions = re.findall(r"==(\S+)$", "\n".join(needed), re.MULTILINE)
    assert len(versions) == len(needed)
    page = PAGE.read_text("utf-8")
    assert [version for version in versions if version not in page] == []
    assert f"examples/frameworks/{name}/loop.py" in page


@pytest.mark.parametrize("stays", [True, False])
def test_the_adapter_plays_turns_where_nothing_of_ours_is_installed(tmp_path: Path, stays: bool) -> None:
    (tmp_path / "loop.py").write_text(LOOP, "utf-8")
    command = Command(words=(sys.executable, "-I", "-S", str(tmp_path / "loop.py")), keep_alive=stays)
    known = Probe(exposes=["history", "shown", "status", "tools"])
    got = verdicts(command, ["tool/one[json]", "text/followed-up[json]"], known)
    assert {name: result.grade for name, result in got.items()} == dict.fromkeys(got, "pass")
    assert len(got) == 2
