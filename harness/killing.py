"""Kills the loop's process where a scenario says so, and keeps what its store held at that moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .history import (
    Answered,
    AnyEvent,
    Crashed,
    Delivered,
    Published,
    RequestSeen,
    StoreDeleted,
    StoreSet,
    ToolEnded,
    ToolStarted,
    UsageRecorded,
)
from .scenario.crashes import Moment, parse_moment


class Memory:
    """The store of one conversation, as the recorded events tell it: it outlives a process."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.inherited = False
        """The process that wrote them is dead, and the next one has to be given them."""

    def take(self, event: AnyEvent) -> None:
        """Do to the copy what `event` says was done to the store."""
        if isinstance(event, StoreSet):
            self.values[event.key] = event.value
        elif isinstance(event, StoreDeleted):
            self.values.pop(event.key, None)


class Watch:
    """Sees one run of a turn go by, and tells when it has come to `after`."""

    def __init__(self, after: str, is_checkpoint: Callable[[str], bool]) -> None:
        self.after = after
        self._moment = parse_moment(after) or Moment(kind="done")
        self._is_checkpoint = is_checkpoint
        self._asked: dict[int, int] = {}
        self._replies: set[int] = set()
        self._answered = 0
        self._calls: set[int] = set()
        self._passed = False
        self._events = 0

    def reached(self, event: AnyEvent) -> bool:
        """Whether this event is the one after which the process is to die."""
        if self._passed:
            return isinstance(event, StoreSet) and self._is_checkpoint(event.key)
        if not self._is_it(event):
            return False
        self._passed = self._moment.kept
        return not self._moment.kept

    def _is_it(self, event: AnyEvent) -> bool:  # noqa: PLR0911 - a table of the kinds
        moment = self._moment
        self._events += 1
        if moment.kind == "moment":
            return self._events == moment.number
        match event:
            case RequestSeen() if event.endpoint == "messages" and not event.lane:
                self._asked[event.request] = len(self._asked) + 1
                return moment.kind == "request" and len(self._asked) == moment.number
            case Answered() if event.kind == "reply" and event.request in self._asked:
                self._replies.add(event.request)
            case Delivered() if event.request in self._replies:
                self._answered += 1
                return moment.kind == "answer" and self._answered == moment.number
            case ToolStarted() if event.name == moment.tool:
                self._calls.add(event.call)
                return not moment.ended
            case ToolEnded() if event.call in self._calls:
                return moment.ended
            case UsageRecorded():
                return moment.kind == "usage"
            case Published():
                return moment.kind == "done" and event.done
        return False


def crashed(after: str, memory: Memory) -> Crashed:
    """The event that says so."""
    return Crashed(after=after, store_keys=sorted(memory.values))
