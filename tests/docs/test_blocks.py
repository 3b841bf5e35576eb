"""No block of code goes unseen: each is run, compared, or read by what would read it, or says why not.

The comment before a block says more where its kind does not say enough:

* `made by …; tests/test_docs.py compares`: its first line is a command, the rest what that prints;
* `tests/….py runs this`, `compares` or `reads`: that test does, and names the page;
* `quoted from FILE`: it stands there, word for word;
* `not run: …`: for a reason.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from harness.baseline.load import Known
from harness.baseline.load import load as load_baseline
from harness.clauses import CLAUSES
from harness.declaration import DeclarationError, collect, problems_of
from harness.loops.protocol import ByeLine, HelloLine, OutcomeLine, RunLine, TurnLine
from harness.report.load import decode
from harness.scenario.discover import find_scenarios
from harness.scenario.load import parse_scenario
from harness.scenario.problems import ScenarioError
from tests.docs.commands import lines, problems
from tests.docs.pages import PAGES, ROOT, Block, blocks, name, spoken

COMPARED = "made by the command in its first line; tests/test_docs.py compares"
BY = re.compile(r"(?P<test>tests/\S+\.py) (?:runs|compares|reads) th(?:is|ese lines)(?:\b.*)?")
QUOTED = re.compile(r"quoted from (?P<file>\S+)")
NOT_RUN = re.compile(r"not run: (?P<reason>\w.*\w)", re.DOTALL)
LINES = {"protocol": TurnLine, "outcome": OutcomeLine, "hello": HelloLine, "run": RunLine, "bye": ByeLine}


def wrong(block: Block) -> list[str]:
    """What is wrong with a block; nothing where something sees to it that it is right."""
    if found := BY.fullmatch(block.note):
        return _by_a_test(block, ROOT / found["test"])
    if found := QUOTED.fullmatch(block.note):
        return [] if _stands_in(ROOT / found["file"], block.text) else [f"does not stand in {found['file']}"]
    if NOT_RUN.fullmatch(block.note):
        return []
    if block.note == COMPARED:
        return (
            [] if re.match(r"\$ loop-harness .+\n.", block.text) else ["shows no command and what it prints"]
        )
    if block.note:
        return [f"nobody knows what is meant by: {block.note}\n{__doc__}"]
    reader = READERS.get(block.kind)
    return reader(block.text) if reader else [f"nothing runs or reads a block of the kind `{block.kind}`"]


def _by_a_test(block: Block, test: Path) -> list[str]:
    if not test.is_file():
        return [f"there is no {test.relative_to(ROOT)}"]
    named = test.read_text(encoding="utf-8")
    return [] if f'"{block.page.name}"' in named else [f"{test.name} does not read {block.page.name}"]


def _stands_in(file: Path, text: str) -> bool:
    """Whether all that the text says in Python is said in the file, however it is laid out."""
    said = {ast.dump(node) for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))}
    quoted = [node.value if isinstance(node, ast.Expr) else node for node in ast.parse(text).body]
    return all(ast.dump(node) in said for node in quoted)


def _commands(text: str) -> list[str]:
    return [f"{problem}: {line}" for line in lines(text) for problem in problems(line)]


def _yaml(text: str) -> list[str]:
    """A scenario, a file of known results, or what a service for CI reads."""
    read = yaml.safe_load(text)
    try:
        if "title" in read:
            parse_scenario(text.encode(), scenario_id="shown")
        elif "known" in read:
            return _baseline(text)
        elif "repos" not in read:
            return [problem for script in _scripts(read) for problem in _commands(script)]
    except ScenarioError as error:
        return str(error).splitlines()
    return []


def _baseline(text: str) -> list[str]:
    path = Path("shown.yaml")
    known = Known.of(find_scenarios([]), CLAUSES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.baseline.load.read_bytes", lambda _: text.encode())
        load_baseline(path, known)
    return []


def _scripts(read: Any) -> list[str]:
    """The scripts of a job, wherever they stand."""
    if isinstance(read, list):
        return [script for each in read for script in _scripts(each)]
    if not isinstance(read, dict):
        return []
    own = [text for key in ("run", "script") for text in _listed(read.get(key))]
    return own + [script for each in read.values() for script in _scripts(each)]


def _listed(found: str | list[str] | None) -> list[str]:
    return [found] if isinstance(found, str) else found or []


def _json(text: str) -> list[str]:
    """A line of the protocol, a report, or what begins a session."""
    read = json.loads(text)
    kind = next(iter(read))
    if kind == "case":
        return problems_of(read.get("declaration", {}))
    try:
        if kind == "schema":
            decode(text)
        else:
            msgspec.convert(read, LINES[kind])
    except (KeyError, msgspec.ValidationError) as error:
        return [repr(error)]
    return []


def _python(text: str) -> list[str]:
    """What can be compiled is run by test_python.py."""
    compile(text, "shown", "exec")
    return []


def _toml(text: str) -> list[str]:
    """What a loop declares."""
    try:
        collect(tomllib.loads(text)["tool"]["loop-harness"])
    except DeclarationError as error:
        return error.problems
    return []


READERS: dict[str, Callable[[str], list[str]]] = {
    "command": _commands, "yaml": _yaml, "json": _json, "python": _python, "toml": _toml,
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_is_seen_to(page: Path) -> None:
    assert [f"{block.place}: {what}" for block in blocks(page) for what in wrong(block)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_within_a_sentence_can_be_typed(page: Path) -> None:
    told = [
        f"{name(page)}:{line}: {problem}: {text}"
        for line, text in spoken(page)
        if re.match(r"(loop-harness|python3?|pip) \S+ .", text)
        for problem in problems(text)
    ]

    assert told == []


@pytest.mark.parametrize(
    ("kind", "note", "text", "what"),
    [
        ("command", "", "loop-harness run --lop x\n", "there is no option --lop; did you mean `--loop`?"),
        ("command", "", "loop-harness run no/such --loop a:b\n", "no/such"),
        ("command", "", "frobnicate\n", "nobody knows what `frobnicate` is"),
        ("command", "", "python -m tests.no_such\n", "there is no module tests.no_such"),
        ("command", "", "pip install '.[no_such]'\n", "there is no extra no_such"),
        ("command", "", "pytest --harness-recrod\n", "the plugin has no option --harness-recrod"),
        ("command", "", "pre-commit run no-such\n", "there is no hook no-such"),
        ("command", "", "node examples/no_such.mjs\n", "examples/no_such.mjs is not there"),
        ("yaml", "", "title: x\nscript: []\n", "clauses"),
        ("yaml", "", "known: [{scenario: no/such, grade: fail, reason: x}]\n", "no/such"),
        ("yaml", "", "jobs: {a: {steps: [{run: loop-harness rum}]}}\n", "invalid choice"),
        ("json", "", '{"outcome": {"status": 1}}', "status"),
        ("json", "", '{"nobody": 1}', "nobody"),
        ("json", "", '{"case": "probe", "declaration": {"cap": {}}}', "did you mean 'caps'?"),
        ("js", "", "1", "nothing runs or reads a block of the kind `js`"),
        ("", "", "some output\n", "nothing runs or reads a block of the kind ``"),
        ("", COMPARED, "some output\n", "shows no command"),
        ("js", "tests/no_such.py runs this", "1", "there is no tests/no_such.py"),
        ("js", "tests/test_ci.py runs this", "1", "test_ci.py does not read README.md"),
        ("toml", "", "[tool.loop-harness]\npolicies = {on_max_tokens = 'x'}\n", "on_max_tokens"),
        ("python", "quoted from harness/cli.py", "no_such_line", "does not stand in harness/cli.py"),
        ("js", "not run: ", "1", "nobody knows what is meant"),
    ],
)
def test_what_nobody_sees_to_is_told(kind: str, note: str, text: str, what: str) -> None:
    [told, *_] = wrong(Block(ROOT / "README.md", 1, kind, text, note))

    assert what in told
