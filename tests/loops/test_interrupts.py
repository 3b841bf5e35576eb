"""A turn is interrupted where it runs: its task, its thread, its process; and never what comes after it."""

from __future__ import annotations

import asyncio

import pytest

from harness.history import Cancelled, Ended, Reported, ToolEnded
from harness.loops.inprocess import InProcessDriver
from harness.loops.interrupts import Interrupts
from harness.turn import Behaviour, ToolSpec
from tests.loops.bad import loops
from tests.loops.bad.playing import hosting, played, spec


async def interrupted(target: str, via: str):
    """The events of a turn that is interrupted, and of the next one."""
    async with hosting(target) as driver:
        assert driver.cannot_cancel(via) == ""
        turn = asyncio.ensure_future(played(driver, spec()))
        await asyncio.sleep(0.3)
        await driver.cancel(spec(), via)
        first = (await turn)[0]
        await driver.cancel(spec(), via)  # between two turns it reaches nobody
        return first


@pytest.mark.parametrize(
    ("target", "via", "kind"),
    [
        ("cleans_up", "interrupt", "KeyboardInterrupt"),
        ("cleans_up", "signal", "KeyboardInterrupt"),
        ("cleans_up_async", "asyncio", "CancelledError"),
        ("cleans_up_async", "interrupt", "CancelledError"),
        ("cleans_up_async", "signal", "CancelledError"),
    ],
)
def test_what_waits_is_woken_up_and_may_clean_up(target, via, kind):
    events = asyncio.run(interrupted(target, via))
    assert [type(event) for event in events] == [Reported, Ended]
    assert events[-1].raised.type == kind


def test_a_loop_that_handles_sigterm_gets_it():
    events = asyncio.run(interrupted("handles_sigterm", "signal"))
    assert events[-1].shown == ["told to end"]


def test_a_loop_that_is_not_asynchronous_has_no_task_to_cancel():
    async def ask():
        async with hosting("cleans_up") as driver:
            return driver.cannot_cancel("asyncio")

    assert "no coroutine function" in asyncio.run(ask())


def test_a_thread_of_this_process_cannot_be_interrupted_but_its_task_cancelled():
    async def play():
        driver = InProcessDriver(loops.cleans_up_async)
        await driver.start()
        turn = asyncio.ensure_future(played(driver, spec()))
        await asyncio.sleep(0.1)
        await driver.cancel(spec(), "asyncio")
        events = (await turn)[0]
        reasons = [driver.cannot_cancel(via) for via in ("flag", "asyncio", "interrupt", "signal")]
        await driver.close()
        return events, reasons

    events, reasons = asyncio.run(play())
    assert events[-1].raised.type == "CancelledError"
    assert [bool(reason) for reason in reasons] == [False, False, True, True]


@pytest.mark.parametrize("point", ["tool wait", "after tool wait"])
def test_a_tool_may_be_where_it_happens(point):
    tool = ToolSpec(name="wait", description="-", input_schema={}, answers=[Behaviour(delay=0.2)])
    where = {"cancel_on_tool": "wait"} if point == "tool wait" else {"cancel_after_tool": "wait"}

    async def play():
        async with hosting("runs_its_tool") as driver:
            return await played(driver, spec(tools=[tool], cancel_via="interrupt", **where))

    events = asyncio.run(play())[0]
    assert [event.point for event in events if isinstance(event, Cancelled)] == [point]
    assert [event.abandoned for event in events if isinstance(event, ToolEnded)] == [point == "tool wait"]
    assert events[-1].raised.type == "KeyboardInterrupt"


def test_nothing_is_sent_where_no_turn_is_played():
    interrupts = Interrupts()
    for via in ("asyncio", "interrupt", "signal"):
        interrupts.send(via)
    with interrupts:
        pass
    interrupts.send("interrupt")
