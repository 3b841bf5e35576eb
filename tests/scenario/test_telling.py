"""What is said about events that a file writes itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Broken = Callable[..., list[str]]
REPLY = "      content: [{text: Cold and wet.}]"


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ("[]", "`events` is empty"),
        ("[{index: 1}]", "named by its `type`"),
        ("[3]", "expected a text"),
        ("[{type: message_start}]\n      tool_input_json: '{'", "`events` says what is streamed"),
    ],
)
def test_what_does_not_fit_is_said(broken: Broken, events: str, said: str) -> None:
    problems = broken((REPLY, f"{REPLY}\n      events: {events}"))
    assert any(said in problem for problem in problems)


def test_events_need_a_stream(broken: Broken) -> None:
    (problem,) = broken(
        (REPLY, f"{REPLY}\n      events: [{{type: message_start}}]"), ("script:", "streams: never\nscript:")
    )
    assert "in streams alone" in problem


def test_stubs_events_and_texts_are_right(broken: Broken) -> None:
    events = "[{type: message_start}, {type: novel, rays: [1]}, ': hm\\n\\n']"
    assert broken((REPLY, f"{REPLY}\n      events: {events}")) == []


def test_an_era_is_one_of_those_there_were(broken: Broken) -> None:
    assert broken(("script:", 'era: "2025-05"\nscript:')) == []
    (problem,) = broken(("script:", 'era: "2025-06"\nscript:'))
    assert "did you mean" in problem
