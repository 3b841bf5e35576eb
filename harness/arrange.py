"""From a list of events to a `Run`: each event put where it belongs, retries found, rounds chained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from .crash import Crash, settle
from .evidence import Run, TurnView
from .exchange import Exchange, ToolRun
from .history import (
    Answered,
    AnyEvent,
    Began,
    Broken,
    Cancelled,
    CancelPolled,
    Census,
    Crashed,
    Delivered,
    Ended,
    Finished,
    Lost,
    Noted,
    Overran,
    Published,
    Reported,
    RequestSeen,
    StoreDeleted,
    StoreSet,
    ToolEnded,
    ToolStarted,
    TurnBegan,
    UsageRecorded,
)
from .own_tools import bind
from .scenario.model import Scenario
from .turn import INTERRUPTS, Declaration
from .wire.same import Piece


class EvidenceError(ValueError):
    """The events are not those of a run: the message says what is missing."""


def arrange(events: Sequence[AnyEvent]) -> Run:
    """The events of one run, arranged. Raises `EvidenceError` where they do not begin like one."""
    if not events or not isinstance(events[0], Began):
        raise EvidenceError("the history does not start with a 'began' event")
    began = events[0]
    try:
        scenario = msgspec.convert(began.scenario, Scenario)
        declaration = msgspec.convert(began.declaration, Declaration)
    except msgspec.ValidationError as error:
        raise EvidenceError(f"the history's first event cannot be read: {error}") from error
    run = Run(began, scenario, declaration, frozenset(began.exposes) | _needs_no_hook(scenario))
    sorter = _Sorter(run)
    for event in events[1:]:
        sorter.take(event)
    for turn in run.turns:
        settle(turn)
        _group(turn)
    return run


def _needs_no_hook(scenario: Scenario) -> set[str]:
    """A turn that is cancelled from outside is, whether or not the loop asks."""
    vias = [turn.cancel.via for turn in scenario.turns if turn.cancel]
    return {"cancel"} if vias and set(vias) <= set(INTERRUPTS) else set()


def _offered(turn: TurnView) -> list[str]:
    """The names of the tools in the latest request that has some."""
    lists = (one.body.get("tools") for one in reversed(turn.exchanges))
    tools = next((found for found in lists if isinstance(found, list) and found), [])
    return [str(tool.get("name", "")) for tool in tools if isinstance(tool, dict)]


class _Sorter:
    """Puts each event where it belongs."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._exchanges: dict[int, Exchange] = {}
        self._tools: dict[int, ToolRun] = {}

    def take(self, event: AnyEvent) -> None:
        if isinstance(event, TurnBegan) and event.rerun:
            crash = self._turn(event).crash
            if crash is not None:
                crash.rerun = event
        elif isinstance(event, TurnBegan):
            self._run.turns.append(TurnView(self._run, len(self._run.turns), event))
        elif isinstance(event, Finished):
            self._run.finished = event
        elif isinstance(event, Noted):
            self._run.notes.append(event)
            if self._run.turns:
                self._turn(event).notes.append(event)
        elif isinstance(event, RequestSeen):
            self._request(event)
        elif isinstance(event, (Answered, Delivered, Broken)):
            self._answer(event)
        elif isinstance(event, (ToolStarted, ToolEnded)):
            self._tool(event)
        elif self._run.turns:
            self._hook(self._turn(event), event)

    def _turn(self, event: AnyEvent) -> TurnView:
        turns = self._run.turns
        return turns[min(event.turn, len(turns) - 1)]

    def _request(self, event: RequestSeen) -> None:
        exchange = self._exchanges[event.request] = Exchange(event)
        exchange.attempts = [exchange]
        if not self._run.turns:
            return
        turn = self._turn(event)
        conversation = event.endpoint == "messages" and not event.lane
        (turn.exchanges if conversation else turn.side).append(exchange)

    def _answer(self, event: Answered | Delivered | Broken) -> None:
        exchange = self._exchanges.get(event.request)
        if exchange is None:
            return
        if isinstance(event, Answered):
            exchange.answer = event
        elif isinstance(event, Delivered):
            exchange.delivered = event
        else:
            exchange.broken = event

    def _tool(self, event: ToolStarted | ToolEnded) -> None:
        if isinstance(event, ToolStarted):
            tool = self._tools[event.call] = ToolRun(event)
            if self._run.turns:
                turn = self._turn(event)
                turn.tools.append(tool)
                tool.offered_as = bind(event.name, _offered(turn))
        elif event.call in self._tools:
            self._tools[event.call].ended = event

    def _hook(self, turn: TurnView, event: AnyEvent) -> None:
        if isinstance(event, (Ended, Overran, Lost)):
            turn.outcome = event
            return
        if isinstance(event, Crashed):
            turn.crash = Crash(event)
            return
        places: dict[type, list[Any]] = {
            Published: turn.publishes,
            Reported: turn.reports,
            UsageRecorded: turn.usages,
            StoreSet: turn.store,
            StoreDeleted: turn.store,
            Cancelled: turn.cancels,
            CancelPolled: turn.polls,
            Census: turn.census,
        }
        place = places.get(type(event))
        if place is not None:
            place.append(cast("Any", event))


def _group(turn: TurnView) -> None:
    """Find the retries among the turn's requests, and chain its rounds."""
    earlier: Exchange | None = None
    for exchange in turn.exchanges:
        if exchange.answer and exchange.answer.kind == "side":
            continue
        if earlier and _retries(exchange, earlier):
            exchange.attempts = earlier.attempts
            exchange.attempts.append(exchange)
            turn.rounds[-1] = exchange
        else:
            turn.rounds.append(exchange)
        earlier = exchange
    for before, after in zip(turn.rounds, turn.rounds[1:], strict=False):
        before.next, after.previous = after, before


def _retries(exchange: Exchange, earlier: Exchange) -> bool:
    """Whether `exchange` is another attempt at `earlier`.

    One that is marked as a retry may be the first that got here: the attempts before it were refused.
    """
    same = exchange.seen.same_as == earlier.number or _alike(exchange.pieces, earlier.pieces)
    return same and (exchange.seen.retry > 0 or earlier.invites_retry)


def _alike(one: list[Piece], other: list[Piece]) -> bool:
    return len(one) == len(other) and all(a.key == b.key for a, b in zip(one, other, strict=True))
