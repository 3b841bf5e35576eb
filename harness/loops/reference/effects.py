"""What the reference turn asks its driver to do: the only way it touches the world.

The turn yields one effect and is sent its result. Hooks carry their own `apply`; the rest differs between a
blocking driver and an asynchronous one.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...turn import Outcome, Turn

Message: TypeAlias = dict[str, Any]
Block: TypeAlias = dict[str, Any]
Content: TypeAlias = str | list[Block]


@dataclass(frozen=True)
class Call:
    """A client tool call of a reply, as the model wrote it."""

    id: str
    name: str
    input: Any


@dataclass(frozen=True)
class Ran:
    """What became of a call: what the model is told, and whether that is an error."""

    content: Content
    is_error: bool = False


@dataclass(frozen=True)
class Failed:
    """A request that brought no whole reply.

    `retryable` says whether the same request may succeed later, `wait` what the provider asked for (seconds),
    `usage` what a broken stream had already reported.
    """

    error: BaseException
    retryable: bool = False
    wait: float | None = None
    usage: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ask:
    """Send one request. Result: the reply as received (a dict), or `Failed`."""

    body: dict[str, Any]
    timeout: float
    """Seconds the whole exchange may take."""
    attempt: int = 0
    """How often this request was sent before."""
    headers: dict[str, str] = field(default_factory=dict)
    """Further headers."""


@dataclass(frozen=True)
class RunTools:
    """Run client tools. Result: one `Ran` for each call, in order."""

    calls: tuple[Call, ...]
    timeout: float


@dataclass(frozen=True)
class Wait:
    """Let time pass before a retry, or less if the turn is cancelled. Result: None."""

    seconds: float


@dataclass(frozen=True)
class Claim:
    """Take the turn for this worker. Result: whether no other has it."""

    def apply(self, turn: Turn) -> bool:
        """Call the hook."""
        return turn.claim()


@dataclass(frozen=True)
class Publish:
    """Show the state of the turn."""

    state: dict[str, Any]
    history: list[Message]
    done: bool = False

    def apply(self, turn: Turn) -> None:
        """Call the hook."""
        turn.publish(self.state, self.history, done=self.done)


@dataclass(frozen=True)
class Report:
    """Tell the owner of the loop about a problem."""

    problem: str | BaseException

    def apply(self, turn: Turn) -> None:
        """Call the hook."""
        turn.report(self.problem)


@dataclass(frozen=True)
class RecordUsage:
    """Record the usage of the whole turn."""

    iterations: int
    tokens: dict[str, int]

    def apply(self, turn: Turn) -> None:
        """Call the hook."""
        turn.record_usage(self.iterations, **self.tokens)


@dataclass(frozen=True)
class Keep:
    """Write a key of the store."""

    key: str
    value: Any

    def apply(self, turn: Turn) -> None:
        """Call the hook."""
        turn.store[self.key] = self.value


@dataclass(frozen=True)
class Drop:
    """Remove a key of the store, if it is there."""

    key: str

    def apply(self, turn: Turn) -> None:
        """Call the hook."""
        turn.store.pop(self.key, None)


@dataclass(frozen=True)
class Finish:
    """The turn is over: the driver returns `outcome`, or raises `error` where the turn was torn down."""

    outcome: Outcome
    error: BaseException | None = None


Hook: TypeAlias = Publish | Report | RecordUsage | Keep | Drop
Effect: TypeAlias = Claim | Ask | RunTools | Wait | Hook | Finish
Steps: TypeAlias = Generator[Effect, Any, None]
