"""How late the machine is: a timer that should ring every 20 ms, and by how much it does not."""

from __future__ import annotations

import asyncio
from collections import deque

from . import clock

EVERY = 0.02
"""Seconds between two rings."""
WORTH_KEEPING = 0.02
"""Seconds of lateness below which a ring tells nothing."""


class Pulse:
    """Measures the lateness of the event loop it is started in."""

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque(maxlen=10_000)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to measure; to be called in the event loop."""
        self._task = asyncio.get_running_loop().create_task(self._beat())

    async def stop(self) -> None:
        """Stop measuring."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def worst_since(self, moment: float) -> float:
        """The greatest lateness, in seconds, of a ring since `moment` on `harness.clock`."""
        return max((late for at, late in self._late if at >= moment), default=0.0)

    async def _beat(self) -> None:
        while True:
            due = clock.now() + EVERY
            await asyncio.sleep(EVERY)
            late = clock.now() - due
            if late > WORTH_KEEPING:
                self._late.append((clock.now(), late))
