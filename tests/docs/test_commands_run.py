"""Every line of ours that a page has one type is typed, page by page, in a repository as they suppose it.

What plays everything is given one case in its place, since what is shown here is that the line can be run.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from harness.cli import main
from tests.docs.commands import commands, lines
from tests.docs.pages import PAGES, ROOT, blocks, name
from tests.docs.test_python import AGENT

ELSEWHERE = {
    "init": "tests/commands/test_init.py, since it asks or writes into the repository",
    "record": "tests/test_docs_recordings.py",
    "replay": "tests/test_docs_recordings.py",
    "serve": "tests/test_serve.py and tests/test_services_page.py, since it ends by being interrupted",
}
"""Commands that are run by another test."""
NOT_HERE = {
    "--command 'node": "tests/languages, where there is a Node",
    "--command 'php": "tests/languages, where there is a PHP",
    "--command 'mycli": "nobody has it",
    "--command 'claude": "it is of somebody else's",
    "--command '.venv/bin/python examples/frameworks": "it takes what is in their requirements",
    "--http 'POST": "tests/test_example_services.py",
}
"""What a line has in it that takes more than this repository."""
CASES = ("text/one[json]", "tool/one[json]", "pause/no-tools[json]")
LOOP = """
from harness import Outcome, Turn
from my_agent import Agent

def loop(turn: Turn) -> Outcome:
    agent = Agent(base_url=turn.base_url, api_key=turn.api_key, model=turn.model, system=turn.system)
    for tool in turn.tools:
        agent.add_tool(tool.name, tool.description, tool.input_schema, tool.run)
    answer = agent.run(turn.messages)
    return Outcome(shown=[answer.text], history=answer.messages)

run = loop
"""

pytestmark = pytest.mark.slow


def typed(page: Path) -> list[tuple[str, list[str]]]:
    """The lines of a page that begin with our command, each with its words, but for those of another test."""
    shown = [block.text for block in blocks(page) if block.kind == "command" and not block.note]
    found = [line for text in shown for line in lines(text)]
    return [(line, words[1:]) for line in found for words in commands(line) if words[:1] == ["loop-harness"]]


def left_out(line: str, words: list[str]) -> bool:
    return words[0] in ELSEWHERE or any(part in line for part in NOT_HERE)


def shortened(words: list[str]) -> list[str]:
    """With three cases in place of everything, and of whole families."""
    if words[0] != "run":
        return words
    first = next(place for place, word in enumerate(words) if word.startswith("-"))
    chosen = words[1:first]
    return words if chosen and all("/" in word for word in chosen) else ["run", *CASES, *words[first:]]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the pages suppose to be there."""
    for folder in ("my_agent", "tests/cassettes", "kept", "scenarios"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "my_agent" / "__init__.py").write_text(AGENT)
    for module in ("my_agent/conformance.py", "conformance.py", "other.py"):
        (tmp_path / module).write_text(LOOP)
    for recording in ("tests/cassettes/failed.yaml", "kept/now.yaml"):
        shutil.copy(ROOT / "examples" / "dropped_thinking.yaml", tmp_path / recording)
    shutil.copy(ROOT / "scenarios" / "text" / "one.yaml", tmp_path / "scenarios" / "mine.yaml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    report = ["run", "text/one[json]", "--loop", "conformance.py:loop", "--quiet"]
    assert main([*report, *(f"--report=json:{name}.json" for name in ("main", "branch", "run"))]) == 0
    return tmp_path


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", [page for page in PAGES if typed(page)], ids=name)
def test_what_a_page_has_one_type_can_be_run(
    page: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for line, words in typed(page):
        if left_out(line, words):
            continue
        code = main(shortened(words))
        out, err = capsys.readouterr()
        assert code in (0, 1), f"{line}\n{out}\n{err}"


def test_nothing_is_left_out_that_is_on_no_page() -> None:
    every = [pair for page in PAGES for pair in typed(page)]

    assert {words[0] for _, words in every} >= ELSEWHERE.keys()
    assert [part for part in NOT_HERE if not any(part in line for line, _ in every)] == []
    assert len([line for line, words in every if not left_out(line, words)]) >= 30
