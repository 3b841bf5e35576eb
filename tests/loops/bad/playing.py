"""Plays loops in a driver, and looks at what is left of them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path

from harness import census
from harness.loops.host import HostDriver
from harness.turn import Limits, TurnSpec

LOOPS = "tests.loops.bad.loops"


def spec(prompt: str = "Hello", conversation: str = "c1", **other) -> TurnSpec:
    values = {
        "base_url": "http://127.0.0.1:9/w0",
        "api_key": "sk-ant-test",
        "model": "claude-opus-4-6",
        "max_tokens": 100,
        "system": "",
        "messages": [{"role": "user", "content": prompt}],
        "tools": [],
        "stream": False,
        "limits": Limits(),
        "checkpoint_key": f"checkpoint:{conversation}",
        "cancel_key": f"cancel:{conversation}",
        "deadline": 10.0,
    }
    return TurnSpec(prompt=prompt, conversation=conversation, **(values | other))


async def played(driver, *specs: TurnSpec):
    """The events of each turn."""
    turns = []
    for each in specs:
        turns.append([])
        await driver.play(each, turns[-1].append)
    return turns


@contextlib.asynccontextmanager
async def hosting(target: str, **options):
    """A started host driver. When it is closed nothing may be left of its process, of what that started, and
    of its folder."""
    driver = HostDriver(target if ":" in target else f"{LOOPS}:{target}", **options)
    hosts = []
    try:
        await driver.start()
        hosts.append(driver._host)
        yield driver
        if driver._host:
            hosts.append(driver._host)
    finally:
        await driver.close()
    for host in hosts:
        assert host.died.done()
        assert alone(host)
        assert not Path(host.folder).exists()


def alone(host) -> bool:
    """Whether nothing of it is alive, or will be in a second: who was killed takes a moment to be gone."""
    for _ in range(100):
        if not census.family(host._popen.pid, host.mark):
            return True
        time.sleep(0.01)
    return False


def host(target: str, *specs: TurnSpec, **options):
    """The events of each turn, played in a host that is closed behind them."""

    async def play():
        async with hosting(target, **options) as driver:
            return await played(driver, *specs)

    return asyncio.run(play())


def sleepers() -> set[int]:
    """Processes that our bad loops start, wherever they are now."""
    return {p.pid for p in census._processes("") if p.command == "sleep 10000" and p.state != "Z"}


def gone(pids: set[int]) -> bool:
    """Whether they end within five seconds."""
    for _ in range(500):
        if not pids & sleepers():
            return True
        time.sleep(0.01)
    return False
