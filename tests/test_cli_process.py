"""The command as a process: signals, readers that go away, terminals, other encodings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.report.load import load
from tests.commanding import LOOP, ROOT, alive, in_a_terminal, start, until

SLOW = """
import os, pathlib, tempfile, time
def slow(turn):
    ask(turn)
    tempfile.mkstemp()
    pathlib.Path('pid').write_text(str(os.getpid()))
    if not pathlib.Path('first').exists():
        time.sleep(60)
    return loop(turn)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_interrupted_while_it_begins_leaves_nothing_behind(
    here: Path, number: int, code: int
) -> None:
    (here / "slow.py").write_text(LOOP + SLOW)
    (here / "tmp").mkdir()
    process = start("run", "text", "--loop", "slow:slow", cwd=here, TMPDIR=str(here / "tmp"))
    until(lambda: (here / "pid").exists() and (here / "pid").read_text())

    process.send_signal(number)
    out, err = process.communicate(timeout=30)

    assert (process.returncode, err) == (code, "loop-harness: interrupted\n")
    assert "INCOMPLETE" in out
    until(lambda: not alive(int((here / "pid").read_text())))
    assert list((here / "tmp").iterdir()) == []


def test_what_was_judged_before_an_interrupt_is_reported_and_what_was_not_is_named(here: Path) -> None:
    (here / "slow.py").write_text(LOOP + SLOW)
    (here / "first").touch()
    (here / "tmp").mkdir()
    loops = ["--loop", "one=slow:slow", "--loop", "two=slow:slow", "--jobs", "1", "--verbose"]
    reports = ["--report", "json:run.json", "--report", "junit:run.xml"]
    process = start("run", "text", *loops, *reports, cwd=here, TMPDIR=str(here / "tmp"))
    assert process.stdout
    said = process.stdout.readline() + process.stdout.readline() + process.stdout.readline()
    (here / "first").unlink()
    (here / "pid").unlink()
    until((here / "pid").exists)

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)

    assert (process.returncode, err) == (130, "loop-harness: interrupted\n"), said + out
    one, two = load(here / "run.json").loops
    every = {result.id for result in one.results} | set(one.unplayed)
    assert one.results
    assert one.unplayed
    assert set(two.unplayed) >= every
    assert two.results == []
    assert one.cut_short in out
    # The one that was not played has no failure.
    failures = int(any(result.grade == "fail" for result in one.results))
    assert f"{failures} of 2 loops with failures; the run was cut short" in out
    assert list((here / "tmp").iterdir()) == []
    assert sorted(path.name for path in here.glob("*run.*")) == ["run.json", "run.xml"]


@pytest.mark.parametrize("module", ["argparse", "harness.cli", "harness.commands.list", "msgspec"])
def test_ctrl_c_shows_no_traceback_while_the_command_is_being_loaded(here: Path, module: str) -> None:
    (here / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
    )
    process = start("list", "text/one", cwd=here, path=here)
    out, err = process.communicate(timeout=30)

    assert (process.returncode, out, err) == (130, "", "loop-harness: interrupted\n")


def test_a_reader_that_goes_away_is_no_error() -> None:
    process = start("schema")
    assert process.stdout
    process.stdout.close()

    assert process.wait(timeout=30) in (0, -signal.SIGPIPE)
    assert process.stderr
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()


def test_a_reader_that_goes_away_changes_neither_the_exit_code_nor_the_report(here: Path) -> None:
    process = start("run", "pause/no-tools", "--loop", "mine:loop", "--report", "json:report.json", cwd=here)
    assert process.stdout
    process.stdout.close()
    _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (1, "")
    assert json.loads((here / "report.json").read_text())["loops"][0]["results"][0]["grade"] == "fail"


@pytest.mark.parametrize(
    ("to", "code", "told"),
    [
        (">&-", 0, ""),
        (">/dev/full", 2, "loop-harness: the output cannot be written: No space left on device\n"),
    ],
)
def test_an_output_that_takes_nothing_is_no_error_of_the_harness(to: str, code: int, told: str) -> None:
    command = f"'{sys.executable}' -m harness list {to}"
    ended = subprocess.run(
        ["/bin/sh", "-c", command], check=False, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )

    assert (ended.returncode, ended.stderr) == (code, told)


def test_an_encoding_that_lacks_a_character_gets_another(here: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "harness", "run", "text/one", "--loop", "mine:loop"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=here, env=env)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "return Outcome(status=...)" in ended.stdout


def test_modules_beside_the_loop_are_the_loops_business_alone(here: Path) -> None:
    for name in ("json", "random", "queue"):
        (here / f"{name}.py").write_text("raise SystemExit('this is not the one you want')")
    (here / "idle.py").write_text("def loop(turn):\n    return turn.prompt")

    # As the installed command, which does not look for its own modules where it is called.
    out = in_a_terminal(here, "run", "text/one", "--loop", "idle:loop", PYTHONSAFEPATH="1")

    assert "idle:loop: returned without asking the provider" in out
    assert "not the one you want" not in out


def test_a_terminal_gets_colour_and_a_progress_bar(here: Path) -> None:
    out = in_a_terminal(here, "run", "pause/no-tools", "--loop", "mine:loop")

    assert "\x1b[1;31mFAIL  PAUSE-1" in out
    assert "0/1" in out
    assert out.index("FAIL  PAUSE-1") < out.index("1 case: 1 fail")


def test_no_color_is_respected(here: Path) -> None:
    out = in_a_terminal(here, "explain", "PAUSE-1", NO_COLOR="1")

    assert "PAUSE-1  MUST" in out
    assert "\x1b[" not in out
