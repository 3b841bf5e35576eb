"""CAP-6 on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, text, user

HI = user("Hi")


def asked(timeout: str = "", *, wall_clock: float = 1.0, name: str = "x-stainless-timeout") -> Story:
    story = Story()
    story.turn(wall_clock=wall_clock)
    story.ask([HI], headers={name: timeout} if timeout else None)
    return story


def test_a_run_in_which_nothing_happened_says_nothing() -> None:
    assert Story().check("CAP-6") == []


def test_a_call_that_is_waited_for_long_after_the_time_was_up_is_found() -> None:
    [finding] = asked().wait(3.0).reply([text("Late.")]).end().check("CAP-6")

    assert finding.kind == "broken"
    assert finding.request == 1
    assert "3.0" in finding.happened


def test_a_call_that_had_to_be_stopped_with_the_turn_is_found() -> None:
    assert asked().wait(9.0).overran().kinds("CAP-6") == ["broken"]


def test_a_timeout_that_is_short_enough_does_not_excuse_waiting_longer() -> None:
    assert asked("0.9").wait(3.0).reply([text("Late.")]).end().kinds("CAP-6") == ["broken"]


def test_a_call_that_is_given_up_when_the_time_is_up_holds_whatever_its_timeout() -> None:
    assert asked("600").wait(1.0).breaks().end("capped").kinds("CAP-6") == ["held"]


def test_an_outcome_before_the_connection_is_closed_ends_the_waiting() -> None:
    story = asked().wait(1.0).end("capped").wait(5.0).breaks()

    assert story.kinds("CAP-6") == ["held"]


@pytest.mark.parametrize("name", ["x-stainless-timeout", "x-stainless-read-timeout"])
def test_a_timeout_of_what_is_left_holds(name: str) -> None:
    assert asked("0.99", name=name).reply([text("Soon.")]).end().kinds("CAP-6") == ["held"]


def test_a_long_timeout_of_a_call_that_took_no_time_is_told_and_does_not_count() -> None:
    assert asked("600.0").reply([text("Soon.")]).end().kinds("CAP-6") == ["note"]


@pytest.mark.parametrize("timeout", ["", "NOT_GIVEN", "None"])
def test_without_a_timeout_a_quick_answer_says_nothing(timeout: str) -> None:
    assert asked(timeout).reply([text("Soon.")]).end().check("CAP-6") == []


def test_turns_without_a_budget_or_that_were_cancelled_are_not_judged() -> None:
    story = Story()
    story.turn()
    story.ask([HI], headers={"x-stainless-timeout": "600"})

    assert story.wait(9.0).reply([text("Late.")]).end().check("CAP-6") == []
    assert asked().cancel().wait(3.0).reply([text("Late.")]).end("cancelled").check("CAP-6") == []


def test_a_request_that_came_too_late_is_judged_elsewhere() -> None:
    story = Story()
    story.turn(wall_clock=1.0)
    story.wait(2.0)
    story.ask([HI])

    assert story.wait(3.0).reply([text("Late.")]).end().check("CAP-6") == []
