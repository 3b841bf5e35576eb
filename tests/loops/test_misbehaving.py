"""Whatever a process does: a verdict by its deadline and two seconds, nothing left behind, no memory taken.

That nothing is left (no process, no folder, no mounted path) is asserted by `commanding`.
"""

from __future__ import annotations

import asyncio
import os
import resource
import time
from pathlib import Path

import pytest

from harness.history import Ended, Exited, Lost, Overran
from tests.loops.bad.playing import gone, sleepers
from tests.loops.commanding import commanding, python

DEADLINE = 3.0
BOUND = DEADLINE + 2.0
FLAT = 64 * 2**20
"""Bytes by which this process may grow, whatever another one prints."""


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def misbehaving(name: str):
    """The events of one turn. It is over in time."""

    async def play():
        events: list = []
        async with commanding(python(name)) as (driver, turn):
            began, before = time.monotonic(), resident()
            await driver.play(turn(deadline=DEADLINE), events.append)
            seconds, grown = time.monotonic() - began, resident() - before
        assert seconds < BOUND, f"{name} took {seconds:.1f} s"
        assert grown < FLAT, f"{name} cost {grown / 2**20:.0f} MB"
        assert isinstance(events[-1], Exited)
        return events

    return asyncio.run(play())


@pytest.mark.slow
def test_a_process_that_ignores_interrupts_is_killed():
    overran, process = misbehaving("ignores_interrupts")
    assert (overran, process.signal) == (Overran(deadline=DEADLINE), 9)


@pytest.mark.slow
def test_a_process_that_floods_its_output_with_a_gigabyte():
    outcome, process = misbehaving("floods")
    assert isinstance(outcome, (Lost, Overran))
    assert process.sizes[0] > 50 * 2**20
    assert len(process.stdout) < 50_000


@pytest.mark.slow
def test_a_process_that_forks_a_daemon():
    before = sleepers()
    outcome, process = misbehaving("forks_a_daemon")
    assert (outcome.shown, process.left) == (["Hello."], ["sleep 10000"])
    assert gone(sleepers() - before)


@pytest.mark.slow
def test_a_process_that_opens_a_thousand_connections():
    outcome, process = misbehaving("opens_1000_connections")
    assert (outcome.shown, process.code) == (["Hello."], 0)


def test_a_process_that_is_never_where_it_is_looked_for():
    outcome, process = misbehaving("forks_all_the_time")
    assert outcome.shown == ["Hello."]
    assert process.left
    for _ in range(500):
        try:
            os.killpg(int(outcome.detail), 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail("it still runs")


def test_a_line_without_an_end_hides_no_outcome():
    outcome, process = misbehaving("floods_one_line")
    assert (outcome.shown, process.sizes[0] > 64 * 2**20) == (["Hello."], True)


def test_a_process_that_writes_invalid_utf_8():
    outcome, process = misbehaving("invalid_utf8")
    assert outcome.shown == ["Hello.", "\ufffd("]
    assert process.stdout.startswith("\ufffd\ufffd log\n")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("says_nothing", Ended(returned="none")),
        ("leaves_within_the_request", Lost),
        ("leaves_within_the_answer", Ended(returned="none")),
    ],
)
def test_a_process_that_is_gone_too_early(name, wanted):
    outcome, process = misbehaving(name)
    assert process.code == 0
    assert outcome == wanted if isinstance(wanted, Ended) else isinstance(outcome, wanted)
