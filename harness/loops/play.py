"""One turn, played where the loop lives: in a host's main thread, or in a thread of this process."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
import traceback
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from ..history import Ended, Lost, Noted, Raised
from ..store import Sink, Store
from ..turn import INTERRUPTS, STATUSES, Outcome, Turn, TurnSpec, ended
from .interrupts import Interrupts
from .lookups import Lookups
from .resolve import kind, nearest

Played: TypeAlias = tuple[Any, BaseException | None]
"""What a coroutine came to: its value, or what it raised."""
Run: TypeAlias = Callable[[Coroutine[Any, Any, Played]], Played]
MOST_TRACEBACK = 20_000
_OURS = str(Path(__file__).parent)


class Stage:
    """A loop and what lasts from turn to turn: one event loop, and the memory of each conversation.

    Turns are played, and the stage is closed, by one thread; the rest may be called from any.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._memory: dict[str, tuple[Store, Any]] = {}
        self._lock = threading.Lock()
        self._interrupts = Interrupts()
        self._lookups: Lookups | None = None
        self.loop = asyncio.new_event_loop()

    def play(self, spec: TurnSpec, sink: Sink) -> None:
        """Play one turn of the conversation `spec` names."""
        store, carry = self._of(spec.conversation)
        if spec.store is not None:
            store.fill(spec.store)
        store.attach(sink)
        # A loop that uses `asyncio.run` leaves its thread without an event loop.
        asyncio.set_event_loop(self.loop)
        self._lookups = Lookups(
            lambda host: sink(Noted(kind="elsewhere", detail=host)),
            lambda host: sink(Noted(kind="api", detail=f"the SDK's client looked up {host}")),
        )
        with self._lookups:
            carry = play_turn(self._function, spec, sink, store, carry, self._run, self._interrupts)
        with self._lock:
            if spec.conversation in self._memory:
                self._memory[spec.conversation] = store, carry

    def give_up(self, thread: int) -> None:
        """The turn that `thread` plays is not waited for any more: what else this process does, it may do."""
        if self._lookups:
            self._lookups.confine(thread)

    def cancel(self, conversation: str, key: str, via: str = "flag") -> None:
        """Put the cancel flag into the conversation's store, or interrupt the turn that is played."""
        if via in INTERRUPTS:
            self._interrupts.send(via)
        else:
            self._of(conversation)[0].put(key, True)

    def forget(self, conversation: str) -> None:
        """Drop the conversation's store and what its loop carries."""
        with self._lock:
            self._memory.pop(conversation, None)

    def close(self) -> None:
        """Cancel what still runs in the event loop, give it one chance to react, and close it."""
        with contextlib.suppress(Exception):
            self.loop.run_until_complete(_wind_up())
        self.loop.close()

    def _run(self, work: Coroutine[Any, Any, Played]) -> Played:
        task = self.loop.create_task(work)
        try:
            with self._interrupts.reaching(self.loop, task):
                return self.loop.run_until_complete(task)
        except KeyboardInterrupt:  # as `asyncio.run`: the task may clean up, then the interrupt goes on
            task.cancel()
            value, error = self.loop.run_until_complete(task)
            if error is None:
                return value, None
            raise

    def _of(self, conversation: str) -> tuple[Store, Any]:
        with self._lock:
            return self._memory.setdefault(conversation, (Store(), None))


async def _wind_up() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=0.2)
    await asyncio.get_running_loop().shutdown_asyncgens()


def play_turn(
    function: Callable[..., Any],
    spec: TurnSpec,
    sink: Sink,
    store: Store,
    carry: Any,
    run: Run,
    interrupts: Interrupts | None = None,
) -> Any:
    """Play one turn and record `Ended` or `Lost`. Returns what the loop wants to carry to its next turn.

    `run` drives a coroutine to its end in the event loop of this thread. Whatever leaves the loop is an
    outcome, also what is not an `Exception`: a loop that calls `sys.exit` has ended, the host has not.
    """
    interrupts = interrupts or Interrupts()
    turn = Turn(spec, sink, store, carry, interrupts.send)
    try:
        with interrupts:
            returned = _call(function, turn, run)
    except BaseException as error:  # noqa: BLE001
        store.end_turn(spec.cancel_key)
        sink(_with_changes(turn, Ended(returned="raised", raised=raised(error))))
        return None
    store.end_turn(spec.cancel_key)
    sink(_with_changes(turn, _event(returned)))
    return getattr(returned, "carry", None) if type(returned).__name__ == Outcome.__name__ else None


def _with_changes(turn: Turn, event: Ended | Lost) -> Ended | Lost:
    if isinstance(event, Ended):
        event.changed, event.appended = turn.lent.changes()
    return event


def _call(function: Callable[..., Any], turn: Turn, run: Run) -> Any:
    if is_async(function):
        return _unwrap(run(_awaited(function, turn)))
    returned = function(turn)
    return _unwrap(run(_awaited(lambda _: returned, turn))) if inspect.isawaitable(returned) else returned


def is_async(function: Callable[..., Any]) -> bool:
    """Whether `function` is a coroutine function, or an object whose `__call__` is one."""
    called = getattr(type(function), "__call__", None)  # noqa: B004 - what kind it is, not whether it is
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


async def _awaited(function: Callable[..., Any], turn: Turn) -> Played:
    """Exceptions are handed on as values: an event loop treats some of them (`SystemExit`) as its own."""
    try:
        return await function(turn), None
    except BaseException as error:  # noqa: BLE001
        return None, error


def _unwrap(result: Played) -> Any:
    if result[1] is not None:
        raise result[1]
    return result[0]


def _event(returned: Any) -> Ended | Lost:
    try:
        event = ended(returned)
    except TypeError:
        return Lost(
            reason=f"the adapter returned {kind(returned)}: a loop returns an Outcome, a string or None"
        )
    except Exception as error:  # noqa: BLE001 - circular, endless, or a model that cannot be dumped
        return Lost(reason=f"what the adapter returned cannot be recorded: {type(error).__name__}: {error}")
    if event.status is not None and event.status not in STATUSES:
        return Lost(
            reason=f"the adapter returned the status {event.status!r}{nearest(str(event.status), STATUSES)}"
            f" (one of {', '.join(STATUSES)}, or None)"
        )
    return event


def raised(error: BaseException) -> Raised:
    """The exception as an event's part, its traceback from the owner's first frame on."""
    return Raised(
        type=type(error).__name__,
        bases=[cls.__name__ for cls in type(error).__mro__ if cls is not object],
        message=_text(error),
        traceback="".join(traceback.format_exception(type(error), error, _owners(error.__traceback__)))[
            -MOST_TRACEBACK:
        ],
    )


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception whose text raises is still the one that was raised
        return "(its text cannot be made)"


def _owners(tb: TracebackType | None) -> TracebackType | None:
    while tb and Path(tb.tb_frame.f_code.co_filename).parent == Path(_OURS):
        tb = tb.tb_next
    return tb
