"""The wheel: what is in it, and that it works where nothing else of the project is."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

from harness import __version__

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_every_module_is_in_it(names: set[str]) -> None:
    modules = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "harness").rglob("*.py")
        if "alias" not in path.parts
    }

    assert modules <= names


def test_every_scenario_is_in_it_below_the_package(names: set[str]) -> None:
    scenarios = {
        f"harness/bundled/{path.relative_to(ROOT / 'scenarios').as_posix()}"
        for path in (ROOT / "scenarios").rglob("*.yaml")
    }

    assert len(scenarios) >= 40
    assert scenarios == {name for name in names if name.startswith("harness/bundled/")}


def test_the_other_name_is_a_module_at_its_top(names: set[str]) -> None:
    assert "loop_harness.py" in names
    assert not [name for name in names if "alias" in name]


def test_nothing_else_is_at_its_top(names: set[str]) -> None:
    tops = {name.partition("/")[0] for name in names}

    assert tops == {"harness", "loop_harness.py", f"loop_harness-{__version__}.dist-info"}


def test_it_tells_type_checkers_that_it_is_typed(names: set[str]) -> None:
    assert "harness/py.typed" in names


def test_its_metadata_is_complete(installed: Path) -> None:
    folder = installed / f"loop_harness-{__version__}.dist-info"
    metadata = HeaderParser().parsestr((folder / "METADATA").read_text())

    assert metadata["Version"] == __version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert (folder / "licenses" / "LICENSE").is_file()
    required = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert not [each for each in required if "<" in each or "==" in each.partition(";")[0]], "no upper bounds"
    assert (folder / "entry_points.txt").read_text().split() == [
        "[console_scripts]", "loop-harness", "=", "loop_harness.__main__:main",
        "[pytest11]", "harness.plugin", "=", "loop_harness.plugin",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory beside a virtual environment `venv` in which the wheel is installed.

    Its dependencies are those of the running environment, by way of a `.pth` file: they are not downloaded.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps",
         "--no-index", "--disable-pip-version-check", "--root-user-action=ignore", str(wheel)],
        check=True,
    )  # fmt: skip
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (folder / "mine.py").write_text((ROOT / "examples" / "wrong_loop.py").read_text())
    return folder


def run(elsewhere: Path, *command: str) -> subprocess.CompletedProcess[str]:
    program = elsewhere / "venv" / "bin" / command[0]
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTEST_ADDOPTS")}
    return subprocess.run(
        [str(program), *command[1:]],
        cwd=elsewhere, env=kept, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def test_it_is_the_installed_package_that_is_used(elsewhere: Path) -> None:
    where = run(elsewhere, "python", "-c", "import harness.turn, loop_harness; print(harness.turn.__file__)")

    assert where.stderr == ""
    assert Path(where.stdout.strip()).is_relative_to(elsewhere / "venv")


def test_its_command_judges_a_loop_in_another_directory(elsewhere: Path) -> None:
    judged = run(elsewhere, "loop-harness", "run", "pause/no-tools", "--loop", "mine:loop")

    assert (judged.returncode, judged.stderr) == (1, "")
    assert judged.stdout.startswith("FAIL  PAUSE-1  ")


def test_pytest_judges_a_loop_in_another_directory(elsewhere: Path) -> None:
    (elsewhere / "test_it.py").write_text(
        "from harness import conformance\n"
        "test_loop = conformance('mine:loop', select=['pause/no-tools', 'text/one'])\n"
    )

    judged = run(elsewhere, "python", "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", "test_it.py")

    assert judged.returncode == 1, judged.stdout + judged.stderr
    assert "FAIL  PAUSE-1  " in judged.stdout
    assert "1 failed, 1 passed, 2 skipped" in judged.stdout


@pytest.mark.slow
def test_it_installs_with_its_dependencies_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    pip = [str(tmp_path / "venv" / "bin" / "python"), "-m", "pip", "--quiet"]
    subprocess.run([*pip, "install", "--disable-pip-version-check", str(wheel)], check=True)

    judged = run(tmp_path, "loop-harness", "run", "text/one", "--loop", "harness.loops.reference:loop")

    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "2 cases: 2 pass" in judged.stdout
