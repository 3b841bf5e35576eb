"""`doctor`: for each way in which a loop can be set up wrongly, the rung that is named, and why."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness import cli
from harness.doctor import LADDER, climb
from harness.loops.command import Command
from harness.loops.protocol import HOOKS
from harness.runner import Runner
from harness.turn import EXPOSABLE
from tests.loops.commanding import python

LOOPS = "tests.loops.bad.loops"


def rungs(target, kind="process", deadline=5.0):
    with Runner(target) as runner:
        return climb(runner.smoke(deadline), kind)


def wrong(target, kind="process", deadline=5.0):
    """The rung that is wrong: those before it are fine, and nothing is said of those after it."""
    found = rungs(target, kind, deadline)
    [step] = [number for number, rung in enumerate(found) if rung.state in ("wrong", "lacking")]
    assert {rung.state for rung in found[:step]} <= {"ok"}
    assert {rung.state for rung in found[step + 1 :]} <= {"unknown"}
    return found[step]


def words(*command: str, **options) -> Command:
    return Command(words=command, **options)


STARTS, READS, ASKS, WAY, TAKEN, TELLS, FORM = LADDER
BROKEN = {
    "a file that is not there": (words(sys.executable, "nothere.py"), STARTS, "before it had read anything"),
    "no executable": (words("/etc/hostname"), STARTS, "/etc/hostname cannot be started"),
    "no hello": (words("false", keep_alive=True), STARTS, "exit 1 before it had said hello"),
    "the turn is not read": (words("true"), READS, "nothing of the turn was read"),
    "the real API": (python("asks_only_elsewhere"), ASKS, "it asked api.anthropic.com:443 instead"),
    "npx in an empty folder": (
        python("wants_to_install"),
        STARTS,
        "install something from registry.npmjs.org",
    ),
    "nobody is asked": (python("asks_nobody"), ASKS, "had asked nobody that we know of"),
    "another path": (python("asks_at_a_wrong_path"), WAY, "POST /v1/chat/completions"),
    "no key": (python("asks_without_a_key"), WAY, "got 401: x-api-key header is required"),
    "another base URL": (python("asks_as_nobody"), WAY, "with a key nobody gave it"),
    "a field is missing": (python("asks_for_too_little"), TAKEN, "max_tokens"),
    "it does not end": (python("does_not_return"), TELLS, "still running after 1.5 s"),
    "it dies": (python("dies"), TELLS, "signal 9 (SIGKILL)"),
    "it fails": (python("exits_3"), TELLS, "ended with exit 3: no such luck"),
    "no outcome": (python("says_nothing"), TELLS, "by its requests alone"),
    "a malformed outcome": (python("malformed"), FORM, "did you mean 'status'?"),
    "another answer": (python("shows_something_else"), FORM, "I do not know."),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_rung_is_named(name):
    target, rung, why = BROKEN[name]
    found = wrong(target, deadline=1.5 if name == "it does not end" else 5.0)
    assert (found.name, found.state) == (rung, "lacking" if name == "no outcome" else "wrong")
    assert why in found.found


@pytest.mark.parametrize(
    ("name", "rung", "why"),
    [
        ("no_such_loop", "it starts", "has no attribute 'no_such_loop'"),
        ("looks_elsewhere_up", "it asks the provider", "it asked api.anthropic.com instead"),
        ("good", "it asks the provider", "had asked nobody that we know of"),
    ],
)
def test_a_python_loop_is_looked_at_in_the_same_way(name, rung, why):
    found = wrong(f"{LOOPS}:{name}", "python")
    assert found.name == rung
    assert why in found.found


def test_what_a_process_printed_is_shown_and_what_to_do_is_said():
    found = wrong(python("exits_3"))
    assert found.output == "no such luck"
    found = wrong(python("asks_only_elsewhere"))
    assert "ANTHROPIC_BASE_URL" in found.advice


def test_the_command_climbs_and_exits_with_4(capsys):
    assert cli.main(["doctor", "--command", "nodeee x"]) == 4
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "WRONG  it starts",
        "       there is no program 'nodeee' on PATH; did you mean 'node'?",
    ] or (lines[1].startswith("       there is no program 'nodeee' on PATH"))
    assert len([line for line in lines if line.startswith("-")]) == len(LADDER) - 1


def test_of_a_loop_that_works_it_says_what_can_be_judged(capsys):
    script = Path(__file__).parent / "loops" / "bad" / "processes.py"
    assert cli.main(["doctor", "--command", f"{sys.executable} -S {script} good"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("ok     it starts\nok     it reads the turn\n")
    assert "\nit uses       shown, status\n" in said
    assert "; to have this judged, POST /report\n" in said


def test_how_to_expose_something_is_told_for_processes_too():
    assert HOOKS.keys() == EXPOSABLE.keys()
