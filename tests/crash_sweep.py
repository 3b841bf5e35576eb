"""The crash sweep: exit-path turns of the reference loop, killed after each event and played again.

`python -m tests.crash_sweep` plays every turn once to count what happens in it, then once for each of these
events, blocking and asynchronous, whole and streamed by turns. It takes minutes and is no part of the tests;
a few of its points, named by what they are, travel with the package as `resume/*`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import msgspec

from harness.case import Case
from harness.history import Crashed, Ended, Event, TurnBegan
from harness.runner import CaseResult, Runner
from harness.scenario.exits import scenarios
from harness.scenario.model import Crash, Expect, Scenario

TARGETS = ("harness.loops.reference:loop", "harness.loops.reference:async_loop")
CLAUSES = ["CLEAN-3", "CLEAN-4", "CLEAN-5"]
"""What each has to decide, wherever the process died; what RESUME has to say counts as well."""


def turns() -> Iterator[Scenario]:
    """The exit paths of one turn, but for those whose end hangs on the clock or on a cancellation."""
    for scenario in scenarios():
        (first, *more) = scenario.turns
        if not more and first.cancel is None and first.limits.wall_clock is None:
            # How often a tool runs depends on where the process dies.
            expect = Expect(status=first.expect.status, answer=first.expect.answer)
            turn = msgspec.structs.replace(first, expect=expect)
            yield msgspec.structs.replace(scenario, turns=[turn], clauses=CLAUSES, deadline=10.0)


def killed_after(scenario: Scenario, number: int) -> Scenario:
    """The scenario with its process killed after so many events."""
    turn = msgspec.structs.replace(scenario.turns[0], crash=Crash(after=f"moment {number}"))
    return msgspec.structs.replace(scenario, id=f"{scenario.id}-moment-{number}", turns=[turn])


def moments(result: CaseResult) -> int:
    """Events between the beginning of the turn and its outcome."""
    kinds: list[type[Event]] = [type(event) for event in result.events]
    return kinds.index(Ended) - kinds.index(TurnBegan) - 1


def main() -> int:
    """Play everything; what is not right is printed, and makes it fail."""
    wrong: list[CaseResult] = []
    played = 0
    for target in TARGETS:
        with Runner(target, jobs=2) as runner:
            for scenario in turns():
                for variant in scenario.variants:
                    counted = moments(runner.run(Case(scenario, variant)))
                    numbers = range(1 if variant == "json" else 2, counted + 1, 2)
                    cases = [Case(killed_after(scenario, number), variant) for number in numbers]
                    results = runner.run_all(cases)
                    wrong += [result for result in results if not _right(result)]
                    played += len(results)
                    grades = dict(Counter(result.grade for result in results))
                    print(f"{target} {scenario.id}[{variant}]: {grades}", flush=True)
    for result in wrong:
        print(f"{result.id}: {result.grade} {result.reason}")
        for check in result.checks:
            if check.grade in ("fail", "warn", "error"):
                print(f"    {check.clause}: {check.message} ({check.expected})")
    print(f"{played} crashes, {len(wrong)} of them judged wrong")
    return 1 if wrong else 0


def _right(result: CaseResult) -> bool:
    """Nothing is broken, and the process was killed."""
    died = any(isinstance(event, Crashed) for event in result.events)
    return died and result.grade == "pass"


if __name__ == "__main__":
    sys.exit(main())
