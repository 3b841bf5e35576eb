"""Running cases of a loop that cannot be run, or not once more."""

from __future__ import annotations

import asyncio
import threading

import msgspec

from harness.case import Case
from harness.chosen import find_cases
from harness.probe import Probe
from harness.runner import CaseResult, Runner
from harness.turn import Turn
from tests.loops.variant_urllib import post


def test_a_loop_that_is_not_there_gets_an_error_for_each_case_and_nobody_waits() -> None:
    told: list[CaseResult] = []
    with Runner("harness.loops.reference:nothing") as runner:
        results = runner.run_all(find_cases(["tool/one"]), told.append)

    assert [result.grade for result in results] == ["error", "error"]
    assert all(result.reason.startswith("not run: harness.loops.reference:nothing") for result in results)
    assert told == results


def test_a_loop_that_hangs_in_this_process_keeps_the_verdict_of_its_only_run() -> None:
    # What hangs on time is played twice, but here nothing can be played after a turn that never ended.
    [hanging] = [case for case in find_cases(["cap/hanging-tool"]) if case.variant == "json"]
    case = Case(msgspec.structs.replace(hanging.scenario, deadline=1.5), "json")
    over = threading.Event()

    async def loop(turn: Turn) -> None:
        call = post(turn, turn.messages, None)["content"][-1]
        running = asyncio.ensure_future(turn.tools[0].arun(call["input"]))
        while not over.is_set():
            await asyncio.sleep(0.01)
        running.cancel()

    with Runner(loop, probe=Probe(exposes=["tools", "wall_clock"])) as runner:
        result = runner.run(case)
    over.set()

    assert [check.grade for check in result.checks if check.clause == "TOOL-9"] == ["warn"]
