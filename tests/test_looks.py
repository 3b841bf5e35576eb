"""What sets an answer apart from a finished one, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from harness.looks import MOST_MARKS, look_of, marks_of, set_apart


def look(value: Any, status: int = 200) -> list[tuple[str, str]]:
    return look_of([("status", str(status)), *marks_of(value, hidden=frozenset(["$.reply"]))])


FINISHED = [
    look({"reply": "Hello.", "id": "a1", "end": "stop", "tokens": 5, "steps": [1], "error": None}),
    look({"reply": "Hello again.", "id": "b2", "end": "stop", "tokens": 9, "steps": [1, 2], "error": None}),
]


@pytest.mark.parametrize(
    "same",
    [
        {"reply": "Half an ans", "id": "c3", "end": "stop", "tokens": 7, "steps": [1], "error": None},
        {"reply": "", "id": "c3", "end": "stop", "tokens": 0, "steps": [1, 2, 3], "error": None},
    ],
)
def test_text_ids_and_counts_tell_nothing(same: Any) -> None:
    assert set_apart(look(same), FINISHED) == []


@pytest.mark.parametrize(
    ("change", "apart"),
    [
        ({"end": "length"}, ['$.end "length"', 'no $.end "stop"']),
        ({"error": "too long"}, ['$.error "too long"', "no $.error null"]),
        ({"cut": True}, ["$.cut true"]),
    ],
)
def test_whatever_else_differs_sets_it_apart(change: dict[str, Any], apart: list[str]) -> None:
    answer = {"reply": "Half", "id": "c3", "end": "stop", "tokens": 7, "steps": [1], "error": None}

    assert set_apart(look(answer | change), FINISHED) == apart


def test_a_status_sets_it_apart() -> None:
    answer = {"reply": "", "id": "c3", "end": "stop", "tokens": 7, "steps": [1], "error": None}

    assert set_apart(look(answer, 502), FINISHED) == ["status 502", "no status 200"]


def test_an_event_that_is_missing_sets_a_stream_apart() -> None:
    finished = [[("event", "delta"), ("event", "done")], [("event", "done")]]

    assert set_apart([("event", "delta")], finished) == ["no event done"]
    assert set_apart([("event", "done")], finished) == []


def test_pieces_of_text_in_a_second_place_tell_nothing() -> None:
    words = [("$.piece", f'"{word}"') for word in "abcdefghi"]

    assert set_apart([("$.piece", '"ten"')], [words, words]) == []


def test_a_look_has_an_end() -> None:
    assert len(look_of(marks_of(list(range(10 * MOST_MARKS))))) == MOST_MARKS
