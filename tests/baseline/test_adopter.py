"""A repository with known faults, from the first red run to the next one, as its team meets it."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "adopter"
CASES = ["text/two", "pause/no-tools", "refuse/empty", "truncate/text"]
RUN = ["run", *CASES, "--loop", "agent:run", "--quiet"]
KEPT = [*RUN, "--baseline", "conformance.yaml"]
MENDED = ("        calls = [", '        assert reply["stop_reason"] != "max_tokens"\n        calls = [')
BROKEN = ('["text"] for block in reply["content"] if', '["text"] for block in reply["content"][:1] if')


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("agent.py", "conformance.yaml", "test_conformance.py"):
        shutil.copy(EXAMPLE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def edit(repository: Path, old: str, new: str) -> None:
    agent = repository / "agent.py"
    assert old in agent.read_text()
    agent.write_text(agent.read_text().replace(old, new))


@pytest.mark.timeout(180)
def test_known_faults_are_kept_mended_ones_stale_and_new_ones_unexpected(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(RUN) == 1
    assert "3 fail" in capsys.readouterr().out

    assert main(KEPT) == 0
    assert "3 known" in capsys.readouterr().out

    edit(repository, *MENDED)
    assert main(KEPT) == 1
    out = capsys.readouterr().out
    assert "STALE  conformance.yaml:13: TRUNC-1 in truncate/text is no longer `fail`" in out
    assert "FAIL" not in out

    edit(repository, *BROKEN)
    assert main(KEPT) == 1
    assert "FAIL   SHOW-1  text/two[json]" in capsys.readouterr().out

    before = (repository / "conformance.yaml").read_text()
    assert main([*KEPT, "--update-baseline"]) == 1
    out, err = capsys.readouterr()
    assert "without --reason TEXT entries are removed and narrowed, and none is added" in err
    assert "conformance.yaml: 0 added, 1 removed\nconformance.yaml: 2 results not added" in out
    assert main([*KEPT, "--update-baseline", "--reason", "one text will do"]) == 0
    after = (repository / "conformance.yaml").read_text()
    assert "truncate/text" not in after
    assert set(before.splitlines()) - set(after.splitlines()) == {
        "  - scenario: truncate/text",
        "    clause: TRUNC-1",
        "    reason: our prompts keep answers short",
    }
    capsys.readouterr()
    assert main(KEPT) == 0


def test_the_same_file_makes_expected_failures_of_tests(adopter: Any) -> None:
    adopter.write({path.name: path.read_text() for path in EXAMPLE.iterdir() if path.is_file()})
    adopter.pytest().assert_outcomes(xfailed=3, passed=12, skipped=15)
    edit(adopter.path, *MENDED)
    edit(adopter.path, *BROKEN)

    result = adopter.pytest("-k", "no-tools or truncate or text/two")

    result.assert_outcomes(xfailed=1, failed=2, skipped=3)
    result.stdout.fnmatch_lines(["FAIL  SHOW-1  *"])
    result.stdout.fnmatch_lines(["*conformance.yaml:13: this is no longer `fail`; remove the entry*"])


@pytest.mark.timeout(180)
def test_the_lines_of_its_page_end_as_the_page_says(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (EXAMPLE / "README.md").read_text()
    lines = re.findall(r"^ {4}(loop-harness .*?) {4}# (\d)", page, re.MULTILINE)
    assert len(lines) == 3

    for line, code in lines:
        assert main(shlex.split(line)[1:]) == int(code), capsys.readouterr().out
    kept = (repository / "new.yaml").read_text()
    assert kept.count("reason: not yet") >= 3


def test_a_baseline_that_matches_nothing_is_a_usage_error(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = repository / "conformance.yaml"
    kept.write_text(kept.read_text().replace("refuse/empty", "refuse/emty"))

    assert main(KEPT) == 2
    assert (
        "conformance.yaml:17:15: `refuse/emty` matches no scenario; did you mean" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--update-baseline"], "name the file with --baseline conformance.yaml"),
        (["--baseline", "conformance.yaml", "--reason", "x"], "--reason: it goes with --update-baseline"),
        (
            ["--baseline", "none/x.yaml", "--update-baseline"],
            "--baseline none/x.yaml: there is no folder none",
        ),
        (["--baseline", "/dev/full/x.yaml", "--update-baseline"], "there is no folder /dev/full"),
        (["--baseline", ".", "--update-baseline"], "--baseline .: Is a directory"),
        (["--baseline", "none.yaml"], "--update-baseline makes a new one"),
        (["--baseline", "none.yaml", "--update-baseline"], "why what goes into the new none.yaml is known"),
        (["--baseline", "conformance.yaml", "--update-baseline", "--reason", " "], "--reason: say in words"),
        (
            ["--baseline", "conformnce.yaml"],
            "there is no such file; did you mean `conformance.yaml`?",
        ),
        (
            ["--baseline", "flat.yaml", "--update-baseline", "--reason", "x"],
            "flat.yaml:1:1: `known` is written",
        ),
    ],
)
def test_options_that_do_not_go_together_are_told(
    repository: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    (repository / "flat.yaml").write_text("known: [{scenario: text/one, grade: fail, reason: x}]\n")
    assert main([*RUN, *options]) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert "clauses decided" not in out, "it was played, and nobody gets what came of it"
