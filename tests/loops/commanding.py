"""Plays turns in processes, with a provider at their disposal, and looks at what is left of them."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path

from harness import census
from harness.history import Exited
from harness.loops.command import Command
from harness.loops.place import Place
from harness.provider.server import Provider
from harness.provider.session import Session
from harness.scenario.model import Reply, Step
from harness.serving import everything
from harness.signals import ignored_here_alone
from harness.turn import TurnSpec
from tests.loops.bad.playing import spec

PROCESSES = Path(__file__).parent / "bad" / "processes.py"
HELLO = Step(reply=Reply(content=[{"type": "text", "text": "Hello."}]), repeat="forever")


def python(name: str, **options) -> Command:
    """The process of `bad/processes.py` with this name."""
    return Command(words=(sys.executable, "-S", str(PROCESSES), name), **options)


@contextlib.asynccontextmanager
async def commanding(command: Command, script=(HELLO,)):
    """A started driver and what makes turns for it. When it is closed nothing may be left."""
    provider = Provider()
    await provider.start()
    seen: list = []
    session = Session(key="sk-ant-test", scenario=everything(list(script)), record=seen.append)
    provider.open(session)
    session.begin_turn(0)
    proxy = provider.proxy("w0")
    place = Place("w0", provider.url, provider.mount, provider.unmount, provider.used, proxy)
    driver = command.driver(place)

    def turn(prompt: str = "Hello", **other) -> TurnSpec:
        return spec(prompt, **{"base_url": place.base_url, **other})

    try:
        with ignored_here_alone():
            await driver.start()
            driver.seen = seen
            yield driver, turn
    finally:
        await driver.close()
        await provider.close()
    assert not provider._mounted
    assert not Path(driver._guard.folder).exists()
    assert not census.family(-1, driver._guard.mark)


def played(command: Command, *turns: dict, script=(HELLO,)):
    """The events of each turn: the arguments of `spec` for each."""

    async def play():
        events = []
        async with commanding(command, script) as (driver, turn):
            for each in turns or ({},):
                events.append([])
                await driver.play(turn(**each), events[-1].append)
        return events

    return asyncio.run(play())


def ended(command: Command, **turn):
    """How one turn ended: its last event but the process's end, and that."""
    [events] = played(command, turn)
    assert isinstance(events[-1], Exited), events
    return events[-2], events[-1]
