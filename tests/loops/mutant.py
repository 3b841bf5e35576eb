"""What a mutant is: the reference loop with one thing wrong, and the clauses it has to die by.

A mutant is a subclass of the reference turn, so it exists in all four forms. `tests.loops.mutants` has each
as `name` (blocking) and `name_async`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any

import msgspec

from harness.loops.reference import DECLARATION, ReferenceTurn, async_loop_of, loop_of
from harness.loops.reference.ends import End
from harness.turn import EXPOSABLE, Outcome, Turn

MODULE = "tests.loops.mutants"
CLAIMS_ALL = msgspec.structs.replace(DECLARATION, exposes=sorted(EXPOSABLE))
"""A mutant says that it can do what the reference can, so that no clause is spared for want of a hook."""


@dataclass(frozen=True)
class Mutant:
    """One wrong loop. It is killed only if each of `clauses` is broken in some of `scenarios`."""

    name: str
    clauses: tuple[str, ...]
    scenarios: tuple[str, ...]
    doc: str
    machine: type[ReferenceTurn]
    variants: tuple[str, ...] = ("json", "sse")
    """Where it can be told from the reference."""

    @property
    def loop(self) -> Callable[[Turn], Outcome]:
        return loop_of(self.machine, CLAIMS_ALL)

    @property
    def async_loop(self) -> Callable[[Turn], Awaitable[Outcome]]:
        return async_loop_of(self.machine, CLAIMS_ALL)

    def target(self, form: str = "sync") -> str:
        """How a runner names the loop; `form` is `sync` or `async`."""
        return f"{MODULE}:{self.name}{'_async' if form == 'async' else ''}"


MUTANTS: dict[str, Mutant] = {}


def breaks(
    *clauses: str, on: tuple[str, ...], variants: tuple[str, ...] = ("json", "sse")
) -> Callable[[Any], Any]:
    """Register the class below as a mutant that breaks `clauses`, to be seen in the scenarios `on`."""

    def register(machine: type[ReferenceTurn]) -> type[ReferenceTurn]:
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", machine.__name__).lower()
        assert name not in MUTANTS, name
        MUTANTS[name] = Mutant(name, clauses, on, (machine.__doc__ or "").strip(), machine, variants)
        return machine

    return register


def at_once(end: End | None) -> Generator[Any, Any, End | None]:
    """A branch that does nothing but end (or, with None, ask again)."""
    yield from ()
    return end
