"""What every branch of the reference turn uses: its state, the request, the limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ...turn import Turn
from . import ends
from .effects import Message, Ran
from .ends import End
from .receive import Accumulator, BrokenStreamError, SseDecoder
from .state import Display, Tally

ITERATIONS, WALL_CLOCK, PAUSES = 50, 600.0, 20
"""What a turn may use up where its limits do not say."""


class TurnBase:
    """State of one turn and the small decisions about it, a method each, so that each can change alone."""

    def __init__(self, turn: Turn, now: Callable[[], float] = time.monotonic) -> None:
        self.turn = turn
        self.now = now
        self.begun = now()
        self.tools = {tool.name: tool for tool in turn.tools}
        self.messages: list[Message] = list(turn.messages)
        self.start = len(self.messages)
        self.display = Display(turn.prompt)
        self.usage = Tally()
        self.iterations = 0
        self.pauses = 0
        self.container: str | None = None
        self.ran: dict[str, Ran] = {}
        self.running: str | None = None
        self.kept: dict[str, Any] = {}

    # What is sent

    def request(self) -> dict[str, Any]:
        """The body of the next request."""
        body: dict[str, Any] = {
            "model": self.turn.model,
            "max_tokens": self.turn.max_tokens,
            "messages": self.outgoing(),
        }
        if self.turn.system:
            body["system"] = self.turn.system
        if self.tools:
            body["tools"] = self.tool_params()
        if self.container:
            body["container"] = self.container
        if self.streams():
            body["stream"] = True
        return body

    def headers(self) -> dict[str, str]:
        """Headers to send beside the usual ones."""
        return {}

    def outgoing(self) -> list[Message]:
        """The messages to send: the whole history."""
        return list(self.messages)

    def tool_params(self) -> list[dict[str, Any]]:
        """The tools as the API takes them."""
        return [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in self.turn.tools
        ]

    def streams(self) -> bool:
        """Whether replies are streamed."""
        return self.turn.stream

    # What is received

    def decoder(self) -> SseDecoder:
        """What finds the events in the bytes of a stream."""
        return SseDecoder()

    def accumulator(self) -> Accumulator:
        """What puts a streamed reply together."""
        return Accumulator()

    def received(self, accumulator: Accumulator) -> Message:
        """The message of a stream that has ended. Raises `BrokenStreamError` where it is not whole."""
        accumulator.cut_off()
        if not accumulator.complete:
            raise BrokenStreamError("the stream ended before the message did")
        return accumulator.message

    # What limits it

    def iteration_cap(self) -> int:
        """Requests the turn may make, resumed pauses included, retries not."""
        cap = self.turn.limits.max_iterations
        return ITERATIONS if cap is None else cap

    def pause_cap(self) -> int:
        """Pauses in a row that are resumed."""
        cap = self.turn.limits.pauses
        return PAUSES if cap is None else cap

    def left(self) -> float:
        """Seconds left of the wall clock."""
        budget = self.turn.limits.wall_clock
        return self.begun + (WALL_CLOCK if budget is None else budget) - self.now()

    def cancelled(self) -> bool:
        """Whether the user cancelled."""
        return self.turn.cancelled()

    def interrupted(self) -> bool:
        """Whether what is under way should be given up."""
        return self.cancelled() or self.left() <= 0

    def must_stop(self) -> End | None:
        """The end that forbids to start anything more, if there is one."""
        if self.cancelled():
            return ends.cancelled()
        if self.iterations >= self.iteration_cap():
            return ends.capped(f"the cap of {self.iteration_cap()} iterations was", self.iterations)
        if self.left() <= 0.005:  # a timer may fire this early
            return ends.capped("the wall-clock limit was", self.iterations)
        return None
