"""Root of the project's own tests: they use the plugin like any other repository does."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.commanding import LOOP

pytest_plugins = ["pytester", "harness.plugin"]

ROOT = Path(__file__).parent
# No test reaches another machine. To read the hundred and more authorities of this one anew for each client
# that is made would take a good part of the run: here, and in the processes that are started.
os.environ["SSL_CERT_FILE"] = str(ROOT / "tests" / "authority.pem")
# Hundreds of processes are started: each would compile the package anew where nothing may be kept.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
Once: TypeAlias = Callable[[str, Callable[[Path], object]], Path]
OTHERS = ("anyio", "faker", "hypothesispytest", "recording", "socket")
"""Plugins of our own development, which cost a second to load and mean nothing to an adopter."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Workers for the whole, none for a part of it.

    More than a small machine has processors: most of what takes long is waiting, for clocks and processes.
    """
    whole = config.args == config.getini("testpaths") and config.option.markexpr == "not slow"
    return 4 if whole else 0


LONGEST = (
    "tests/test_proof.py",
    "tests/baseline/test_adopter.py",
    "tests/docs/test_python.py",
    "tests/loops/test_process_twin.py",
    "tests/commands/test_part.py",
    "tests/test_killing.py",
)
"""Where tests wait for many seconds: begun last, one of them would keep the others waiting at the end."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each worker, which gets a part of the tests as they stand here, begins with the longest of it."""
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    long = [item for item in items if item.nodeid.startswith(LONGEST)]
    others = [item for item in items if not item.nodeid.startswith(LONGEST)]
    size = len(items) // workers
    ordered: list[pytest.Item] = []
    for worker in range(workers if workers > 1 else 0):
        begin = long[worker::workers]
        ordered += begin + others[: size - len(begin)]
        del others[: size - len(begin)]
    if ordered:
        items[:] = ordered + others


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Makes a folder once for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make(name: str, fill: Callable[[Path], object]) -> Path:
        folder, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def wheel(once: Once) -> Path:
    """The project's wheel."""

    def build(folder: Path) -> None:
        subprocess.run(  # noqa: S603 - our own build
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )

    return next(once("wheel", build).glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, once: Once) -> Path:
    """A folder that is to the path what site-packages is after the wheel was installed."""

    def install(folder: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)

    return once("installed", install)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a few loops in `mine.py`."""
    (tmp_path / "mine.py").write_text(LOOP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


class Adopter:
    """Somebody else's repository, in which loop-harness is installed from its wheel."""

    def __init__(self, pytester: pytest.Pytester, installed: Path) -> None:
        self.path = pytester.path
        self._pytester = pytester
        self._path = installed
        self._env = {"PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": ""}

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def pytest(
        self, *arguments: str, as_module: bool = False, beside: tuple[str, ...] = (), **env: str
    ) -> pytest.RunResult:
        """Run `pytest`, or `python -m pytest`, in the repository; every warning is an error.

        Plugins named in `beside` are loaded, too.
        """
        without = [f"-pno:{name}" for name in OTHERS if name not in beside]
        entry = (
            ["-m", "pytest"] if as_module else ["-P", "-c", "import pytest; raise SystemExit(pytest.main())"]
        )
        return self.python(*entry, "-W", "error", *without, *arguments, **env)

    def python(self, *arguments: str, **env: str) -> pytest.RunResult:
        wanted = {**os.environ, **self._env, "PYTHONPATH": str(self._path), **env}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in wanted.items():
                patch.setenv(name, value)
            return self._pytester.run(sys.executable, *arguments, timeout=120)


@pytest.fixture
def adopter(pytester: pytest.Pytester, installed: Path) -> Adopter:
    return Adopter(pytester, installed)
