"""The reference loop gets the same verdicts whether it is called or speaks the protocol as a process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from harness.chosen import find_cases
from harness.loops.command import Command
from harness.runner import Runner

TWIN = Path(__file__).parent / "process_twin.py"
CHOSEN = [
    "text/one",
    "text/followed-up",
    "tool/parallel[json]",
    "tool/raises[sse]",
    "pause/container[json]",
    "truncate/tool-partial[sse]",
    "refuse/partial[json]",
    "cap/iterations-mixed[json]",
    "cap/wall-clock[json]",
    "cancel/tool[json]",
    "cancel/streaming[sse]",
    "fault/overloaded-once[json]",
    "fault/stream-cut-call[sse]",
    "resume/capped-after-answer-2-kept[json]",
    "usage/capped[json]",
]
FEW = ["text/one", "tool/one[sse]", "resume/finished-after-usage[json]", "cancel/paused[json]"]


def twin(*, keep_alive: bool) -> Command:
    words = (sys.executable, str(TWIN), *(["stay"] if keep_alive else []))
    return Command(words=words, keep_alive=keep_alive, env={"PYTHONPATH": os.pathsep.join(sys.path)})


def verdicts(target, selectors, jobs=1):
    """Grade and clauses of each case; and what the loop exposes, signals left out.

    What a process is handed it is handed as text, and can change nothing of it (OWN-1).
    """
    with Runner(target, jobs=jobs) as runner:
        probe = runner.probe()
        assert probe.problem is None
        results = runner.run_all(find_cases(selectors))
    found = {
        one.id: (one.grade, {check.clause: check.grade for check in one.checks if check.clause != "OWN-1"})
        for one in results
    }
    return found, set(probe.exposes) - {"interrupt", "signal", "asyncio", "arguments"}


def compared(selectors, *, keep_alive, jobs=1):
    """Both get the same verdicts. Where they differ, those cases are tried again, one at a time."""
    called, exposed = verdicts("harness.loops.reference:loop", selectors, jobs)
    spoken, seen = verdicts(twin(keep_alive=keep_alive), selectors, jobs)
    assert called
    assert seen == exposed
    assert spoken.keys() == called.keys()
    if differing := [case for case in called if spoken[case] != called[case] or called[case][0] == "fail"]:
        called, _ = verdicts("harness.loops.reference:loop", differing)
        spoken, _ = verdicts(twin(keep_alive=keep_alive), differing)
    odd = {case: grade for case, (grade, _) in called.items() if grade not in ("pass", "unsupported")}
    assert odd == {}
    assert {case: broken(told) for case, told in spoken.items() if not only_called(case)} == {
        case: broken(told) for case, told in called.items() if not only_called(case)
    }


def broken(verdict):
    """The grade, and what was found; whether a clock could tell may differ from run to run."""
    grade, checks = verdict
    return grade, {clause: found for clause, found in checks.items() if found in ("fail", "warn", "error")}


def only_called(case):
    """A process that is kept alive is not interrupted, one that is not has its own way to end by a signal."""
    return "interrupt" in case or "signal" in case


def test_a_process_that_is_kept_alive_gets_the_verdicts_of_a_callable():
    compared(CHOSEN, keep_alive=True, jobs=2)


@pytest.mark.slow
def test_a_process_for_each_turn_gets_the_verdicts_of_a_callable():
    compared(FEW, keep_alive=False)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("keep_alive", [True, False])
def test_every_scenario_gets_the_verdicts_of_a_callable(keep_alive):
    compared([], keep_alive=keep_alive, jobs=2)
