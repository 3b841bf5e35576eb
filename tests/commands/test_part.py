"""Runs that play a part of the cases: a shard, or what failed before; and their reports put together."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.cli import main
from harness.report.load import load
from harness.report.model import LoopReport, Report
from tests.commanding import told

FEW = ["text/one", "text/two", "pause/no-tools", "refuse/empty"]


def verdicts(path: Path) -> list[LoopReport]:
    """Without what is another in each run."""
    return [
        msgspec.structs.replace(
            loop, results=[msgspec.structs.replace(each, seconds=0.0, events=[]) for each in loop.results]
        )
        for loop in load(path).loops
    ]


@pytest.mark.timeout(180)
def test_three_shards_and_a_whole_run_come_to_the_same(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", *FEW, "--loop", "mine:loop", "--jobs", "1", "--quiet"]
    files = [f"{number}.json" for number in (1, 2, 3)]

    codes = [
        main([*run, "--shard", f"{number}/3", "--report", f"json:{number}.json"]) for number in (1, 2, 3)
    ]

    assert 1 in codes
    assert main([*run, "--report", "json:whole.json"]) == 1
    assert main(["merge", *files, "-o", "merged.json", "--report", "junit:merged.xml"]) == 0
    assert verdicts(here / "merged.json") == verdicts(here / "whole.json")
    assert "<testsuites" in (here / "merged.xml").read_text()
    assert main(["compare", "whole.json", "merged.json"]) == 0
    assert "0 worse, 0 better, 0 new, 0 gone" in told(capsys)

    assert main(["merge", "1.json", "2.json", "-o", "half.json"]) == 2
    assert "add the others" in told(capsys)
    assert not (here / "half.json").exists()


def test_only_what_failed_is_played_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", "--loop", "mine:loop", "--quiet"]
    again = ["--last-failed", "last.json", "--report", "json:last.json"]
    assert main([*run, "text/one", "pause/no-tools", "--report", "json:last.json"]) == 1
    failed = [result.id for result in load(here / "last.json").loops[0].bad]

    assert main([*run, *again]) == 1
    assert [result.id for result in load(here / "last.json").loops[0].results] == failed

    mended = (here / "mine.py").read_text().replace("def loop", "def old")
    (here / "mine.py").write_text(f"{mended}\nfrom harness.loops.reference import loop\n")
    assert main([*run, *again]) == 0
    told(capsys)
    assert main([*run, *again]) == 0
    assert "nothing to play, for nothing failed in last.json" in told(capsys)


def test_a_shard_without_a_case_is_no_mistake(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "text/one", "--loop", "mine:loop", "--shard", "2/2"]) == 0


def test_getting_worse_is_exit_code_1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.report.samples import report, right, wrong

    for name, each in (("old", report(right("mine"))), ("new", report(wrong("mine")))):
        (here / f"{name}.json").write_bytes(msgspec.json.encode(each))

    assert main(["compare", "old.json", "new.json"]) == 1
    assert told(capsys).startswith("WORSE   TOOL-2  tool/one[json]: - -> fail")
    assert main(["compare", "new.json", "old.json"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--shard", "4/3"], "'4/3' is no shard; write 1/3, 2/3 and 3/3 for three machines"),
        (["--shard", "0/3"], "'0/3' is no shard"),
        (["--last-failed", "none.json"], "--last-failed none.json: there is no such file"),
        (
            ["--last-failed", "other.json"],
            "--last-failed other.json: it has no loop mine:loop; there is a, b",
        ),
        (
            ["--shard", "1/2", "--baseline", "b", "--update-baseline"],
            "takes a run of everything: leave out --shard",
        ),
    ],
)
def test_mistakes_are_told(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    loops = [LoopReport(name=name) for name in ("a", "b")]
    (here / "other.json").write_bytes(msgspec.json.encode(Report(loops=loops)))
    try:
        code = main(["run", "text/one", "--loop", "mine:loop", *words])
    except SystemExit as stopped:
        code = int(str(stopped.code))

    assert code == 2
    assert message in told(capsys)


@pytest.mark.parametrize(
    ("pattern", "part", "code"),
    [("text/on?", [], 1), ("text/on?", ["--shard", "2/2"], 0), ("*", [], 0), ("*", ["--shard", "1/2"], 0)],
)
def test_a_pattern_of_a_baseline_is_stale_where_all_it_is_about_was_played(
    here: Path, capsys: pytest.CaptureFixture[str], pattern: str, part: list[str], code: int
) -> None:
    entry = f"{{scenario: '{pattern}', clause: EXPECT, grade: fail, reason: as it is}}"
    (here / "conformance.yaml").write_text(f"known:\n  - {entry}\n")
    run = ["run", "text/one", "--loop", "mine:loop", "--baseline", "conformance.yaml"]

    assert main([*run, *part]) == code
    assert ("STALE" in told(capsys)) is bool(code)
    if not part:
        assert main([*run, "--update-baseline", "--reason", "x"]) == 0
        assert (pattern in (here / "conformance.yaml").read_text()) is not bool(code)
