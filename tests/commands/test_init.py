"""What `init` writes, and that it can be run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

from harness import __version__
from harness.cli import main
from harness.commands import init
from harness.commands.init_files import Answers, files
from harness.commands.init_source import WHEEL, checkout, source
from tests.commanding import in_a_terminal, told

PYTHON = ["init", "--language", "python", "--entry", "my_agent.conformance:loop"]


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_test_a_baseline_and_a_job_are_written(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(PYTHON) == 0

    assert written(empty) == [
        ".github/workflows/conformance.yml",
        "conformance.yaml",
        "my_agent/conformance.py",
        "tests/test_conformance.py",
    ]
    assert "call your loop, then loop-harness doctor --loop my_agent.conformance:loop" in told(capsys)
    assert 'profile="core-1"' in (empty / "tests/test_conformance.py").read_text()


def test_nothing_that_is_there_is_changed(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (empty / "conformance.yaml").write_text("known: []  # ours\n")
    (empty / "src" / "my_agent").mkdir(parents=True)
    (empty / "src" / "my_agent" / "conformance.py").write_text("# ours")

    assert main(PYTHON) == 0
    assert main(PYTHON) == 0

    out = told(capsys)
    assert "kept  conformance.yaml\n" in out
    assert "kept  src/my_agent/conformance.py\n" in out
    assert "kept  .github/workflows/conformance.yml\n" in out
    assert out.endswith("\nnext: pytest tests/test_conformance.py\n")
    assert (empty / "conformance.yaml").read_text() == "known: []  # ours\n"
    assert not (empty / "my_agent").exists()


def test_a_module_is_put_beside_the_others_of_its_package(empty: Path) -> None:
    (empty / "src" / "my_agent").mkdir(parents=True)

    assert main(PYTHON) == 0
    assert (empty / "src" / "my_agent" / "conformance.py").exists()


def test_without_a_terminal_the_repository_is_looked_at_and_the_loop_has_to_be_named(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("package.json", ".gitlab-ci.yml"):
        (empty / name).touch()

    assert main(["init"]) == 2
    assert "name the loop with --entry, such as --entry 'node conformance.mjs'" in told(capsys)
    assert main(["init", "--entry", "node it.mjs"]) == 0

    assert ".gitlab/conformance.yml" in written(empty)
    script = (empty / "conformance.sh").read_text()
    assert "loop-harness run --command 'node it.mjs' --profile core-1" in script


@pytest.mark.parametrize("entry", ["my_agent", "my agent:loop", "../x:loop", "a:b c"])
def test_a_python_loop_that_cannot_be_named_so_is_an_error(
    empty: Path, capsys: pytest.CaptureFixture[str], entry: str
) -> None:
    assert main(["init", "--language", "python", "--entry", entry]) == 2
    assert "name a Python loop as PKG.MOD:ATTR" in told(capsys)
    assert written(empty) == []


def test_at_a_terminal_it_asks(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter(["", "mine:loop", "perhaps", "yes", "n"])
    asked: list[str] = []

    def ask(question: str, default: str) -> str:
        asked.append(question)
        return next(said) or default

    options = init.Namespace(language=None, entry=None, start=None, streaming=None, queue=None, ci=None)

    assert init._answers(options, empty, ask)._replace(source="") == (
        Answers("python", "mine:loop", True, False, "github", "")
    )
    assert [question.split()[0] for question in asked] == ["language", "entry", "do", "do", "is"]


@pytest.mark.parametrize(
    ("written", "what"),
    [
        (None, WHEEL),
        ("", f"loop-harness=={__version__}"),
        ('{"url": "file:///home/me/loop-harness", "dir_info": {"editable": true}}', WHEEL),
        ('{"url": "file:///tmp/loop_harness.whl", "archive_info": {}}', WHEEL),
        ('{"url": "https://me:secret@host.example/x.whl", "archive_info": {}}', "https://host.example/x.whl"),
        (
            '{"url": "https://host.example/x.git", "vcs_info": {"vcs": "git", "commit_id": "4f2a"}}',
            "git+https://host.example/x.git@4f2a",
        ),
    ],
)
def test_a_job_installs_what_is_installed_here_where_it_can_be_had(written: str | None, what: str) -> None:
    assert source(written) == what
    [job] = [
        yaml.safe_load(text)
        for name, text in files(Answers("python", "m:loop", False, False, "github", what)).items()
        if name.endswith("conformance.yml")
    ]
    assert job["env"] == {"LOOP_HARNESS": what}


@pytest.mark.parametrize(
    ("written", "folder"),
    [
        (None, "CHECKOUT"),
        ('{"url": "file:///home/me/loop%20harness", "dir_info": {}}', "/home/me/loop harness"),
        ('{"url": "file:///tmp/loop_harness.whl", "archive_info": {}}', "/tmp/loop_harness.whl"),
        ('{"url": "https://host.example/x.whl", "archive_info": {}}', "CHECKOUT"),
    ],
)
def test_the_checkout_is_named_where_it_is_known(written: str | None, folder: str) -> None:
    assert checkout(written) == folder


def test_the_wheel_that_a_job_takes_is_asked_for_until_it_is_there(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(init, "installed_from", lambda: None)
    assert main(PYTHON) == 0
    assert f"the job installs {WHEEL}, to be kept in the repository: pip wheel --no-deps" in told(capsys)

    (empty / WHEEL).parent.mkdir()
    (empty / WHEEL).touch()
    assert main(PYTHON) == 0
    assert "the job installs" not in told(capsys)


@pytest.mark.slow
def test_at_a_real_terminal_it_asks(empty: Path) -> None:
    out = in_a_terminal(empty, "init", "--language", "python", "--entry", "m:loop", "--streaming", "--queue")

    assert "written  tests/test_conformance.py" in out


@pytest.mark.parametrize("queue", [True, False])
@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(
    ("language", "entry"),
    [("python", "m.n:loop"), ("php", "php it.php 'a b'"), ("other", "POST http://127.0.0.1:3000/chat")],
)
@pytest.mark.parametrize("ci", init.CI)
def test_whatever_is_answered_can_be_read(
    language: str, entry: str, streaming: bool, queue: bool, ci: str
) -> None:
    answers = Answers(language, entry, streaming, queue, ci)

    for name, text in files(answers).items():
        if name.endswith(".py"):
            ast.parse(text)
        elif not name.endswith(".sh"):
            assert isinstance(yaml.safe_load(text), dict)
        if ci != "none" and name.endswith("conformance.yml"):
            assert answers.profile in text
    assert answers.profile == ("turn-job-1" if queue else "wire-only-1" if "POST" in entry else "core-1")
    streams = "stream=turn.stream" in "".join(files(answers).values()) or "sse:" in " ".join(answers.words)
    assert streams == (streaming and answers.kind != "command")


SERVICE = ["init", "--language", "node", "--entry", "POST http://127.0.0.1:3000/chat", "--ci", "gitlab"]


def test_a_service_has_to_be_started_by_the_job(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SERVICE) == 2
    assert "with --start, such as --start 'node server.js'" in told(capsys)
    assert main([*PYTHON, "--start", "x"]) == 2
    assert "--start is for a service" in told(capsys)
    assert written(empty) == []

    assert main([*SERVICE, "--start", "node it.mjs"]) == 0
    for name in ("conformance.sh", ".gitlab/conformance.yml"):
        assert '--start \'node it.mjs\' --body \'{"message": "{prompt}"' in (empty / name).read_text()


def test_a_job_installs_what_the_language_takes() -> None:
    def job(language: str, ci: str) -> str:
        return "".join(files(Answers(language, "run it", False, False, ci)).values())

    assert "npm ci" in job("node", "github")
    assert "apt-get" not in job("node", "github")
    assert "apt-get install -qq nodejs npm" in job("node", "gitlab")
    assert "composer install" in job("php", "gitlab")
    assert "pip install ." not in job("ruby", "github")
