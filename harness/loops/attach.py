"""A loop that somebody else runs: it is told its turn, and tells when it is over."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from .. import clock, declaration
from ..declaration import DeclarationError
from ..history import Census, Ended, Lost
from ..store import Sink
from ..turn import INTERRUPTS, Declaration, TurnSpec
from .driver import Driver, DriverError, Reach
from .place import Place
from .playing import Memory, Playing
from .protocol import TurnLine, turn_line

ELSEWHERE = "a loop that somebody else runs cannot be interrupted from here"
NOTHING = "the turn is over, and the provider was not asked"
LOOK = 0.05
"""Seconds between two looks at whether it is still asking."""


class AttachedDriver:
    """Hands out turns, and waits for somebody to say that they are over.

    With `by_hand` the limit for a turn does not count: a person is at work. With `patience`, a turn is over
    as well when nothing was asked for so many seconds, once something was.
    """

    kind = "process"

    def __init__(
        self,
        place: Place,
        reach: Reach,
        *,
        by_hand: bool = False,
        patience: float | None = None,
        declared: Mapping[str, Any] | None = None,
    ) -> None:
        """`declared`: what whoever runs the loop said of it."""
        self.name = "attached"
        self.declaration = Declaration()
        self.reach = reach
        self.killable = False
        self.watched = False
        self.turns: asyncio.Queue[TurnLine] = asyncio.Queue()
        self._place = place
        self._by_hand = by_hand
        self._patience = patience
        self._declared = declared or {}
        self._memories: dict[str, Memory] = {}
        self._keys: set[str] = set()
        self._playing: Playing | None = None

    async def start(self) -> None:
        """Take what is declared. Raises `DriverError`."""
        try:
            self.declaration = declaration.collect(
                self._declared, self._place.declaration, self._place.folder, "the declaration"
            )
        except DeclarationError as error:
            raise DriverError(str(error)) from None

    async def play(self, spec: TurnSpec, sink: Sink) -> None:
        """Hand the turn out, and wait until it is over."""
        memory = self._memories.setdefault(spec.conversation, Memory())
        playing = self._playing = Playing(spec, sink, memory, self._place, lambda _: None)
        self._keys.add(spec.api_key)
        self.turns.put_nowait(turn_line(spec, playing.url, memory.carry))
        try:
            if self._patience is not None:
                await self._quiet(playing, self._patience)
                self.over()
            else:
                limit = None if self._by_hand else spec.deadline
                await asyncio.wait({playing.outcome}, timeout=limit)
                playing.overran()
        finally:
            playing.shut()
            self._playing = None

    async def _quiet(self, playing: Playing, patience: float) -> None:
        """Wait until something was asked, and then for so long nothing more."""
        key = playing.spec.api_key
        heard, since = self._place.heard(key), clock.now()
        while not playing.outcome.done():
            await asyncio.wait({playing.outcome}, timeout=LOOK)
            asked = self._place.heard(key) > heard
            if not asked or self._place.busy(key):
                since = clock.now()
            elif clock.now() >= since + patience:
                return

    def over(self, *outcome: Any) -> None:
        """The turn is over, with the outcome if one is given. Raises `MalformedError`."""
        if self._playing is None:
            return
        if outcome and outcome[0] is not None:
            self._playing.conclude(outcome[0])
        elif self._playing.asked:
            self._playing.end(Ended(returned="none"))
        else:
            self._playing.end(Lost(reason=NOTHING))

    @property
    def was_asked(self) -> bool:
        """Whether anybody has come to the case."""
        return any(self._place.heard(key) for key in self._keys)

    def cannot_cancel(self, via: str) -> str:
        """There is the flag, and nothing else."""
        return ELSEWHERE if via in INTERRUPTS else ""

    async def cancel(self, spec: TurnSpec, via: str = "flag") -> None:  # noqa: ARG002 - there is one way
        """Set the flag."""
        self._memories.setdefault(spec.conversation, Memory()).store.put(spec.cancel_key, True)

    def kill(self) -> None:
        """Nothing: it is not killable."""

    def another(self, worker: str) -> Driver:
        """Raises `RuntimeError`: there is no second worker that we know of."""
        raise RuntimeError(f"{worker}: {ELSEWHERE}")

    async def census(self) -> Census | None:
        """What is alive elsewhere is not seen."""
        return None

    async def forget(self, conversation: str) -> None:
        """The conversation is over."""
        self._memories.pop(conversation, None)

    async def close(self) -> None:
        """Wait for nobody any more."""
        if self._playing:
            self._playing.shut()
