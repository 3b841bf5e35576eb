"""Cases that are played to loops which others run: opened, moved on and judged by requests of theirs."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from .case import Case, CaseRun, Terms, history_path
from .client_probe import explore_client
from .history import AnyEvent
from .loops.attach import AttachedDriver
from .loops.driver import DriverError, Reach
from .loops.place import Place
from .loops.protocol import TurnLine
from .probe import Probe, explore
from .provider.server import Provider
from .pulse import Pulse
from .runner import CaseResult, judged
from .serving import Serving
from .turn import Declaration

PROBE = "probe"
"""The name of the case that finds out what the loop exposes."""
KNOWN_BY: dict[str, Reach] = {"key": "turn", "prompt": "token", "order": "prompt"}
"""How the requests of a session are told from others: by its key, a word in its prompts, or not at all."""
MOST_OPEN = 500
"""Sessions that may be open at a time."""
WORKER = "w0"


class RefusedError(Exception):
    """A request that cannot be meant. The message says what instead."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Sitting:
    """One case at play, or the probe: turns are taken from it one by one, until there is none."""

    def __init__(self, name: str, driver: AttachedDriver, playing: asyncio.Task[Any]) -> None:
        self.name = name
        self.driver = driver
        self.playing = playing

    async def turn(self) -> TurnLine | None:
        """The next turn, as soon as it begins; None where the last is over."""
        waiting = asyncio.ensure_future(self.driver.turns.get())
        await asyncio.wait({waiting, self.playing}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        waiting.cancel()
        return None

    async def close(self) -> None:
        """Give up on it."""
        self.playing.cancel()
        await asyncio.wait({self.playing})


class Attached:
    """Plays cases to whoever asks for them. All of it runs in one event loop, `provider`'s."""

    def __init__(
        self,
        provider: Provider,
        cases: Sequence[Case],
        *,
        seed: int,
        history_dir: Path | None = None,
        declaration: Declaration | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`tell` gets lines for a person who types the prompts."""
        self.cases = {case.id: case for case in cases}
        self._provider = provider
        self._seed = seed
        self._history_dir = history_dir
        self._declaration = declaration
        self._declared: Mapping[str, Any] = {}
        self._tell = tell
        self._pulse = Pulse()
        self._probe = Probe()
        self._sittings: dict[str, Sitting] = {}
        self._numbers = itertools.count(1)

    async def start(self) -> None:
        """Answer whoever asks before the first case, and begin to measure how late the machine is."""
        self._provider.standby = Serving.of_anything("sk-ant-standby").session
        self._pulse.start()

    async def close(self) -> None:
        """Give up on what is open."""
        for sitting in list(self._sittings.values()):
            await sitting.close()
        await self._pulse.stop()

    # --- what a wrapper asks for ----------------------------------------------------------------------

    async def open(
        self,
        name: str,
        known_by: str = "key",
        *,
        by_hand: bool = False,
        declared: Mapping[str, Any] | None = None,
    ) -> tuple[str, TurnLine | None]:
        """Begin a case, or the probe; the session's id and its first turn. Raises `RefusedError`.

        `declared` is what is said of the loop; what is said with the probe holds for all that come after it.
        """
        if len(self._sittings) >= MOST_OPEN:
            raise RefusedError(409, f"{MOST_OPEN} sessions are open: ask for the verdicts of some")
        said = self._declared if declared is None else declared
        try:
            driver = await self._driver(KNOWN_BY[known_by], by_hand=by_hand, declared=said)
        except DriverError as error:
            raise RefusedError(400, str(error)) from None
        if name == PROBE:
            self._declared = said
        playing = self._explore(driver) if name == PROBE else self._play(self.cases[name], driver)
        sitting = Sitting(name, driver, asyncio.ensure_future(playing))
        session = f"s{next(self._numbers)}"
        self._sittings[session] = sitting
        return session, await sitting.turn()

    async def next(self, session: str, *outcome: Any) -> TurnLine | None:
        """The turn is over, perhaps with an outcome; the one after it. Raises `MalformedError`."""
        sitting = self._sitting(session)
        sitting.driver.over(*outcome)
        return await sitting.turn()

    async def verdict(self, session: str) -> CaseResult | Probe:
        """What the session came to; it is closed with that."""
        sitting = self._sitting(session)
        while not sitting.playing.done():
            sitting.driver.over()
            await sitting.turn()
        del self._sittings[session]
        found: CaseResult | Probe = await sitting.playing
        return found

    def _sitting(self, session: str) -> Sitting:
        if session not in self._sittings:
            raise RefusedError(404, f"there is no session {session!r}; one is open until its verdict is told")
        return self._sittings[session]

    # --- cases one by one, for whoever says their prompts ---------------------------------------------

    async def host(self, patience: float) -> None:
        """Play all cases in their order; a turn is over when nothing was asked for so many seconds."""
        for case in self.cases.values():
            driver = await self._driver("token", patience=patience)
            playing = asyncio.ensure_future(self._play(case, driver))
            sitting = Sitting(case.id, driver, playing)
            try:
                while turn := await sitting.turn():
                    self._tell(f"{case.id}: say {json.dumps(turn.prompt, ensure_ascii=False)}")
                self._tell(f"{case.id}: {(await playing).grade}")
            except asyncio.CancelledError:
                # The last turn has ended with this; one that nobody came to leaves the history incomplete.
                driver.over()
                if await sitting.turn() is not None:
                    await sitting.close()
                await asyncio.wait({playing})
                path = history_path(self._history_dir, case)
                if path is not None and not driver.was_asked:
                    path.unlink(missing_ok=True)  # nobody has come to it
                raise

    # --- how -------------------------------------------------------------------------------------------

    async def _driver(
        self,
        reach: Reach,
        *,
        by_hand: bool = False,
        patience: float | None = None,
        declared: Mapping[str, Any] | None = None,
    ) -> AttachedDriver:
        provider = self._provider
        place = Place(
            worker=WORKER,
            url=provider.url,
            mount=provider.mount,
            unmount=provider.unmount,
            asked=provider.used,
            busy=provider.busy,
            heard=provider.heard,
            declaration=self._declaration,
        )
        driver = AttachedDriver(place, reach, by_hand=by_hand, patience=patience, declared=declared)
        await driver.start()
        return driver

    def _terms(self) -> Terms:
        probe = self._probe
        return Terms(
            loop="attached",
            seed=self._seed,
            exposes=probe.exposes,
            startup=probe.startup,
            finished=probe.finished,
            phrases=probe.phrases,
            ties=probe.ties,
            alone=len(self._sittings) <= 1,
            history_dir=self._history_dir,
        )

    async def _play(self, case: Case, driver: AttachedDriver) -> CaseResult:
        run = CaseRun(self._provider, driver, WORKER, case, self._terms(), self._pulse)
        events = await self._played(run, driver)
        return judged(case, events, events[-1].at, self._history_dir)

    async def _played(self, run: CaseRun, driver: AttachedDriver) -> list[AnyEvent]:
        # Who has a key of its own is known by that, and need not be in anybody's way.
        run.current = driver.reach != "turn" or len(self._sittings) == 0
        await run.play()
        await run.finish()
        return run.history.events

    async def _explore(self, driver: AttachedDriver) -> Probe:
        unseen = Terms(loop="attached", seed=self._seed)

        async def play(case: Case, ties: Sequence[str] = ()) -> list[AnyEvent]:
            terms = structs.replace(unseen, ties=list(ties))
            run = CaseRun(self._provider, driver, WORKER, case, terms, self._pulse)
            return await self._played(run, driver)

        how = explore if driver.reach == "turn" else explore_client
        self._probe = await how(play, driver, self._provider.url)
        return self._probe
