"""Scenarios about time, for loops with a time limit of their own, and for those that are slow to begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from .scenario.model import Fault, Reply, Scenario, Step, TurnScript
from .turn import Limits

LONGEST = 120.0
"""Seconds. A longer limit is not waited for: what it is about stays inconclusive."""
MOST_STARTUP = 0.4
"""Seconds that are granted of it: scripts about time last longer than their limits by more than that."""
_Part = TypeVar("_Part", Reply, Fault)


def stretched(scenario: Scenario, caps: Mapping[str, float]) -> Scenario:
    """The scenario with as much slower steps as the declared limit is longer than the scenario's.

    Only turns with a limit are stretched: they come to it after as many steps as ever, and no others change.
    """
    turns = [_stretched(turn, caps.get("wall_clock", 0.0)) for turn in scenario.turns]
    return scenario if turns == scenario.turns else msgspec.structs.replace(scenario, turns=turns)


def _stretched(turn: TurnScript, declared: float) -> TurnScript:
    limit = turn.limits.wall_clock
    if limit is None or not limit < declared <= LONGEST:
        return turn
    script = [_slower(step, declared / limit) for step in turn.script]
    return msgspec.structs.replace(turn, script=script)


def _slower(step: Step, times: float) -> Step:
    reply = _later(step.reply, times) if step.reply else None
    fault = _later(step.fault, times) if step.fault else None
    return msgspec.structs.replace(step, reply=reply, fault=fault)


def _later(part: _Part, times: float) -> _Part:
    return msgspec.structs.replace(part, delay=part.delay * times) if part.delay else part


def widened(limits: Limits, startup: float) -> Limits:
    """The limits, with what a slow loop takes to its first request on top: it is to get that far."""
    if limits.wall_clock is None:
        return limits
    clock = round(limits.wall_clock + min(startup, MOST_STARTUP), 3)
    return msgspec.structs.replace(limits, wall_clock=clock)
