"""CLEAN-7 on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.histories import Story

TURN = {"prompt": "Hi", "script": [{"reply": {"content": []}}]}
CAPPED = {**TURN, "limits": {"max_iterations": 2}}


def told(*counts: dict[str, Any], turns: list[dict[str, Any]] | None = None) -> list[str]:
    story = Story(turns=turns or [TURN] * len(counts))
    for count in counts:
        story.turn()
        story.end()
        story.counted(**count)
    return story.kinds("CLEAN-7")


def test_a_run_in_which_nothing_happened_says_nothing() -> None:
    assert Story().check("CLEAN-7") == []


def test_what_stays_the_same_is_no_leak() -> None:
    same = {"threads": ["tracing"], "sockets": 1}
    assert told(same, same, same) == ["held"]


@pytest.mark.parametrize(
    "counts",
    [
        [{"sockets": number} for number in (1, 2, 3)],
        [{"threads": [f"Thread-{one} (run)" for one in range(number)]} for number in (1, 2, 3)],
        [{"threads": [f"ThreadPoolExecutor-{one}_0" for one in range(number)]} for number in (1, 2, 3)],
        [{"tasks": ["poll"] * number} for number in (0, 1, 2)],
        [{"children": ["sleep 10"] * number} for number in (0, 1, 2)],
        [{"files": [f"tmp{one}" for one in range(number)]} for number in (0, 1, 2)],
    ],
)
def test_what_grows_each_turn_is_one(counts: list[dict[str, Any]]) -> None:
    assert told(*counts) == ["broken"]


def test_what_is_made_once_is_no_leak() -> None:
    assert told({"sockets": 0}, {"sockets": 1}, {"sockets": 1}) == ["held"]
    assert told({"sockets": 1}, {"sockets": 2}, {"sockets": 2}) == ["held"]


def test_an_executor_that_fills_up_is_no_leak() -> None:
    workers = [{"threads": [f"ThreadPoolExecutor-0_{one}" for one in range(number)]} for number in (1, 2, 3)]
    assert told(*workers) == ["held"]


def test_turns_that_differ_say_nothing() -> None:
    grows = [{"sockets": number} for number in (1, 2, 3)]
    assert told(*grows, turns=[TURN, CAPPED, TURN]) == []


def test_two_turns_tell_a_difference_but_no_growth() -> None:
    assert told({"sockets": 1}, {"sockets": 2}) == []


def test_turns_that_were_not_counted_or_never_ended_say_nothing() -> None:
    def kinds(*, counted: bool, ended: bool) -> list[str]:
        story = Story(turns=[TURN] * 3)
        for number in range(3):
            story.turn()
            if ended or number < 2:
                story.end()
            if counted or number < 2:
                story.counted(sockets=number)
        return story.kinds("CLEAN-7")

    assert kinds(counted=True, ended=True) == ["broken"]
    assert kinds(counted=False, ended=True) == []
    assert kinds(counted=True, ended=False) == []


def test_turns_that_are_in_no_script_are_not_known_to_be_equal() -> None:
    assert told(*[{"sockets": number} for number in (1, 2, 3)], turns=[TURN]) == []


def test_only_the_last_of_many_turns_are_compared() -> None:
    assert told(*[{"sockets": number} for number in (1, 2, 3, 3)]) == ["held"]
    assert told(*[{"sockets": number} for number in (1, 1, 2, 3)]) == ["broken"]


def test_what_is_counted_first_after_a_turn_counts() -> None:
    story = Story(turns=[TURN] * 3)
    for number in range(3):
        story.turn()
        story.end().counted(sockets=1).counted(sockets=number)

    assert story.kinds("CLEAN-7") == ["held"]
