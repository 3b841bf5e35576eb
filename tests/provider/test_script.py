from __future__ import annotations

from itertools import product

from harness.provider.script import EFFECTS, Ask, Play, Script, State
from harness.scenario.model import Fault, Reply, Step


def say(text: str, repeat: int | str = 1) -> Step:
    return Step(reply=Reply(content=[{"type": "text", "text": text}]), repeat=repeat)


A, B = say("a"), say("b")
BUSY = Step(fault=Fault(status=529))


def deliver(script: Script, body: bytes = b"1", retry: bool = False) -> Play:
    play = script.ask(body, retry=retry)
    assert play is not None
    script.delivered(play)
    return play


def test_the_table_has_an_answer_for_every_state_and_request() -> None:
    assert set(EFFECTS) == set(product(State, Ask))


def test_steps_are_played_in_order_and_then_the_script_is_over() -> None:
    script = Script([A, B])
    assert [deliver(script, body).index for body in (b"1", b"2")] == [0, 1]
    assert script.ask(b"3") is None


def test_a_reply_is_used_up_only_when_it_was_written() -> None:
    script = Script([A, B])
    first = script.ask(b"1")
    again = script.ask(b"1")
    assert first == again
    assert first is not None
    script.delivered(first)
    assert deliver(script, b"2").index == 1


def test_a_reply_that_broke_off_is_given_again() -> None:
    script = Script([A, B])
    first = script.ask(b"1")
    assert first is not None
    script.cut(first)
    assert deliver(script).index == 0
    assert deliver(script, b"2").index == 1


def test_a_fault_is_used_up_by_the_attempt() -> None:
    script = Script([BUSY, A])
    fault = script.ask(b"1")
    assert fault is not None
    assert fault.step is BUSY
    assert deliver(script, retry=True).step is A


def test_two_requests_with_one_step_use_it_up_once() -> None:
    script = Script([A, B])
    first, second = script.ask(b"1"), script.ask(b"1")
    assert first is not None
    assert second is not None
    script.delivered(first)
    script.delivered(second)
    assert deliver(script, b"2").index == 1


def test_a_client_that_tries_again_did_not_get_the_reply() -> None:
    script = Script([A, B])
    deliver(script)
    assert deliver(script, retry=True).index == 0
    assert deliver(script, b"2").index == 1


def test_a_client_that_asks_the_same_again_goes_on() -> None:
    script = Script([A, B])
    deliver(script)
    assert deliver(script).index == 1


def test_the_last_reply_can_be_fetched_again_after_the_end() -> None:
    script = Script([A])
    deliver(script)
    assert deliver(script, retry=True).index == 0
    assert script.ask(b"2") is None


def test_a_repeated_step_counts_its_rounds() -> None:
    script = Script([say("a", 3), B])
    plays = [deliver(script, bytes([n])) for n in range(4)]
    assert [(play.index, play.round) for play in plays] == [(0, 0), (0, 1), (0, 2), (1, 0)]


def test_an_endless_step_never_ends() -> None:
    script = Script([say("a", "forever"), B])
    assert {deliver(script, bytes([n])).index for n in range(100)} == {0}


def test_a_repeated_fault_counts_attempts() -> None:
    script = Script([Step(fault=Fault(status=529), repeat=2), A])
    faults = [script.ask(b"1", retry=n > 0) for n in range(2)]
    assert all(play is not None and play.step.fault for play in faults)
    assert deliver(script, retry=True).step is A


def test_a_script_may_grow_while_it_is_played() -> None:
    steps = [A]
    script = Script(steps)
    deliver(script)
    assert script.ask(b"2") is None
    steps.append(B)
    assert deliver(script, b"3").index == 1


def test_who_begins_again_and_asks_the_same_gets_the_same() -> None:
    first, second = Step(reply=Reply()), Step(reply=Reply(stop_reason="tool_use"))
    script = Script([first, second], remembers=True)
    for body in (b"one", b"two"):
        play = script.ask(body)
        assert play is not None
        script.delivered(play)
    script.begin_again()
    again = [script.ask(b"one as it was said before", said=lambda: b"one"), script.ask(b"three")]
    assert [play.step if play else None for play in again] == [first, first]


def test_who_does_not_begin_again_goes_on() -> None:
    first, second = Step(reply=Reply()), Step(reply=Reply(stop_reason="tool_use"))
    script = Script([first, second], remembers=True)
    play = script.ask(b"one")
    assert play is not None
    script.delivered(play)
    again = script.ask(b"one")
    assert again is not None
    assert again.step is second
