"""HIST, fourth part: ids are unique, and a result stands behind its call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ..evidence import Exchange, Run
from .base import Finding, broken, check, held, named
from .pairing import misplaced_ids


@check("HIST-10")
def ids_are_unique_and_no_result_is_alone(run: Run) -> Iterator[Finding]:
    """One finding a turn, for what is wrong with a history stays wrong."""
    repeated = _sent_twice(one for _, one in run.rounds())
    for turn in run.turns:
        with_calls = [one for one in turn.rounds if _has_tools(one)]
        if not with_calls:
            continue
        found = next(
            ((one, wrong) for one in _differing(with_calls) if (wrong := _wrong(one, repeated))), None
        )
        if found is None:
            yield held(exchange=with_calls[-1])
        else:
            one, wrong = found
            yield broken(
                expected="Ids that are unique, and for each result its call in the message before.",
                happened=f"In {named(one).lower()}, {wrong}.",
                exchange=one,
            )


def _differing(rounds: list[Exchange]) -> list[Exchange]:
    """Those that have to be looked at: a history that only grew is as right as its last form."""
    last = rounds[-1].pieces
    grew = all(last[: len(one.pieces)] == one.pieces for one in rounds)
    return rounds if not grew or _wrong(rounds[-1], set()) else rounds[-1:]


def _wrong(one: Exchange, repeated: set[str]) -> str | None:
    return next((words for words, of in misplaced_ids(one.transcript) if of not in repeated), None)


def _has_tools(one: Exchange) -> bool:
    return any(piece.type in ("tool_use", "tool_result") for piece in one.pieces)


def _sent_twice(rounds: Iterable[Exchange]) -> set[str]:
    """Ids the provider itself gave to two calls: what a loop makes of them is its own affair."""
    given = Counter(str(call.get("id")) for one in rounds for call in one.calls)
    return {identifier for identifier, count in given.items() if count > 1}
