"""What a client was told, where all it got is a status, events and fields: on histories written by hand."""

from __future__ import annotations

import pytest

from harness.history import Began
from tests.checks.histories import Story, text, user

FINISHED = [
    [("status", "200"), ("event", "delta"), ("event", "done"), ("$.tokens", "5")],
    [("status", "200"), ("event", "delta"), ("event", "done"), ("$.tokens", "9")],
    [("status", "200"), ("event", "done"), ("$.tokens", "0")],
]
ALIKE = [("status", "200"), ("event", "delta"), ("event", "done"), ("$.tokens", "7")]
APART = [("status", "200"), ("event", "delta"), ("event", "unfinished"), ("$.tokens", "7")]
HALF = "Half an answ"


def story(stop: str, *phrases: str) -> Story:
    made = Story(exposes=("shown",))
    began = made.events[0]
    assert isinstance(began, Began)
    began.finished, began.phrases = FINISHED, list(phrases)
    made.turn()
    made.ask([user("Hi")])
    return made.reply([text(HALF)], stop)


@pytest.mark.parametrize(
    ("clause", "stop"),
    [
        ("TRUNC-1", "max_tokens"),
        ("REFUSE-2", "refusal"),
        ("WINDOW-1", "model_context_window_exceeded"),
        ("UNKNOWN-1", "brand_new_reason"),
    ],
)
def test_what_looks_like_a_finished_answer_is_one_to_the_user(clause: str, stop: str) -> None:
    alike = story(stop).end(None, returned="text", shown=[HALF], look=ALIKE)
    apart = story(stop).end(None, returned="text", shown=[HALF], look=[*APART, ("$.reason", f'"{stop}"')])

    [finding] = alike.check(clause)
    assert finding.kind == "broken"
    assert apart.kinds(clause) == ["held"]


def test_words_of_its_own_are_none_where_finished_answers_have_them_too() -> None:
    signed = f"{HALF}\n-- your assistant"
    told = {"returned": "text", "shown": [signed], "look": ALIKE}

    assert story("max_tokens").end(None, **told).kinds("TRUNC-1") == ["held"]
    assert story("max_tokens", "-- your assistant").end(None, **told).kinds("TRUNC-1") == ["broken"]


def test_without_samples_nothing_is_said_by_a_look() -> None:
    made = story("max_tokens")
    began = made.events[0]
    assert isinstance(began, Began)
    began.finished = []

    assert made.end(None, returned="text", shown=[HALF], look=APART).kinds("TRUNC-1") == ["broken"]
