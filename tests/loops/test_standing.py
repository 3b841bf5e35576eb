"""A loop that does not return is told where it stands, whatever it waits for and whoever plays it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

from harness.history import Overran
from harness.loops.host import HostDriver
from harness.loops.inprocess import InProcessDriver
from harness.loops.standing import standing
from tests.loops.bad.playing import spec

HERE = Path(__file__).name


def stood(work: Callable[[threading.Event], object], word: str) -> str:
    """Where a thread stands that works, once `word` is in it: it needs its time to get there."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,))
    thread.start()
    told = ""
    for _ in range(1000):
        told = standing(thread.ident or 0)
        if word in told:
            break
        time.sleep(0.005)
    over.set()
    thread.join()
    return told


def test_a_call_that_blocks_is_told_by_the_line_that_makes_it():
    def waits(over: threading.Event) -> None:
        over.wait()

    told = stood(waits, "in waits: over")

    assert told.startswith(f"{HERE}:")
    assert told.endswith(", in waits: over.wait()")


async def _pause(over: threading.Event) -> None:
    while not over.is_set():
        await asyncio.sleep(0.01)


async def _others(over: threading.Event) -> None:
    await asyncio.gather(_pause(over), _rest(over))


async def _rest(over: threading.Event) -> None:
    while not over.is_set():
        await asyncio.sleep(0.01)


def test_a_task_that_waits_is_told_by_the_innermost_line_of_its_own():
    def waits(over: threading.Event) -> None:
        asyncio.run(_pause(over))

    told = stood(waits, "in _pause: await")

    assert told.endswith("in _pause: await asyncio.sleep(0.01)")


def test_tasks_that_wait_side_by_side_are_all_told():
    def waits(over: threading.Event) -> None:
        asyncio.run(_others(over))

    told = stood(waits, "in _rest: await")

    assert [part.partition("in ")[2].partition(":")[0] for part in told.split("; ")] == [
        "_others",
        "_pause",
        "_rest",
    ]


def test_nothing_is_told_of_a_thread_that_is_not_there():
    assert standing(0) == ""


def overran(driver: InProcessDriver | HostDriver, deadline: float) -> Overran:
    """How a turn ended that had to be stopped."""
    events: list[object] = []

    async def play() -> None:
        await driver.start()
        await driver.play(spec(deadline=deadline), events.append)
        await driver.close()

    asyncio.run(play())
    [found] = [event for event in events if isinstance(event, Overran)]
    return found


def test_a_loop_of_this_process_that_overruns_is_told():
    async def hangs(_: object) -> None:
        await asyncio.Event().wait()

    assert overran(InProcessDriver(hangs), 0.3).stood.endswith("in hangs: await asyncio.Event().wait()")


def test_a_loop_in_a_host_that_overruns_is_told(tmp_path: Path):
    (tmp_path / "stuck.py").write_text("import time\n\ndef loop(turn):\n    time.sleep(60)\n")

    assert overran(HostDriver(f"{tmp_path / 'stuck.py'}:loop"), 0.5).stood == (
        "stuck.py:4, in loop: time.sleep(60)"
    )


def test_a_loop_that_lets_no_other_thread_run_is_stopped_without_it(tmp_path: Path):
    code = "import ctypes\n\ndef loop(turn):\n    ctypes.PyDLL(None).sleep(60)\n"
    (tmp_path / "holds.py").write_text(code)

    assert overran(HostDriver(f"{tmp_path / 'holds.py'}:loop"), 0.5).stood == ""
