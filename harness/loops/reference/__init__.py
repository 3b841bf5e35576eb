"""The reference loop: correct by every clause, in four forms (blocking or asynchronous, plain or streaming).

`turn.py` is the loop without any I/O, and the file to read; the two drivers give it hands.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ...turn import Declaration, Outcome, Turn
from .async_driver import drive_async
from .sync_driver import drive
from .turn import ReferenceTurn

__all__ = ["DECLARATION", "ReferenceTurn", "async_loop", "async_loop_of", "loop", "loop_of"]

DECLARATION = Declaration(
    policies={
        "on_max_tokens": "stop",
        "on_refusal": "stop",
        "on_tool_error": "answer",
        "cancel": "between_requests",
        "on_crash": "answer",
        "on_fault": "retry",
    }
)


def loop_of(
    machine: type[ReferenceTurn], declaration: Declaration = DECLARATION
) -> Callable[[Turn], Outcome]:
    """The blocking loop that plays turns of this class."""

    def loop(turn: Turn) -> Outcome:
        return drive(machine(turn))

    loop.declaration = declaration  # type: ignore[attr-defined]
    return loop


def async_loop_of(
    machine: type[ReferenceTurn], declaration: Declaration = DECLARATION
) -> Callable[[Turn], Awaitable[Outcome]]:
    """The asynchronous loop that plays turns of this class."""

    async def async_loop(turn: Turn) -> Outcome:
        return await drive_async(machine(turn))

    async_loop.declaration = declaration  # type: ignore[attr-defined]
    return async_loop


loop = loop_of(ReferenceTurn)
async_loop = async_loop_of(ReferenceTurn)
