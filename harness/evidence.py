"""A history arranged the way a check asks about it: turns, requests with their answers, tools, hooks.

Nothing is judged here, and nothing is read but the events. The words:

- an *exchange* is one request with its answer;
- a *round* is a conversation request with all its retries, represented by its last attempt. Iterations are
  rounds; side calls are none. "The next request" is the next round.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import clock, display, looks
from .exchange import Exchange, ToolRun
from .history import (
    Began,
    Cancelled,
    CancelPolled,
    Census,
    Ended,
    Finished,
    Lost,
    Noted,
    Overran,
    Published,
    Reported,
    StoreDeleted,
    StoreSet,
    TurnBegan,
    UsageRecorded,
)
from .scenario.model import Scenario, TurnScript
from .turn import HANGUP, INTERRUPTS, Declaration

if TYPE_CHECKING:
    from .crash import Crash

__all__ = ["CUT", "FINAL", "GOING_ON", "KNOWN", "SLIPS", "Caps", "Exchange", "Run", "ToolRun", "TurnView"]

FINAL = ("end_turn", "stop_sequence")
"""Stop reasons that end a turn well."""
CUT = ("max_tokens", "model_context_window_exceeded")
"""Stop reasons of a reply that was cut."""
GOING_ON = ("tool_use", "pause_turn", "compaction")
"""Stop reasons after which the loop has to ask again."""
KNOWN = (*FINAL, *CUT, *GOING_ON, "refusal")
"""Every stop reason the API documents."""
SLIPS = frozenset(("AssertionError", "AttributeError", "LookupError", "NameError", "TypeError"))
"""Exceptions nobody raises to say how a turn ended, by the name of their base."""


@dataclass(frozen=True)
class Caps:
    """Limits of a turn, in requests, seconds, and resumes in a row. None: none is known."""

    iterations: float | None = None
    wall_clock: float | None = None
    pauses: float | None = None


@dataclass(eq=False)
class TurnView:
    """One turn: what the loop was given, what it did, how it ended."""

    run: Run
    index: int
    began: TurnBegan
    exchanges: list[Exchange] = field(default_factory=list)
    """Conversation requests in the order of arrival, retries included."""
    rounds: list[Exchange] = field(default_factory=list)
    """Conversation requests without retries: the last attempt at each."""
    side: list[Exchange] = field(default_factory=list)
    """Requests that are not part of the conversation."""
    tools: list[ToolRun] = field(default_factory=list)
    publishes: list[Published] = field(default_factory=list)
    reports: list[Reported] = field(default_factory=list)
    usages: list[UsageRecorded] = field(default_factory=list)
    store: list[StoreSet | StoreDeleted] = field(default_factory=list)
    cancels: list[Cancelled] = field(default_factory=list)
    polls: list[CancelPolled] = field(default_factory=list)
    notes: list[Noted] = field(default_factory=list)
    census: list[Census] = field(default_factory=list)
    outcome: Ended | Overran | Lost | None = None
    crash: Crash | None = None
    """The scenario killed the loop's process in this turn. What that lost is no part of the turn."""

    @property
    def number(self) -> int:
        """The turn's number for people, from 1."""
        return self.index + 1

    @property
    def ended(self) -> Ended | None:
        """The outcome, where the loop returned or raised."""
        return self.outcome if isinstance(self.outcome, Ended) else None

    @property
    def prompt(self) -> str:
        """The user's message."""
        return self.began.prompt

    @property
    def script(self) -> TurnScript | None:
        """The turn in the scenario."""
        turns = self.run.scenario.turns
        return turns[self.index] if self.index < len(turns) else None

    @property
    def last(self) -> Exchange | None:
        """The last round."""
        return self.rounds[-1] if self.rounds else None

    @property
    def last_reply(self) -> Exchange | None:
        """The last round that got a whole reply."""
        return next((one for one in reversed(self.rounds) if one.stop_reason is not None), None)

    @property
    def ended_by_reply(self) -> bool:
        """Whether its last reply was an end of the turn, and no failure was made of it."""
        last = self.last_reply
        if last is None or last is not self.last or last.stop_reason in GOING_ON:
            return False
        return self.status != "failed" or last.stop_reason not in FINAL

    @property
    def following(self) -> TurnView | None:
        """The turn after this one."""
        turns = self.run.turns
        return turns[self.index + 1] if self.index + 1 < len(turns) else None

    @property
    def cancelled_at(self) -> float | None:
        """Seconds at which the turn was cancelled."""
        return self.cancels[0].at if self.cancels else None

    @property
    def failed_hooks(self) -> frozenset[str]:
        """Hooks that the scenario made fail."""
        return frozenset(note.detail for note in self.notes if note.kind == "hook")

    @property
    def ended_by_hook(self) -> bool:
        """Whether it failed with a hook that was made to fail, which CLEAN-6 tells once for all."""
        raised = self.ended is not None and self.ended.raised is not None
        return self.failed_by_hooks_alone and (raised or self.status == "failed")

    @property
    def failed_by_hooks_alone(self) -> bool:
        """Whether a hook was made to fail, and the provider was not."""
        provider = any(one.kind in ("fault", "rejected", "over") or one.broken for one in self.exchanges)
        return bool(self.failed_hooks) and not provider

    @property
    def interrupted(self) -> bool:
        """Whether the turn was cancelled from outside, by an exception in place of a flag."""
        return bool(self.cancels) and self.cancels[0].via in INTERRUPTS

    @property
    def flagged(self) -> bool:
        """Whether the turn was cancelled by a flag in the store."""
        return bool(self.cancels) and self.cancels[0].via not in (*INTERRUPTS, HANGUP)

    @property
    def notice(self) -> float:
        """Seconds it takes a loop to know of its cancellation: that a client has left comes as news."""
        return self.run.slack if self.cancels and self.cancels[0].via == HANGUP else 0.0

    @property
    def torn(self) -> bool:
        """Whether it was left at once, by a loop that is not known to clean up when it is interrupted."""
        left = self.ended is not None and self.ended.raised is not None
        return self.interrupted and left and not self.run.exposed(self.cancels[0].via)

    @property
    def ended_at(self) -> float | None:
        """Seconds at which the loop returned, raised or was stopped."""
        return self.outcome.at if self.outcome else None

    @cached_property
    def caps(self) -> Caps:
        """The limits that count: declared ones, else the scenario's where the loop takes them."""
        given, declared = self.began.limits, self.run.declaration.caps
        names = {"iterations": "max_iterations", "wall_clock": "wall_clock", "pauses": "pauses"}
        taken = {name: given.get(key) for name, key in names.items() if name in self.run.exposes}
        return Caps(**{name: declared.get(name, taken.get(name)) for name in names})

    @property
    def status(self) -> str | None:
        """The outcome's status: as told, or as an exception stands for it; None where it is not told."""
        ended = self.ended
        if ended is None or ended.raised is None:
            return ended.status if ended else None
        if self.declared_status:
            return self.declared_status
        names = {ended.raised.type, *ended.raised.bases}
        # What Python itself raises where a task or a program is stopped from outside.
        stopped = bool(self.cancels) and not names.isdisjoint(("CancelledError", "KeyboardInterrupt"))
        return "cancelled" if stopped else "failed"

    @property
    def ending(self) -> str:
        """What the turn ended as, in words, where it was not marked as anything but finished."""
        client = self.ended is not None and self.ended.look is not None
        return self.status or ("an answer like any finished one" if client else "an ordinary answer")

    @property
    def declared_status(self) -> str | None:
        """What the exception that left the loop stands for, as declared."""
        raised = self.ended.raised if self.ended else None
        if raised is None:
            return None
        known = self.run.declaration.raises
        return next((known[name] for name in (raised.type, *raised.bases) if name in known), None)

    @property
    def slipped(self) -> bool:
        """Whether the loop raised what Python raises for a slip in the program."""
        raised = self.ended.raised if self.ended else None
        return raised is not None and not SLIPS.isdisjoint((raised.type, *raised.bases))

    @cached_property
    def shown(self) -> list[display.Shown] | None:
        """What this turn showed, oldest first; None where the loop shows nothing to us."""
        told = self.ended.shown if self.ended else None
        if told is None and self.publishes:
            told = display.messages_of(self.publishes[-1].state)
        if told is None:
            exposed = not self.run.exposes.isdisjoint(("shown", "publish"))
            return [] if exposed and self.ended else None
        # A string is what this turn said, also where an earlier one said the same.
        alone = self.ended is not None and self.ended.returned == "text"
        turns = [] if alone else self.run.turns[: self.index]
        earlier = [one for turn in turns for one in turn.shown or []]
        return display.of_this_turn(told, earlier)

    @cached_property
    def error_mark(self) -> bool | None:
        """Whether the turn is marked as anything but a finished answer; None where that cannot be told."""
        if self.ended is None:
            return None
        if self.ended.raised is not None or (self.status or "completed") != "completed":
            return True
        if self.shown_mark is None:
            return None if self.status is None else False
        return self.shown_mark

    @cached_property
    def shown_mark(self) -> bool | None:
        """Whether what the user sees is marked; None where the loop shows us nothing."""
        if self.publishes and self.publishes[-1].state.get("has_error") is True:
            return True
        if self.set_apart:
            return True
        if self.shown is None:
            return None
        known = [*self.known_texts(), *self.run.began.phrases]
        return any(one.is_error for one in self.shown) or display.own_words(self.shown, known)

    @cached_property
    def set_apart(self) -> list[str]:
        """What sets the answer that a client got apart from a finished one, beside its text."""
        look = self.ended.look if self.ended else None
        samples = self.run.began.finished
        return looks.set_apart(look, samples) if look is not None and samples else []

    @property
    def left_history(self) -> Any:
        """The conversation the turn left behind: the outcome's, else the last published; None for none."""
        if self.ended and self.ended.history is not None:
            return self.ended.history
        return next((one.history for one in reversed(self.publishes) if one.history is not None), None)

    def known_texts(self) -> list[str]:
        """Texts that are not the loop's own: the model's, the tools', the user's."""
        known = [self.prompt]
        for exchange in self.exchanges:
            known += display.all_texts(exchange.content)
        for tool in self.tools:
            if tool.ended:
                known += display.all_texts(tool.ended.result)
        return known

    def called(self, exchange: Exchange) -> list[ToolRun]:
        """The tool runs that started between this round's answer and the next round."""
        begin = exchange.answer.at if exchange.answer else exchange.seen.at
        end = exchange.next.first_at if exchange.next else float("inf")
        first = bisect.bisect_left(self.tools, begin, key=_started_at)
        return self.tools[first : bisect.bisect_left(self.tools, end, key=_started_at)]


def _started_at(tool: ToolRun) -> float:
    return tool.started.at


@dataclass(eq=False)
class Run:
    """One run of a scenario: the facts at its head, and its turns."""

    began: Began
    scenario: Scenario
    declaration: Declaration
    exposes: frozenset[str]
    turns: list[TurnView] = field(default_factory=list)
    finished: Finished | None = None
    notes: list[Noted] = field(default_factory=list)

    @property
    def variant(self) -> str:
        """`json` or `sse`."""
        return self.began.variant

    @property
    def slack(self) -> float:
        """Seconds a timed clause allows in this run."""
        return clock.SLACK + (self.finished.lateness if self.finished else 0.0)

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.finished is not None

    @property
    def recorded(self) -> bool:
        """Whether this is traffic somebody recorded: a turn may go on where the recording ends."""
        return bool(self.began.recording)

    def policy(self, name: str) -> str | None:
        """The declared choice, None where none is declared."""
        return self.declaration.policies.get(name)

    def exposed(self, *names: str) -> bool:
        """Whether the loop exposes one of `names`."""
        return not self.exposes.isdisjoint(names)

    def rounds(self) -> Iterator[tuple[TurnView, Exchange]]:
        """Every round of every turn, with its turn."""
        for turn in self.turns:
            for exchange in turn.rounds:
                yield turn, exchange

    def stopped(self, *reasons: str) -> Iterator[tuple[TurnView, Exchange]]:
        """The rounds whose whole reply stopped for one of `reasons`."""
        for turn, exchange in self.rounds():
            if exchange.stop_reason in reasons:
                yield turn, exchange
