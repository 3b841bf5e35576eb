from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time

import pytest

from harness.history import CancelPolled, Ended, Lost, Overran, Published, Reported, StoreDeleted
from harness.loops.driver import DriverError
from harness.loops.inprocess import InProcessDriver
from harness.turn import Declaration
from tests.loops.bad import loops
from tests.loops.bad.playing import LOOPS, played, spec


@contextlib.asynccontextmanager
async def driving(function, **options):
    driver = InProcessDriver(function, **options)
    await driver.start()
    try:
        yield driver
    finally:
        await driver.close()


def play(function, *specs, **options):
    async def turns():
        async with driving(function, **options) as driver:
            return await played(driver, *specs)

    return asyncio.run(turns())


def test_a_turn_is_played_and_its_hooks_are_recorded_in_order():
    ((published, ended),) = play(loops.good, spec())
    assert isinstance(published, Published)
    assert ended.shown == ["Hello at http://127.0.0.1:9/w0 with sk-ant-test"]


def test_the_environment_is_put_back_after_the_turn(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://example.com")
    monkeypatch.setenv("https_proxy", "http://proxy.example")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    before = dict(os.environ)
    play(loops.good, spec())
    assert dict(os.environ) == before


def test_the_loop_sees_the_objects_of_this_process():
    seen = []
    play(seen.append, spec("One"), spec("Two"))
    assert [turn.prompt for turn in seen] == ["One", "Two"]


def test_half_an_emoji_can_be_returned_and_published():
    ((published, ended),) = play(loops.returns_half_an_emoji, spec())
    assert published.state == {"messages": ["\ufffd"]}
    assert ended.shown == ["cut: \ufffd"]


def test_store_and_carry_last_for_the_conversation_and_no_longer():
    turns = play(loops.remembers, spec(), spec(), spec(conversation="c2"))
    assert [turn[-1].detail for turn in turns] == ["0 None", "1 {'turns': 1}", "0 None"]


def test_one_event_loop_lives_as_long_as_the_driver():
    loops.kept.clear()
    turns = play(loops.same_event_loop, spec(), spec(conversation="c2"))
    loops.kept.clear()
    assert [turn[-1].shown for turn in turns] == [["1"]] * 2


def test_a_sync_loop_may_drive_an_event_loop_itself():
    turns = play(loops.runs_its_own_event_loop, spec(), spec())
    assert [turn[-1].shown for turn in turns] == [["inner"]] * 2


def test_a_function_that_gives_an_awaitable_is_awaited():
    def gives(turn):
        return loops.raises_async(turn)

    assert play(gives, spec())[0][-1].raised.type == "LookupError"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (loops.exits, "SystemExit"),
        (loops.exits_async, "SystemExit"),
        (loops.interrupts, "KeyboardInterrupt"),
        (loops.cancels_itself, "CancelledError"),
    ],
)
def test_what_is_no_exception_ends_the_turn_but_not_the_thread(function, name):
    turns = play(function, spec(), spec(conversation="c2"))
    assert [turn[-1].raised.type for turn in turns] == [name] * 2


def test_a_result_that_cannot_be_one_is_the_adapters_fault():
    lost = play(loops.returns_a_mapping, spec())[0][-1]
    assert lost == Lost(reason="the adapter returned a dict: a loop returns an Outcome, a string or None")


def test_the_cancel_flag_is_in_the_store_before_the_turn_and_while_it_runs():
    async def turns():
        async with driving(loops.waits_for_cancel) as driver:
            await driver.cancel(spec())
            (early,) = await played(driver, spec())
            turn = asyncio.ensure_future(played(driver, spec(conversation="c2")))
            await asyncio.sleep(0.05)
            await driver.cancel(spec(conversation="c2"))
            return early, (await turn)[0]

    early, late = asyncio.run(turns())
    assert [event.answer for event in early if isinstance(event, CancelPolled)] == [True]
    assert [event.answer for event in late if isinstance(event, CancelPolled)] == [False, True]


def test_the_flag_is_taken_from_a_loop_that_never_looks_into_the_store():
    seen = []

    def asks(turn):
        seen.append(turn.cancelled())
        return "Stopped."

    def looks(turn):
        return [turn.cancel_key in turn.store, "Stopped."][1]

    async def scene():
        gone = []
        for function in (asks, looks):
            async with driving(function) as driver:
                await driver.cancel(spec())
                (first,) = await played(driver, spec())
                gone.append([one.by for one in first if isinstance(one, StoreDeleted)])
                await played(driver, spec())
        return gone

    assert asyncio.run(scene()) == [["harness"], []]
    assert seen == [True, False]


def test_a_turn_that_overruns_is_left_to_itself_and_no_other_is_played():
    go_on = threading.Event()

    def waits(turn):
        go_on.wait(30)
        turn.report("too late")
        return "too late"

    async def turns():
        async with driving(waits) as driver:
            both = await played(driver, spec(deadline=0.1), spec(conversation="c2"))
            go_on.set()
            await asyncio.sleep(0.1)
            return both

    first, second = asyncio.run(turns())
    [overran] = first
    assert isinstance(overran, Overran)
    assert overran.deadline == 0.1
    assert overran.stood.endswith("in waits: go_on.wait(30)")
    assert isinstance(second[0], Lost)
    assert second[0].reason.startswith("not run: a turn had not returned after 0.1 s and still runs")


def test_a_task_that_overruns_is_cancelled_and_the_next_turn_is_played():
    async def waits_at_first(turn):
        if turn.conversation == "c1":
            try:
                await asyncio.Event().wait()
            finally:
                turn.report("too late")
        return "in time"

    first, second = play(waits_at_first, spec(deadline=0.1), spec(conversation="c2"))

    assert [type(event) for event in first] == [Overran]
    assert second[-1].shown == ["in time"]


def test_a_task_that_goes_on_when_it_is_cancelled_is_left_to_itself():
    over = threading.Event()

    async def goes_on(turn):
        while not over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    first, second = play(goes_on, spec(deadline=0.1), spec(conversation="c2"))
    over.set()

    assert [type(event) for event in first] == [Overran]
    assert second[0].reason.startswith("not run: a turn had not returned after 0.1 s and still runs")


def test_a_driver_whose_turn_overran_closes_without_waiting_for_it():
    go_on = threading.Event()
    began = time.monotonic()
    play(lambda turn: go_on.wait(30), spec(deadline=0.1))
    took = time.monotonic() - began
    go_on.set()
    assert took < 10


def test_what_a_turns_thread_sends_later_is_not_taken_for_the_next_turns():
    async def turns():
        async with driving(loops.publishes_late) as driver:
            first, second = [], []
            await driver.play(spec("one"), first.append)
            await driver.play(spec("two"), second.append)
            await asyncio.sleep(0.2)
            return first, second

    first, second = asyncio.run(turns())
    assert [type(event) for event in first] == [Ended]
    assert [event.problem for event in second if isinstance(event, Reported)] == ["late from two"]


def test_a_forgotten_conversation_starts_anew_and_records_nothing_more():
    async def turns():
        async with driving(loops.publishes_late) as driver:
            (events,) = await played(driver, spec("one"))
            await driver.forget("c1")
            await asyncio.sleep(0.2)
            return events

    assert [type(event) for event in asyncio.run(turns())] == [Ended]


def test_the_census_counts_tasks_of_the_loop():
    async def turns():
        async with driving(loops.leaves_a_task) as driver:
            await played(driver, spec())
            return await driver.census()

    assert asyncio.run(turns()).tasks == ["leaves_a_task.<locals>.background"]


def test_closing_ends_the_thread_and_the_tasks_in_it():
    cleaned = []

    async def leaves_a_task(turn):
        async def background():
            try:
                await asyncio.sleep(10_000)
            finally:
                cleaned.append("up")

        loops.kept.append(asyncio.ensure_future(background()))
        await asyncio.sleep(0)

    play(leaves_a_task, spec())
    assert cleaned == ["up"]
    assert not [t for t in threading.enumerate() if t.name == "loop-harness in-process"]


def test_a_loop_may_be_named_and_still_run_here():
    driver = InProcessDriver.load(f"{LOOPS}:good")
    assert driver.name == f"{LOOPS}:good"
    with pytest.raises(DriverError, match="did you mean 'good'"):
        InProcessDriver.load(f"{LOOPS}:goood")


def test_a_driver_that_is_not_started_plays_nothing():
    driver = InProcessDriver(loops.good)
    assert asyncio.run(played(driver, spec())) == [[Lost(reason="not run: the driver is not started")]]


def test_a_driver_is_named_after_its_callable():
    assert InProcessDriver(loops.good).name == f"{LOOPS}:good"
    assert InProcessDriver(loops.Agent()).name == f"{LOOPS}:Agent"
    assert InProcessDriver(loops.good, "mine").name == "mine"


def test_the_declaration_comes_from_the_callable_and_the_options(tmp_path):
    def declares(turn):
        return None

    declares.caps = {"iterations": 4}

    async def declared():
        options = Declaration(tools="own")
        async with driving(declares, declaration=options, folder=tmp_path) as driver:
            return driver.declaration

    assert asyncio.run(declared()) == Declaration(caps={"iterations": 4}, tools="own")
    declares.caps = {"iterations": 0}
    with pytest.raises(DriverError, match=r"caps\.iterations: a number above 0, not 0"):
        asyncio.run(declared())
