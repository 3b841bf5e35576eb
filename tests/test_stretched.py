"""A loop with a time limit of its own meets it: the scenarios about time go as much slower."""

from __future__ import annotations

import pytest

from harness.chosen import find_cases
from harness.scenario.model import Scenario
from harness.stretched import LONGEST, stretched


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
