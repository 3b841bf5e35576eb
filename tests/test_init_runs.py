"""What `init` writes, run as it stands for a loop that is right, where nothing but the wheel is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.commanding import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
ADAPTER = "from harness.loops.reference import loop\n"
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "my-agent"
version = "1"
"""
SERVICE = (ROOT / "tests" / "loops" / "chat_service.py").read_text()


class Written(NamedTuple):
    """A repository, and what its owner answers."""

    name: str
    answers: str
    needs: str
    files: dict[str, str]


def folder(name: str) -> dict[str, str]:
    found = (ROOT / "examples" / name).iterdir()
    return {path.name: path.read_text() for path in found if path.suffix in (".mjs", ".rb", ".php")}


CASES = [
    Written(
        "python",
        "--language python --entry my_agent.conformance:loop --ci github",
        "python3",
        {"my_agent/conformance.py": ADAPTER, "my_agent/__init__.py": ""},
    ),
    Written(
        "job",
        "--language python --entry my_agent.job:loop --queue --streaming --ci gitlab",
        "python3",
        {"src/my_agent/__init__.py": "", "src/my_agent/job.py": ADAPTER, "pyproject.toml": PROJECT},
    ),
    Written("node", "--language node --entry 'node conformance.mjs' --ci github", "node", folder("node")),
    Written("ruby", "--language ruby --entry 'ruby conformance.rb' --ci none", "ruby", folder("ruby")),
    Written(
        "service",
        "--language other --entry 'POST http://127.0.0.1:{port}/' --ci gitlab "
        "--start 'python service.py {port} json'",
        "python3",
        {"service.py": SERVICE},
    ),
]


@pytest.fixture(scope="module")
def machine(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with pip and the dependencies, and the wheel beside it as a job finds it."""
    home = tmp_path_factory.mktemp("machine")
    venv.create(home / "venv", with_pip=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(home / "venv")}))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_green(case: Written, machine: Path, wheel: Path, tmp_path: Path) -> None:
    if shutil.which(case.needs) is None:
        pytest.skip(f"{case.needs} is not installed")
    for name, text in case.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / ".wheels").mkdir()
    shutil.copy(wheel, tmp_path / ".wheels")

    def run(script: str, **more: str) -> str:
        env = {
            "HOME": str(machine),
            "PATH": f"{machine / 'venv' / 'bin'}:{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "false",  # that is how pip spells yes
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            **more,
        }
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    run(f"pip install --quiet --force-reinstall --no-deps {wheel}")
    run(f"loop-harness init {case.answers}")
    # A GitHub job, a GitLab job, or none: then what its owner runs by hand.
    for script, env in jobs(tmp_path) or [("sh conformance.sh", {})]:
        run(script, **env)
    if case.name == "python":
        assert " passed" in run("python -m pytest -q tests/test_conformance.py")


def jobs(checkout: Path) -> list[tuple[str, dict[str, str]]]:
    """The scripts of the job that was written, with their variables; none where there is no job."""
    for path in checkout.glob(".github/workflows/*.yml"):
        told = yaml.safe_load(path.read_text())
        steps = told["jobs"]["conformance"]["steps"]
        return [(step["run"], told["env"]) for step in steps if "run" in step]
    for path in checkout.glob(".gitlab/*.yml"):
        job = yaml.safe_load(path.read_text())["conformance"]
        return [("\n".join(job["script"]), job["variables"])]
    return []
