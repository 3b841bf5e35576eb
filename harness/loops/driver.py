"""What the runner asks of a loop, however it is reached."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from ..history import Census
from ..store import Sink
from ..turn import Declaration, TurnSpec

CANCEL_BOUND = 1.0
"""Seconds after which `cancel`, `census` and `forget` give up on a loop that lets nothing else run."""
NOT_ASYNCHRONOUS = "the loop is no coroutine function: it has no task that could be cancelled"
NOWHERE = "http://127.0.0.1:9"
"""A base URL that answers nothing: a client made while a loop is imported must not reach the real API."""


Reach: TypeAlias = Literal["turn", "token", "prompt"]
"""`turn`: it is handed the whole turn. Otherwise the prompt is all it gets: neither limits nor tools, and the
provider at one address for good. `token`: there is a word in the prompt by which its requests are known."""


class DriverError(Exception):
    """The loop cannot be loaded or driven. The message says what, where, and what instead."""


class Driver(Protocol):
    """One place in which a loop plays turns, one at a time. All calls come from one event loop."""

    @property
    def name(self) -> str:
        """What the reports call the loop."""
        ...

    @property
    def declaration(self) -> Declaration:
        """What the loop's owner stated. Known after `start`."""
        ...

    @property
    def reach(self) -> Reach:
        """How a turn gets to the loop."""
        ...

    async def start(self) -> None:
        """Load the loop. Raises `DriverError` when that cannot be done."""
        ...

    async def play(self, spec: TurnSpec, sink: Sink) -> None:
        """Play one turn: hook events and one of `Ended`, `Overran`, `Lost` go to `sink`.

        Returns soon after `spec.deadline` at the latest. What a loop does is an event, never an exception.
        """
        ...

    def cannot_cancel(self, via: str) -> str:
        """Why this loop cannot be cancelled in this way; empty where it can. Known after `start`."""
        ...

    async def cancel(self, spec: TurnSpec, via: str = "flag") -> None:
        """Cancel the conversation's turn: the flag is in the store, or the loop interrupted, on return."""
        ...

    @property
    def watched(self) -> bool:
        """Whether it is seen whom else the loop asks."""

    @property
    def killable(self) -> bool:
        """Whether the loop runs in a process of its own, so that `kill` ends it and nothing else."""
        ...

    def kill(self) -> None:
        """Kill the loop's process now. Nothing it does from here on is heard.

        `play` returns without an outcome. The conversation may go on in a new process, with `TurnSpec.store`
        as its store.
        """
        ...

    def another(self, worker: str) -> Driver:
        """A second place for the same loop, not started, for whoever is `killable`; it is to be closed.

        `worker` stands in the path by which its requests are found.
        """
        ...

    async def census(self) -> Census | None:
        """Count what is alive in the process the loop runs in; None where nobody can look."""
        ...

    async def forget(self, conversation: str) -> None:
        """The conversation is over: its store and `carry` go, and what its turns still send is dropped."""
        ...

    async def close(self) -> None:
        """Leave nothing behind that can be taken away."""
        ...
