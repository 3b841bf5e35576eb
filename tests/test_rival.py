"""A second worker beside the first, and who has the turn."""

from __future__ import annotations

import pytest

from harness.chosen import find_cases
from harness.history import Claimed, Noted
from harness.loops.reference import loop
from harness.rival import Claims
from harness.runner import Runner


def test_a_turn_is_taken_by_one_worker_at_a_time() -> None:
    claims = Claims()

    assert claims.ask("first")
    assert claims.ask("first")
    assert not claims.ask("second")
    claims.free("second")
    assert not claims.ask("second")
    claims.free("first")
    assert claims.ask("second")


def test_a_loop_in_this_process_has_no_second_worker() -> None:
    with Runner(loop) as runner:
        [result, _] = runner.run_all(find_cases(["resume/second-worker"]))

    assert result.grade == "unsupported"
    assert "has no second worker" in result.reason


@pytest.mark.slow
def test_the_second_worker_is_told_no_while_the_first_waits() -> None:
    with Runner("harness.loops.reference:loop") as runner:
        [result] = runner.run_all(find_cases(["resume/second-worker[json]"]))
    claims = [event.granted for event in result.events if isinstance(event, Claimed)]
    noted = [event.detail for event in result.events if isinstance(event, Noted) and event.kind == "rival"]

    assert result.grade == "pass"
    assert claims == [True]
    assert noted == ["began", "was told no", "ended", "stopped"]
