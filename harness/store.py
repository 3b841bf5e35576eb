"""The store of a conversation, and where the events go of whoever writes into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, TypeAlias

from .history import AnyEvent, StoreDeleted, StoreSet
from .plain import plain

Sink: TypeAlias = Callable[[AnyEvent], bool | None]
"""Where the hooks' events go. It returns when the event is recorded, so order is what it seems; False says
no to what the event asks for."""


class Store(MutableMapping[str, Any]):
    """The mapping that lives as long as the conversation: checkpoints and the cancel flag."""

    def __init__(self) -> None:
        self.reached = False
        """Whether a loop has ever looked into it."""
        self._values: dict[str, Any] = {}
        self._sink: Sink | None = None

    def attach(self, sink: Sink | None) -> None:
        """Record changes to `sink` from now on."""
        self._sink = sink

    def fill(self, values: Mapping[str, Any]) -> None:
        """Hold exactly `values`: what another process left behind."""
        self._values = dict(values)

    def put(self, key: str, value: Any) -> None:
        """Write on the scenario's behalf: recorded as the harness's own doing by the caller."""
        self._values[key] = value

    def end_turn(self, flag: str) -> None:
        """Take the cancel flag away where the loop has never looked in here, and record that.

        To one that only asks `turn.cancelled()`, it may be its adapter's affair: the next turn is to begin.
        """
        if not self.reached and self._values.pop(flag, None) is not None and self._sink:
            self._sink(StoreDeleted(key=flag, by="harness"))

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._values[key] = value
        if self._sink:
            self._sink(StoreSet(key=key, value=plain(value)))

    def __delitem__(self, key: str) -> None:
        del self._values[key]
        if self._sink:
            self._sink(StoreDeleted(key=key))

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._values))

    def __len__(self) -> int:
        return len(self._values)
