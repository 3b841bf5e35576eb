"""Nothing is left behind: `hosting` asserts that for the process, its family and its folder."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import census
from harness.history import Lost, Overran
from tests.loops.bad.playing import LOOPS, gone, host, hosting, played, sleepers, spec


@pytest.mark.parametrize(
    "target", ["leaves_a_child", "leaves_a_child_elsewhere", "daemonizes", "leaves_a_thread", "leaves_a_task"]
)
def test_what_a_loop_leaves_ends_with_the_host(target):
    before = sleepers()
    (events,) = host(target, spec())
    assert events[-1].shown == ["started"]
    assert gone(sleepers() - before)


def test_a_child_in_a_session_of_its_own_ends_with_a_host_that_overran():
    before = sleepers()

    async def play():
        async with hosting("spins_beside_a_child") as driver:
            (events,) = await played(driver, spec(deadline=0.5))
            assert not sleepers() - before
            return events

    last = asyncio.run(play())[-1]
    assert last == Overran(deadline=0.5, stood=last.stood)


def test_a_fork_that_comes_back_from_the_loop_does_not_speak_for_it():
    first, second = host("comes_back_twice", spec(), spec(conversation="c2"))
    assert [event.shown for event in first] == [["the parent's"]]
    assert [event.shown for event in second] == [["the parent's"]]


@pytest.mark.parametrize("target", ["dies", "crashes"])
def test_a_host_that_died_leaves_nothing(target):
    (events,) = host(target, spec())
    assert isinstance(events[-1], Lost)


PARENT = """
import asyncio, sys
from tests.loops.bad.playing import spec
from harness.loops.host import HostDriver

async def main():
    driver = HostDriver(sys.argv[1])
    await driver.start()
    host = driver._host
    print(host.mark, host.folder, host._warden, flush=True)
    await driver.play(spec(deadline=60), print)
    await asyncio.sleep(60)  # it is there until it is killed

asyncio.run(main())
"""


def parent_of(target):
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, f"{LOOPS}:{target}"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.parametrize(
    "target",
    [
        "spins",
        "sleeps",
        "swallows",
        "ignores_signals",
        "blocks_every_thread",
        "leaves_a_child",
        "leaves_a_child_elsewhere",
        "daemonizes",
    ],
)
def test_a_host_ends_with_its_parent_and_so_does_all_it_started(target):
    before = sleepers()
    with parent_of(target) as parent:
        mark, folder, _ = parent.stdout.readline().decode().split()
        assert census.family(parent.pid, mark)
        if target.startswith(("leaves_", "daemonizes")):
            assert b"started" in parent.stdout.readline()
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert ended(mark)
    assert gone(sleepers() - before)
    assert not Path(folder).exists()


def test_a_host_that_meets_its_parents_end_waits_for_a_warden_that_is_late():
    before = sleepers()
    with parent_of("returns_when_its_parent_is_gone") as parent:
        mark, _, warden = parent.stdout.readline().decode().split()
        assert b"started" in parent.stdout.readline()
        os.kill(int(warden), signal.SIGSTOP)
        parent.kill()
        parent.wait()
        time.sleep(0.5)
        os.kill(int(warden), signal.SIGCONT)
    assert ended(mark)
    assert gone(sleepers() - before)


def test_the_warden_ends_with_its_host():
    async def play():
        async with hosting("good") as driver:
            host = driver._host
            assert host._warden in await asyncio.to_thread(census.family, os.getpid(), host.mark)
            await driver.close()
            return host.mark

    assert ended(asyncio.run(play()))


def test_a_loop_that_waits_for_its_children_does_not_meet_the_warden():
    (events,) = host("waits_for_its_children", spec())
    assert events[-1].shown == ["no children"]


def ended(mark: str) -> bool:
    """Whether all processes with this mark end soon."""

    async def watch():
        for _ in range(500):
            if not census.family(os.getpid(), mark):
                return True
            await asyncio.sleep(0.01)
        return False

    return asyncio.run(watch())


def test_a_host_is_stopped_to_the_end_although_nobody_waits_any_more():
    async def play():
        async with hosting("spins") as driver:
            turn = asyncio.ensure_future(played(driver, spec(deadline=0.1)))
            while driver._host:
                await asyncio.sleep(0)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn

    asyncio.run(play())  # `hosting` looks at the host that began


def test_closing_twice_and_closing_what_never_started_is_fine():
    async def play():
        async with hosting("good") as driver:
            await driver.close()
            await driver.close()
            return await driver.census()

    assert asyncio.run(play()).children == []
