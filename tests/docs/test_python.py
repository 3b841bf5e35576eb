"""What the pages show in Python runs, in the repository of somebody whose agent is called `my_agent`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks

NAMED = re.compile(r"# (\S+\.py)\n")
TESTED = re.compile(r"^def test_|^def loop\(|= conformance\(", re.MULTILINE)
"""What a test comes of; the rest is only imported."""
AGENT = '''
import json, os, urllib.error, urllib.request
from types import SimpleNamespace

class Agent:
    def __init__(self, base_url=None, api_key=None, model="claude-opus-4-6", system="", tools=()):
        self.url = (base_url or os.environ["ANTHROPIC_BASE_URL"]) + "/v1/messages"
        self.key = api_key or os.environ["ANTHROPIC_API_KEY"]
        self.asked = {"model": model, "max_tokens": 1024, "system": system}
        self.tools = {}
        for tool in tools:
            schema = {"type": "object", "properties": {"key": {"type": "string"}}}
            self.add_tool(tool.__name__, tool.__doc__, schema, lambda given: tool(**given))

    def add_tool(self, name, description, input_schema, run):
        self.tools[name] = ({"name": name, "description": description, "input_schema": input_schema}, run)

    def run(self, messages):
        messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else [*messages]
        for _ in range(8):
            reply = self.ask(messages)
            messages.append({"role": "assistant", "content": reply["content"]})
            calls = [block for block in reply["content"] if block["type"] == "tool_use"]
            if not calls and reply["stop_reason"] != "pause_turn":
                text = "".join(block["text"] for block in reply["content"] if block["type"] == "text")
                return SimpleNamespace(text=text, messages=messages)
            if calls:
                messages.append({"role": "user", "content": [self.result(call) for call in calls]})
        raise RuntimeError("it never ends")

    def result(self, call):
        content = self.tools[call["name"]][1](call["input"])
        return {"type": "tool_result", "tool_use_id": call["id"], "content": content}

    def ask(self, messages):
        body = {**self.asked, "messages": messages, "tools": [told for told, _ in self.tools.values()]}
        headers = {"x-api-key": self.key, "anthropic-version": "2023-06-01"}
        headers["content-type"] = "application/json"
        for _ in range(3):
            request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
            try:
                with urllib.request.urlopen(request) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                error.close()
                if error.code < 500:
                    raise
        raise RuntimeError("the API is overloaded")

def look_up(key):
    """Look something up."""
    return f"{key} thing"
'''
PLAYED = """
def test_{page}_{line}_is_a_loop(harness_loop):
    import sys
    sys.path.insert(0, "{folder}")
    import importlib.util
    spec = importlib.util.spec_from_file_location("shown_{page}_{line}", "{path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for scenario in ("text/one", "tool/one", "pause/no-tools"):
        assert harness_loop(module.loop, scenario, variant="json").grade == "pass"
"""


def shown() -> list[Block]:
    """What no other test runs."""
    return [block for page in PAGES for block in blocks(page) if block.kind == "python" and not block.note]


def written(folder: Path, block: Block) -> None:
    """The block as a file of its own: the first that has a name under it, so that others can import it."""
    page = re.sub(r"\W", "_", block.page.stem)
    named = NAMED.match(block.text)
    path = folder / named[1] if named else folder / "tests" / f"test_{page}_{block.line}.py"
    if path.exists():
        path = folder / page / path.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")
    if re.search(r"^(async )?def loop\(", block.text, re.MULTILINE):
        played = PLAYED.format(page=page, line=block.line, folder=folder, path=path)
        (folder / "tests" / f"test_{page}_{block.line}_played.py").write_text(played, encoding="utf-8")


@pytest.mark.timeout(180)
def test_what_is_shown_in_python_runs(tmp_path: Path) -> None:
    (tmp_path / "my_agent").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "my_agent" / "__init__.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "conformance.yaml").write_text("coverage: {}\nknown: []\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = --import-mode=importlib\n")
    (tmp_path / "conformance.py").write_text("from my_agent.conformance import loop as loop\n")
    for block in shown():
        written(tmp_path, block)
    env = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONPATH": f"{ROOT}:{ROOT / 'harness' / 'alias'}"}
    chosen = "text/one or test_it or _is_a_loop"
    options = "-q -W error -p harness.plugin -p no:cacheprovider -p no:xdist -p no:socket"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options.split(), "-k", chosen, "."],
        cwd=tmp_path, env=env, capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip

    assert run.returncode == 0, run.stdout + run.stderr
    [passed] = re.findall(r"(\d+) passed", run.stdout)
    assert int(passed) == sum(len(TESTED.findall(block.text)) for block in shown())
