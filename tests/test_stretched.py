"""A loop with a time limit of its own meets it: the scenarios about time go as much slower."""

from __future__ import annotations

import math

import pytest

from harness.chosen import find_cases
from harness.scenario.model import Reply, Scenario, Step
from harness.stretched import LONGEST, MOST_STARTUP, stretched, widened
from harness.turn import Behaviour, Limits


def scenario(name: str) -> Scenario:
    return find_cases([name])[0].scenario


def test_a_turn_comes_to_the_declared_limit_after_as_many_steps_as_ever() -> None:
    told = scenario("cap/wall-clock-paused")
    slow = stretched(told, {"wall_clock": 60.0})
    limited, free = told.turns
    assert limited.limits.wall_clock is not None
    assert limited.script[0].reply is not None
    assert slow.turns[0].script[0].reply is not None
    steps = limited.limits.wall_clock / limited.script[0].reply.delay
    assert 60.0 / slow.turns[0].script[0].reply.delay == pytest.approx(steps)
    assert slow.turns[1] == free


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("text/one", 60.0),
        ("cap/wall-clock-paused", 0.3),
        ("cap/wall-clock-paused", LONGEST + 1),
    ],
)
def test_what_is_not_about_time_or_would_take_too_long_stays_as_it_is(name: str, limit: float) -> None:
    told = scenario(name)
    assert stretched(told, {"wall_clock": limit}) is told
    assert stretched(told, {"iterations": 3}) is told


def test_a_loop_that_is_slow_to_begin_has_that_on_top_of_its_time() -> None:
    assert widened(Limits(wall_clock=0.3, max_iterations=2), 0.2) == Limits(wall_clock=0.5, max_iterations=2)
    assert widened(Limits(wall_clock=0.3), 9.0) == Limits(wall_clock=0.3 + MOST_STARTUP)
    assert widened(Limits(max_iterations=2), 0.5) == Limits(max_iterations=2)


def test_every_script_about_time_lasts_longer_than_the_slowest_loop_is_given() -> None:
    short = {}
    for case in find_cases([]):
        tools = {tool.name: tool.answers[0] for tool in case.scenario.tools}
        for turn in case.scenario.turns:
            clock = turn.limits.wall_clock
            if clock is not None and "capped" in str(turn.expect.status):
                lasts = sum(_seconds(step, tools) for step in turn.script)
                if lasts <= clock + MOST_STARTUP:
                    short[case.scenario.id] = lasts
    # There, an iteration cap is to come first.
    assert short.keys() <= {"cap/iterations-first"}


def _seconds(step: Step, tools: dict[str, Behaviour]) -> float:
    """How long a step holds a turn up, at least."""
    if step.repeat == "forever" or step.fault is not None:
        return math.inf
    reply = step.reply or Reply()
    calls = [tools[block["name"]] for block in reply.content if block.get("name") in tools]
    if any(call.hangs for call in calls) or any(one.by in ("silence", "stall") for one in reply.breaks):
        return math.inf
    return step.repeat * (reply.delay + sum(call.delay for call in calls))
