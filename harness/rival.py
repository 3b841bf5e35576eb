"""A second worker that is given a turn another works on: whether it leaves it alone.

It runs in a process of its own, with the same conversation, a copy of the store and a provider session of
its own; all that becomes evidence is whether it asked the provider while the first worker had the turn.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import msgspec

from .history import AnyEvent, Claimed, Ended, Lost, Noted, Overran, RequestSeen
from .loops.driver import Driver
from .provider.server import Provider
from .provider.session import Session
from .scenario.model import Scenario
from .turn import TurnSpec

PATIENCE = 10.0
"""Seconds the first worker waits for an answer, at most: a new process has its libraries to load."""
WAITS = 2.0
"""Seconds in which a second worker that was told no may end, or go on all the same."""
LOADS = 20.0
"""Seconds in which one that goes on turns to the provider: it has its client to load, on a busy machine."""


class Claims:
    """Who has the turn. It is one worker at a time."""

    def __init__(self) -> None:
        self._holder = ""

    def ask(self, worker: str) -> bool:
        """Take the turn for `worker`; False where another has it."""
        self._holder = self._holder or worker
        return self._holder == worker

    def free(self, worker: str) -> None:
        """`worker` is gone, or done with it."""
        if self._holder == worker:
            self._holder = ""


class Rival:
    """The second worker, from when it begins to when it is stopped."""

    def __init__(self, driver: Driver, claims: Claims, record: Callable[[AnyEvent], Any]) -> None:
        self._driver = driver
        self._claims = claims
        self._record = record
        self._told = asyncio.Event()
        self._asked = asyncio.Event()
        self._goes_on = False
        self._playing: asyncio.Task[None] | None = None

    async def begin(
        self, provider: Provider, scenario: Scenario, spec: TurnSpec, turn: int, seed: int, worker: str
    ) -> None:
        """Start, and wait until it is known what it does. `spec` is the first worker's."""
        session = Session(
            key=f"{spec.api_key}-second", scenario=scenario, record=self._seen, seed=seed, worker=worker
        )
        provider.open(session)
        session.begin_turn(turn)
        mine = msgspec.structs.replace(
            spec,
            api_key=session.key,
            base_url=f"{spec.base_url.rpartition('/')[0]}/{worker}",
            hooks={},
            deadline=PATIENCE + WAITS + LOADS,
        )
        self._note("began")
        self._playing = asyncio.create_task(self._play(mine))
        self._playing.add_done_callback(lambda _: self._told.set())
        self._playing.add_done_callback(lambda _: provider.shut(session.key))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._told.wait(), PATIENCE)
        asking = asyncio.create_task(self._asked.wait())
        for seconds in (WAITS, LOADS):
            if seconds == WAITS or self._goes_on:
                either = {self._playing, asking}
                await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        asking.cancel()

    async def stop(self) -> None:
        """The first worker is done: what the second does from now on is another matter."""
        self._note("stopped")
        if self._playing:
            self._playing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._playing
        await self._driver.close()

    async def _play(self, spec: TurnSpec) -> None:
        try:
            await self._driver.start()
            await self._driver.play(spec, self._hook)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - that it could not be tried is no fault of the turn
            self._note(f"lost: {type(error).__name__}: {error}")

    def _hook(self, event: AnyEvent) -> bool | None:
        match event:
            case Claimed():
                granted = self._claims.ask("second")
                self._note("took the turn" if granted else "was told no")
                if not granted:
                    self._told.set()
                return granted
            case Ended():
                self._claims.free("second")
                self._note("ended")
            case Lost():
                self._note(f"lost: {event.reason}")
            case Overran():
                self._note("overran")
            case _:
                # Whoever waits for the turn says nothing.
                self._goes_on = True
        return None

    def _seen(self, event: AnyEvent) -> None:
        if isinstance(event, RequestSeen) and event.endpoint == "messages" and not self._asked.is_set():
            self._asked.set()
            self._note("asked the provider")
            self._told.set()

    def _note(self, what: str) -> None:
        self._record(Noted(kind="rival", detail=what))
