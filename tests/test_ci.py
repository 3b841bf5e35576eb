"""What is said of CI: read as the services read it, and its steps run as they run them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli import main
from harness.commands.init_files import Answers, files
from harness.commands.init_source import WHEEL
from tests.commanding import ROOT

PAGE = (ROOT / "docs" / "ci.md").read_text()
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n([\s\S]*?)```", PAGE)]
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOOK_KEYS: dict[str, type] = {
    **dict.fromkeys(("id", "name", "entry", "language", "alias", "files", "exclude", "log_file"), str),
    **dict.fromkeys(("description", "language_version", "minimum_pre_commit_version"), str),
    **dict.fromkeys(
        ("types", "types_or", "exclude_types", "additional_dependencies", "args", "stages"), list
    ),
    **dict.fromkeys(("always_run", "fail_fast", "verbose", "pass_filenames", "require_serial"), bool),
}
"""What a hook may say, and as what: https://pre-commit.com/#creating-new-hooks."""
SHOWN = Answers("python", "my_agent.conformance:loop", streaming=False, queue=False, ci="github")
RIGHT = "from harness.loops.reference import loop\n"


@pytest.fixture
def runner(tmp_path: Path) -> Any:
    """A machine of a CI service: a checkout with a right loop, where pip installs nothing."""
    (tmp_path / "bin").mkdir()
    for name, line in {
        "loop-harness": f'exec {sys.executable} -m harness "$@"',
        "pip": 'echo "pip $*" >> "$HOME/installed"',
        "python": f'if [ "$2" = pip ]; then shift 2; exec pip "$@"; fi; exec {sys.executable} "$@"',
    }.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    checkout = tmp_path / "checkout"
    (checkout / "my_agent").mkdir(parents=True)
    (checkout / "my_agent" / "conformance.py").write_text(RIGHT)

    def run(script: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=checkout,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={
                "HOME": str(tmp_path),
                "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
                "PYTHONPATH": f"{ROOT}:{ROOT / 'harness' / 'alias'}",
                "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
                "GITHUB_OUTPUT": str(tmp_path / "output"),
                **env,
            },
        )

    run.checkout = checkout  # type: ignore[attr-defined]
    run.home = tmp_path  # type: ignore[attr-defined]
    return run


def small(script: str) -> str:
    """With two cases in place of a profile's hundreds."""
    assert " --profile core-1" in script
    return script.replace(" --profile core-1", " text/one --profile core-1")


def test_the_page_shows_the_jobs_that_init_writes() -> None:
    assert files(SHOWN)[".github/workflows/conformance.yml"] in PAGE
    assert files(SHOWN._replace(ci="gitlab"))[".gitlab/conformance.yml"] in PAGE


@pytest.mark.timeout(180)
def test_the_job_on_github_judges_and_reports(runner: Any) -> None:
    job = yaml.safe_load(files(SHOWN)[".github/workflows/conformance.yml"])
    install, judge = (step["run"] for step in job["jobs"]["conformance"]["steps"] if "run" in step)
    (runner.checkout / "conformance.yaml").write_text(files(SHOWN)["conformance.yaml"])

    assert runner(install, **job["env"]).returncode == 0
    ran = runner(small(judge))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert (runner.home / "installed").read_text() == f"pip install {WHEEL}\n"
    reports = runner.checkout / "conformance-report"
    assert sorted(path.name for path in reports.iterdir()) == ["index.html", "junit.xml", "run.json"]
    assert "nothing broken" in (runner.home / "summary.md").read_text()


@pytest.mark.timeout(180)
def test_the_job_on_gitlab_is_red_for_a_wrong_loop_and_reports_all_the_same(runner: Any) -> None:
    job = yaml.safe_load(files(SHOWN._replace(ci="gitlab"))[".gitlab/conformance.yml"])["conformance"]
    (runner.checkout / "conformance.yaml").write_text(files(SHOWN)["conformance.yaml"])
    (runner.checkout / "my_agent" / "conformance.py").write_text(
        "def loop(turn):\n    return 'I asked nobody.'\n"
    )

    ran = runner(small("\n".join(job["script"])), **job["variables"])

    assert ran.returncode == 4
    assert (runner.checkout / job["artifacts"]["reports"]["junit"]).exists()


@pytest.mark.timeout(180)
def test_the_action_takes_its_inputs_as_they_are(runner: Any) -> None:
    install, judge = ACTION["runs"]["steps"]
    assert ACTION["runs"]["using"] == "composite"
    assert all(step["shell"] == "bash" for step in (install, judge))
    given = {
        "loop": "my_agent.conformance:loop",
        "profile": "core-1",
        "arguments": "text/one\n--env-of-mine",
        "reports": "out put; exit 3",
    }
    inputs = {name: given.get(name, spec["default"]) for name, spec in ACTION["inputs"].items()}

    def env(step: dict[str, Any]) -> dict[str, str]:
        named = {
            name: re.fullmatch(r"\$\{\{ inputs\.(\w+)(?: \|\| .*)? \}\}", of)
            for name, of in step["env"].items()
        }
        return {name: inputs[found[1]] for name, found in named.items() if found}

    assert set(env(judge)) == set(judge["env"])
    assert runner(install["run"], INSTALL="/the/action").returncode == 0
    assert (runner.home / "installed").read_text() == "pip install --quiet /the/action\n"

    wrong = runner(judge["run"], **env(judge))
    assert (wrong.returncode, "there is no option --env-of-mine" in wrong.stderr) == (2, True)

    inputs["arguments"] = "text/one"
    ran = runner(judge["run"], **env(judge))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (runner.home / "output").read_text().endswith("reports=out put; exit 3\n")
    assert (runner.checkout / "out put; exit 3" / "junit.xml").exists()


def test_the_page_uses_inputs_that_the_action_has() -> None:
    [steps] = [
        block["jobs"]["conformance"]["steps"] for block in BLOCKS if "jobs" in block and "env" not in block
    ]
    [given] = [step["with"] for step in steps if step.get("id") == "conformance"]

    assert given.keys() <= ACTION["inputs"].keys()
    assert f"steps.conformance.outputs.{next(iter(ACTION['outputs']))} " in str(steps)


def test_the_page_names_hooks_that_there_are() -> None:
    [config] = [block for block in BLOCKS if "repos" in block]

    assert {hook["id"] for hook in config["repos"][0]["hooks"]} == {hook["id"] for hook in HOOKS}


def hook(name: str, *paths: str) -> int:
    [found] = [each for each in HOOKS if each["id"] == f"loop-harness-{name}"]
    assert all(re.search(found["files"], path) for path in paths)
    program, *words = shlex.split(found["entry"])
    assert program == "loop-harness"
    return main([*words, *paths])


def test_the_hooks_judge_what_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("scenarios", "cassettes"):
        (tmp_path / folder).mkdir()
    shutil.copy(ROOT / "scenarios" / "text" / "one.yaml", tmp_path / "scenarios" / "good.yaml")
    (tmp_path / "scenarios" / "bad.yaml").write_text("titel: x\n")
    shutil.copy(ROOT / "examples" / "dropped_thinking.yaml", tmp_path / "cassettes" / "bad.yaml")
    other = {"method": "GET", "uri": "https://example.org/", "body": None, "headers": {}}
    answer = {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": "hello"}}
    (tmp_path / "cassettes" / "other.yaml").write_text(
        yaml.safe_dump({"interactions": [{"request": other, "response": answer}], "version": 1})
    )
    monkeypatch.chdir(tmp_path)

    assert hook("scenarios", "scenarios/good.yaml") == 0
    assert hook("scenarios", "scenarios/good.yaml", "scenarios/bad.yaml") == 2
    assert hook("cassettes", "cassettes/bad.yaml") == 1
    assert hook("cassettes", "cassettes/other.yaml") == 0
    assert main(["judge", "cassettes/other.yaml"]) == 4
    assert "HIST-1" in capsys.readouterr().out


def test_the_manifest_of_the_hooks_is_what_pre_commit_documents() -> None:
    for each in HOOKS:
        assert {"id", "name", "entry", "language"} <= each.keys() <= set(HOOK_KEYS)
        assert all(isinstance(each[key], HOOK_KEYS[key]) for key in each)
        assert each["language"] == "python", "the repository is installed, and with it the command"
        assert shlex.split(each["entry"])[0] in PROJECT["scripts"]
        assert {*each.get("types", []), *each.get("types_or", [])} <= {"yaml", "json"}, "tags of `identify`"
        re.compile(each["files"])
    assert len({each["id"] for each in HOOKS}) == len(HOOKS)


def test_pre_commit_itself_takes_the_hooks_where_it_is_installed() -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")

    loaded = clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")

    assert [each["id"] for each in loaded] == [each["id"] for each in HOOKS]
