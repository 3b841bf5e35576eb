"""A process that is kept alive, turn after turn."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from harness.history import Ended, Exited, Lost, Noted, Overran
from harness.loops.command import Command
from harness.loops.driver import DriverError
from tests.loops.commanding import commanding, played, python

WRONG = {"hello": {"declaration": {"caps": {"requests": 1}}}}


def kept(name: str) -> Command:
    return python(name, keep_alive=True)


def test_one_process_plays_all_turns_and_is_replaced_when_it_is_gone():
    prompts = ["Hello", "Hello", "die", "Hello", "hang", "Hello"]
    turns = [{"prompt": prompt, "deadline": 0.5 if prompt == "hang" else 10.0} for prompt in prompts]
    first, second, died, third, hung, fourth = played(kept("stays"), *turns)
    counts, pids = zip(*(events[0].detail.split() for events in (first, second, third, fourth)), strict=True)

    assert counts == ("1", "2", "1", "1")
    assert (pids[0] == pids[1], len(set(pids))) == (True, 3)
    assert [type(event) for event in died[1:]] == [Exited]
    assert (hung[0], type(hung[1])) == (Overran(deadline=0.5), Exited)


def test_a_second_outcome_of_a_turn_is_told_with_the_next():
    turns = [{"prompt": prompt} for prompt in ("tell twice", "Hello", "Hello")]
    first, second, third = played(kept("stays"), *turns)
    assert [type(event) for event in first] == [Ended]
    assert [type(event) for event in second] == [Noted, Ended]
    assert second[0].detail.startswith("the process had told a second outcome of a turn")
    assert [type(event) for event in third] == [Ended]


def test_what_a_process_declares_is_known_after_its_hello():
    async def declared():
        async with commanding(kept("stays")) as (driver, _):
            return driver.declaration.caps, driver.cannot_cancel("interrupt"), driver.cannot_cancel("flag")

    caps, interrupt, flag = asyncio.run(declared())
    assert (caps, flag) == ({"iterations": 9}, "")
    assert interrupt.startswith("a process that is kept alive is not interrupted")


def test_a_process_that_is_killed_can_be_replaced():
    async def play():
        async with commanding(kept("stays")) as (driver, turn):
            events = []
            playing = asyncio.ensure_future(driver.play(turn("hang"), events.append))
            await asyncio.sleep(0.1)
            driver.kill()
            await playing
            assert events == []
            await driver.play(turn(store={"a": 1}), events.append)
            return events, driver._memories["c1"].store["a"]

    events, kept_value = asyncio.run(play())
    assert (events[0].shown, kept_value) == (["Hello."], 1)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("false",), "exit 1 before it had said hello"),
        ((sys.executable, "-c", 'print(\'{"hello": {"protocol": 2}}\'); input()'), "protocol 1, not 2"),
        (
            (
                sys.executable,
                "-c",
                f"print({json.dumps(WRONG)!r}); input()",
            ),
            "the process's hello: caps.requests: unknown",
        ),
    ],
)
def test_a_process_that_cannot_be_used_is_refused_with_the_reason(words, why):
    async def start():
        async with commanding(Command(words=words, keep_alive=True)):
            raise AssertionError("it started")

    with pytest.raises(DriverError) as refused:
        asyncio.run(start())
    assert why in str(refused.value)


def test_an_outcome_that_cannot_be_meant_does_not_wait_for_the_deadline():
    code = (
        "import sys\nprint('{\"hello\": {}}', flush=True)\n"
        'for line in sys.stdin:\n    print(\'{"outcome": {"state": 1}}\', flush=True)'
    )
    [events] = played(Command(words=(sys.executable, "-c", code), keep_alive=True))
    assert isinstance(events[0], Lost)
    assert "did you mean 'status'?" in events[0].reason
