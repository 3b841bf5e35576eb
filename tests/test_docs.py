"""What the README and the docs say is so."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from argparse import _SubParsersAction
from pathlib import Path

import pytest

from harness.clauses import CLAUSES
from harness.cli import COMMANDS, _parser

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*/README.md")])


def without_times(text: str) -> str:
    """Times, ports and ids differ from run to run."""
    text = re.sub(r"\d+\.\d{3}(?= )", "0.000", text)
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)
    return re.sub(r"((?:srvtoolu|mcptoolu|toolu|msg|req)_)\w+", r"\1ID", text)


def made_by_commands() -> list[tuple[Path, list[str], str]]:
    """Where output is shown with the command that it was made by, on any page."""
    pattern = re.compile(r"<!-- made by .*? -->\n```\n\$ (.+)\n([\s\S]*?)```\n")
    return [
        (page, shlex.split(found[1]), found[2])
        for page in PAGES
        for found in pattern.finditer(page.read_text())
    ]


def test_the_readme_shows_a_judged_recording_and_a_judged_loop() -> None:
    commands = [command[:2] for page, command, _ in made_by_commands() if page == ROOT / "README.md"]

    assert commands == [["loop-harness", "run"], ["loop-harness", "judge"]]


@pytest.mark.parametrize(
    ("page", "command", "shown"),
    [pytest.param(*each, id=" ".join(each[1][:2])) for each in made_by_commands()],
)
def test_output_is_shown_as_it_is(page: Path, command: list[str], shown: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "harness", *command[1:]],
        cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip

    # What the README shows is broken; elsewhere it need not be.
    assert run.returncode in ((1,) if page.name == "README.md" else (0, 1))
    assert run.stderr == ""
    wanted = without_times(shown.rstrip().removesuffix("…").rstrip())
    assert wanted
    assert without_times(run.stdout).startswith(wanted + "\n")


def test_the_readme_names_both_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    script = (ROOT / ".ci" / "run").read_text()

    for command in (
        "pip install . && loop-harness run --loop harness.loops.reference:loop",
        "pip install -e '.[dev]' && pytest",
    ):
        assert f"    {command}\n" in readme
        assert command.partition(" && pytest")[0] in script


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_clauses_that_are_named_exist(page: Path) -> None:
    families = {clause.partition("-")[0] for clause in CLAUSES}
    named = {
        name
        for name in re.findall(r"\b[A-Z]{3,}-\d+\b", page.read_text())
        if name.partition("-")[0] in families
    }

    assert named <= CLAUSES.keys()


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text()
    for name in COMMANDS:
        assert f"| `{name}" in page
        [commands] = [each for each in _parser([name])._actions if isinstance(each, _SubParsersAction)]
        assert len(commands.choices[name]._actions) > 1
        for action in commands.choices[name]._actions:
            for option in action.option_strings:
                assert option in ("-h", "--help") or f"`{option}" in page or f"[{option}" in page, option


def test_every_dependency_has_its_reason() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()
    project = (ROOT / "pyproject.toml").read_text().partition("[project.scripts]")[0]
    names = re.findall(r'^    "([a-z-]+)>=', project.partition("dependencies = [")[2], re.MULTILINE)

    assert len(names) >= 9
    for name in names:
        assert f"\n| {name} |" in page, name


def test_every_package_for_development_is_told() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text().lower()
    project = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2]
    names = re.findall(r'^    "([a-z-]+)(?:>=.*)?",$', project.partition("\n[")[0], re.MULTILINE)

    assert {"ruff", "sphinx", "cosmic-ray"} <= set(names)
    assert [name for name in names if not re.search(rf"\b{name}\b", page)] == []
