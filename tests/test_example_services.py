"""The services of examples/: the right ones keep every clause, their twins break what they are meant to."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

from harness.chosen import find_cases
from harness.cli import main
from harness.loops.reading import parse_answer
from harness.loops.service import Service
from harness.runner import CaseResult, Runner
from harness.turn import Declaration
from tests.node.sdk import installed

EXAMPLES = Path(__file__).parent.parent / "examples" / "services"
SELECTORS = ("truncate", "refuse", "stop", "pause", "text", "tool/one", "cancel/streaming")
BODY = '{"message": "{prompt}", "conversation": "{conversation}"}'


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The services in Node, beside what they import."""
    home = tmp_path_factory.mktemp("services")
    sdk = installed(tmp_path_factory.mktemp("node"))
    for file in EXAMPLES.glob("*.mjs"):
        shutil.copy(file, home)
    (home / "package.json").write_text((EXAMPLES / "package.json").read_text())
    (home / "node_modules").symlink_to(sdk / "node_modules")
    return home


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python that has what the services import: `HARNESS_SERVICES_PYTHON`, else one made for this."""
    if kept := os.environ.get("HARNESS_SERVICES_PYTHON"):
        return kept
    home = tmp_path_factory.mktemp("python")
    venv.create(home, with_pip=True)
    made = str(home / "bin" / "python")
    command = [made, "-m", "pip", "install", "-q", "-r", str(EXAMPLES / "requirements.txt")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("pip did not install the requirements in time")
    if done.returncode:
        pytest.skip(f"pip cannot install the requirements: {done.stderr.strip().splitlines()[-1:]}")
    return made


def judged(words: tuple[str, ...], answer: str, *selectors: str) -> dict[str, set[str]]:
    """The clauses that are broken, by scenario."""
    service = Service(
        where="POST http://127.0.0.1:{port}/api/chat",
        answer=parse_answer(answer),
        body=BODY,
        words=words,
        env={"PYTHONPATH": ""},
    )
    with Runner(service, declaration=Declaration(tools="own", own_tool="look_up")) as runner:
        probe = runner.probe()
        assert probe.problem is None
        assert len(probe.finished) >= 4
        cases = [case for case in find_cases(selectors) if case.variant in probe.variants]
        results = runner.run_all(cases)
    assert results
    return {result.scenario: broken(result) for result in results if broken(result)}


def broken(result: CaseResult) -> set[str]:
    assert result.grade != "error", result.reason
    return {check.clause for check in result.checks if check.grade == "fail"} - {"EXPECT"}


@pytest.mark.slow
def test_the_service_in_node_is_right(node: Path) -> None:
    assert judged(("node", str(node / "chat.mjs")), "sse:$.text", *SELECTORS) == {}


@pytest.mark.slow
def test_its_twin_ends_all_its_answers_alike(node: Path) -> None:
    found = judged(
        ("node", str(node / "wrong_chat.mjs")),
        "sse:$.text",
        "truncate/text", "refuse/partial", "fault/stream-error", "fault/stream-end", "text/one",
    )  # fmt: skip

    assert found["truncate/text"] == {"TRUNC-1"}
    assert found["refuse/partial"] == {"REFUSE-2"}
    assert found["fault/stream-error"] >= {"FAULT-4"}
    assert found["fault/stream-end"] >= {"FAULT-5"}
    assert "text/one" not in found


@pytest.mark.slow
def test_the_service_in_python_is_right(python: str) -> None:
    assert judged((python, str(EXAMPLES / "chat.py")), "json:$.reply", *SELECTORS) == {}


@pytest.mark.slow
def test_its_twin_hands_out_whatever_came_last(python: str) -> None:
    words = (python, str(EXAMPLES / "wrong_chat.py"))
    found = judged(words, "json:$.reply", "truncate/text", "refuse/partial", "fault/forbidden", "text/one")

    assert found == {"truncate/text": {"TRUNC-1"}, "refuse/partial": {"REFUSE-2"}}


def shown(program: str) -> list[str]:
    """The words of the line on the page that starts this program."""
    page = (EXAMPLES.parent.parent / "docs" / "services.md").read_text("utf-8").replace("\\\n", " ")
    [line] = [line for line in page.splitlines() if "loop-harness run --http" in line and program in line]
    return shlex.split(line)[2:]


@pytest.mark.slow
def test_the_line_on_the_page_judges_the_service_in_node(node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(node)
    assert main(["run", "text/one", "truncate/text", *shown("node chat.mjs")]) == 0


@pytest.mark.slow
def test_the_line_on_the_page_judges_the_service_in_python(
    python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)
    words = [word.replace("python chat.py", f"{python} chat.py") for word in shown("python chat.py")]
    assert main(["run", "text/one", "truncate/text", *words]) == 0


def test_every_service_says_what_it_needs() -> None:
    needed = {line.partition(">=")[0] for line in (EXAMPLES / "requirements.txt").read_text().split()}
    assert needed == {"anthropic", "starlette", "uvicorn"}
    assert all(name in (EXAMPLES / "chat.py").read_text() for name in needed)
