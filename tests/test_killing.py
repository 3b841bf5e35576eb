"""Where a process is killed, and a loop that is."""

from __future__ import annotations

from typing import Any

import pytest

from harness.case import Case
from harness.history import (
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
    TurnBegan,
    UsageRecorded,
)
from harness.killing import Memory, Watch
from harness.loops.reference import loop
from harness.runner import Runner
from harness.scenario.discover import find_scenarios

EVENTS: list[AnyEvent] = [
    StoreSet(key="cp"),
    RequestSeen(request=1, lane="side"),
    RequestSeen(request=2),
    Answered(request=1, kind="side"),
    Delivered(request=1),
    Answered(request=2, kind="reply"),
    Delivered(request=2),
    StoreSet(key="other"),
    StoreSet(key="cp"),
    ToolStarted(call=1, name="look"),
    ToolStarted(call=2, name="other"),
    ToolEnded(call=2),
    ToolEnded(call=1),
    StoreSet(key="cp"),
    UsageRecorded(),
    Published(),
    Published(done=True),
]


@pytest.mark.parametrize(
    ("after", "place"),
    [
        ("request 1", 2),
        ("answer 1", 6),
        ("answer 1 kept", 8),
        ("tool look", 9),
        ("tool look ended", 12),
        ("tool look kept", 13),
        ("usage", 14),
        ("done", 16),
        ("moment 4", 3),
        ("request 2", None),
        ("answer 2 kept", None),
        ("tool nothing", None),
    ],
)
def test_a_point_is_reached_once(after: str, place: int | None) -> None:
    watch = Watch(after, lambda key: key == "cp")
    reached = next((index for index, event in enumerate(EVENTS) if watch.reached(event)), None)
    assert reached == place


def test_the_store_outlives_the_process() -> None:
    memory = Memory()
    for event in (StoreSet(key="a", value={"x": 1}), StoreSet(key="b"), StoreDeleted(key="b")):
        memory.take(event)
    assert memory.values == {"a": {"x": 1}}


def _case(name: str) -> Case:
    scenario = next(one for one in find_scenarios() if one.id == name)
    return Case(scenario, scenario.variants[0])


@pytest.mark.timeout(60)
def test_a_killed_loop_goes_on_in_a_new_process_with_its_store() -> None:
    with Runner("harness.loops.reference:loop") as runner:
        result = runner.run(_case("resume/tool-turn-after-tool-place-order-kept"))
    kinds = [type(event) for event in result.events]
    died = kinds.index(Crashed)
    again = result.events[kinds.index(TurnBegan, died)]
    assert isinstance(again, TurnBegan)
    assert again.rerun
    assert [key.split(":")[1] for key in again.store_keys] == ["checkpoint"]
    assert sum(kind is RequestSeen for kind in kinds) == 2
    assert result.grade == "pass"


def test_a_loop_in_this_process_is_not_killed() -> None:
    with Runner(loop) as runner:
        result = runner.run(_case("resume/refused-after-answer-1-kept"))
    assert result.grade == "unsupported"
    assert "cannot be killed" in result.reason
    assert {check.grade for check in result.checks} == {"unsupported"}


def test_a_loop_without_a_checkpoint_is_not_killed() -> None:
    def forgetful(turn: Any) -> Any:
        from harness.loops.reference import ReferenceTurn
        from harness.loops.reference.sync_driver import drive

        turn.checkpoint_key = "of no turn"
        return drive(ReferenceTurn(turn))

    with Runner(forgetful) as runner:
        result = runner.run(_case("resume/refused-after-answer-1-kept"))
    assert result.grade == "unsupported"
    assert "does not expose checkpoint" in result.reason


@pytest.mark.timeout(60)
def test_a_new_process_is_warm_before_the_next_case() -> None:
    with Runner("harness.loops.reference:loop") as runner:
        finished, asked = runner.run_all([_case("resume/refused-after-answer-1-kept"), _case("text/one")])
    assert (finished.grade, asked.grade) == ("pass", "pass")
    began = next(event.at for event in asked.events if isinstance(event, TurnBegan))
    first = next(event.at for event in asked.events if isinstance(event, RequestSeen))
    assert first - began < 0.5
