"""The turn of the reference loop when something fails: the provider, a hook, the loop itself."""

from __future__ import annotations

import asyncio

import pytest

from harness.loops.reference.effects import Ask, Ran, RecordUsage, Wait
from harness.turn import Limits, Turn
from tests.loops.by_hand import Hand, failure
from tests.loops.canned import call, reply, text, tool

PROMPT = {"role": "user", "content": "Hello?"}


ADD, SUB = tool("add", result="3"), tool("sub", result="1")


def test_a_transient_failure_is_retried_with_the_same_body():
    hand = Hand([failure(retryable=True, wait=3.0), reply("end_turn", text("Hi."))]).run()
    assert hand.requests[0] == hand.requests[1]
    assert [ask.attempt for ask in hand.of(Ask)] == [0, 1]
    assert [wait.seconds for wait in hand.of(Wait)] == [3.0]
    assert hand.outcome.status == "completed"
    assert hand.of(RecordUsage)[0].iterations == 1


def test_a_permanent_failure_is_not():
    hand = Hand([failure(retryable=False)]).run()
    assert len(hand.requests) == 1
    assert hand.outcome.status == "failed"
    assert hand.problems == ["overloaded"]
    assert hand.landed()


def test_retries_are_bounded():
    hand = Hand([failure(retryable=True) for _ in range(9)]).run()
    assert len(hand.requests) == 3
    assert hand.outcome.status == "failed"


def test_no_retry_is_begun_that_cannot_be_made_in_time():
    hand = Hand([failure(retryable=True, wait=60)], limits=Limits(wall_clock=30)).run()
    assert hand.of(Wait) == []
    assert hand.outcome.status == "failed"


def test_cancelled_between_a_failure_and_its_retry_does_not_retry():
    hand = Hand([])
    hand.answers = [lambda: (hand.cancel(), failure(retryable=True))[1]]
    hand.run()
    assert len(hand.requests) == 1
    assert hand.outcome.status == "cancelled"


def test_the_usage_a_broken_stream_reported_counts():
    hand = Hand([failure(retryable=True, input_tokens=9), reply("end_turn")]).run()
    assert hand.of(RecordUsage) == [RecordUsage(1, {"input_tokens": 19, "output_tokens": 5})]


def test_a_crash_lands_like_everything_else():
    hand = Hand([lambda: 1 / 0]).run()
    assert hand.outcome.status == "failed"
    assert "ZeroDivisionError" in hand.outcome.detail
    assert hand.landed()


def test_a_reply_too_odd_to_keep_does_not_stop_the_clean_up():
    hand = Hand([reply("tool_use", {"type": "tool_use"})], tools=(ADD,)).run()
    assert hand.outcome.status == "failed"
    assert hand.history == [PROMPT]
    assert hand.landed()


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
def test_torn_down_from_outside_it_lands_and_passes_the_exception_on(error):
    hand = Hand([reply("tool_use", call("add"), call("sub"))], tools=(ADD, SUB))

    def torn(hand: Hand, name: str) -> Ran:
        raise error

    hand.on_tool = torn
    hand.run()
    assert hand.outcome.status == "cancelled"
    assert isinstance(hand.error, error)
    assert [block["is_error"] for block in hand.history[-1]["content"]] == [True, True]
    assert "interrupted" in hand.history[-1]["content"][0]["content"]
    assert hand.landed()


def test_a_hook_that_fails_hides_neither_the_outcome_nor_the_rest_of_the_clean_up(monkeypatch):
    hand = Hand([reply("end_turn", text("Hi."))])

    def broken(*args: object, **tokens: object) -> None:
        raise OSError("no database")

    monkeypatch.setattr(Turn, "record_usage", broken)
    hand.run()
    assert hand.outcome.status == "completed"
    assert "no database" in hand.problems
    assert hand.landed()
