from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from harness.history import CancelPolled, Ended, Lost, Overran, Published, Reported, StoreSet
from harness.loops.driver import DriverError
from harness.loops.host import HostDriver
from harness.turn import Declaration
from tests.loops.bad.playing import LOOPS, host, hosting, played, spec


def one(target, **options):
    """The last event of a single turn."""
    return host(target, spec(**options))[0][-1]


def test_a_turn_is_played_and_its_hooks_are_recorded_in_order():
    ((published, ended),) = host("good", spec())
    assert isinstance(published, Published)
    assert published.done
    assert published.state == {"messages": [{"role": "assistant", "content": "Hello"}]}
    assert isinstance(ended, Ended)
    assert ended.returned == "text"


def test_the_environment_of_the_turn_leads_to_the_provider():
    first, second = host("good", spec(), spec(conversation="c2", base_url="http://x", api_key="sk-ant-2"))
    assert first[-1].shown == ["Hello at http://127.0.0.1:9/w0 with sk-ant-test"]
    assert second[-1].shown == ["Hello at http://x with sk-ant-2"]


def test_proxies_and_an_owners_credentials_are_kept_from_the_loop(monkeypatch):
    for name in ("HTTPS_PROXY", "http_proxy", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "http://secret.example")
    assert one("environment").shown == ["-|-|-|*"]


def test_a_client_made_at_import_does_not_reach_the_real_api(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-real")
    loop = tmp_path / "at_import.py"
    loop.write_text(
        "import os\nseen = os.environ['ANTHROPIC_BASE_URL'], os.environ['ANTHROPIC_API_KEY']\n"
        "def loop(turn):\n    return ' '.join(seen)\n"
    )
    assert one(f"{loop}:loop").shown == ["http://127.0.0.1:9 sk-ant-import"]
    told = host(f"{loop}:loop", spec(), base_url="http://127.0.0.1:1/w3")
    assert told[0][-1].shown == ["http://127.0.0.1:1/w3 sk-ant-import"]


def test_store_and_carry_last_for_the_conversation_and_no_longer():
    turns = host("remembers", spec(), spec(), spec(conversation="c2"))
    assert [turn[-1].detail for turn in turns] == ["0 None", "1 {'turns': 1}", "0 None"]
    assert [turn[0] for turn in turns] == [StoreSet(key="seen", value=n) for n in (1, 2, 1)]


def test_a_forgotten_conversation_starts_anew():
    async def play():
        async with hosting("remembers") as driver:
            await played(driver, spec())
            await driver.forget("c1")
            return await played(driver, spec())

    assert asyncio.run(play())[0][-1].detail == "0 None"


def test_one_event_loop_lives_as_long_as_the_host():
    turns = host("same_event_loop", spec(), spec(conversation="c2"), spec(conversation="c3"))
    assert [turn[-1].shown for turn in turns] == [["1"]] * 3


@pytest.mark.parametrize("target", ["runs_its_own_event_loop", "has_an_event_loop"])
def test_a_sync_loop_may_drive_an_event_loop_itself(target):
    turns = host(target, spec(), spec(conversation="c2"))
    assert [turn[-1].shown for turn in turns] == [["inner"]] * 2


def test_a_class_is_made_once_and_its_instance_called_each_turn():
    turns = host("Agent", spec(), spec())
    assert [turn[-1].shown for turn in turns] == [["1"], ["2"]]


@pytest.mark.parametrize("target", ["raises", "raises_async"])
def test_an_exception_that_leaves_the_loop_is_recorded_with_the_owners_frames_only(target):
    ended = one(target)
    assert ended.returned == "raised"
    assert ended.raised.type == "LookupError"
    assert ended.raised.bases == ["LookupError", "Exception", "BaseException"]
    assert ended.raised.message == "no such page"
    assert f"in {target}" in ended.raised.traceback
    assert "harness/loops" not in ended.raised.traceback


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("exits", "SystemExit"),
        ("exits_async", "SystemExit"),
        ("interrupts", "KeyboardInterrupt"),
        ("cancels_itself", "CancelledError"),
    ],
)
def test_what_is_no_exception_ends_the_turn_but_not_the_host(target, name):
    first, second = host(target, spec(), spec(conversation="c2"))
    assert first[-1].raised.type == name
    assert second[-1].raised.type == name


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (
            "returns_a_mapping",
            "the adapter returned a dict: a loop returns an Outcome, a string or None",
        ),
        (
            "returns_a_wrong_status",
            "the adapter returned the status 'complete'; did you mean 'completed'? (one of completed, ",
        ),
        ("returns_a_circle", "what the adapter returned cannot be recorded: RecursionError"),
    ],
)
def test_a_result_that_cannot_be_one_is_the_adapters_fault(target, reason):
    lost = one(target)
    assert isinstance(lost, Lost)
    assert lost.reason.startswith(reason)


def test_hooks_of_several_threads_are_all_recorded_each_threads_in_order():
    (turn,) = host("reports_from_threads", spec())
    problems = [event.problem for event in turn[:-1]]
    assert len(problems) == 200
    for name in "abcd":
        assert [p for p in problems if p[0] == name] == [f"{name} {n}" for n in range(50)]


def test_a_hook_may_send_megabytes():
    published, ended = host("publishes_much", spec())[0]
    assert len(published.state["messages"][0]["content"]) == 3_000_000
    assert ended.shown == ["published"]


def test_what_a_turns_thread_sends_later_is_not_taken_for_the_next_turns():
    async def play():
        async with hosting("publishes_late") as driver:
            first, second = [], []
            await driver.play(spec("one"), first.append)
            await driver.play(spec("two"), second.append)
            await asyncio.sleep(0.3)
            await driver.forget("c1")
            return first, second

    first, second = asyncio.run(play())
    assert [type(event) for event in first] == [Ended]
    assert [event.problem for event in second[1:]] == ["late from two"]


def test_the_cancel_flag_is_in_the_store_before_the_turn_and_while_it_runs():
    async def play():
        async with hosting("waits_for_cancel") as driver:
            await driver.cancel(spec())
            (early,) = await played(driver, spec())
            turn = asyncio.ensure_future(played(driver, spec(conversation="c2")))
            await asyncio.sleep(0.1)
            assert not turn.done()
            await driver.cancel(spec(conversation="c2"))
            return early, (await turn)[0]

    early, late = asyncio.run(play())
    assert [event.answer for event in early if isinstance(event, CancelPolled)] == [True]
    assert [event.answer for event in late if isinstance(event, CancelPolled)] == [False, True]
    assert early[-1].shown == late[-1].shown == ["cancelled"]


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("spins", "while True:"),
        ("spins_async", "while True:"),
        ("sleeps", "time.sleep(10_000)"),
        ("blocks_every_thread", ""),
        ("swallows", "time.sleep(0.01)"),
        ("ignores_signals", "time.sleep(1)"),
    ],
)
def test_a_loop_that_never_returns_is_stopped_and_the_next_turn_has_a_new_host(target, line):
    began = time.monotonic()
    first, second = host(target, spec(deadline=0.2), spec(conversation="c2", deadline=0.2))
    for last in (first[-1], second[-1]):
        assert last == Overran(deadline=0.2, stood=last.stood)
        assert last.stood.partition(": ")[2] == line
    assert [type(event) for event in first[:-1]] in ([], [Reported])
    assert time.monotonic() - began < 10


def test_a_cancel_does_not_wait_for_a_loop_that_blocks_every_thread():
    async def play():
        async with hosting("blocks_every_thread") as driver:
            turn = asyncio.ensure_future(played(driver, spec(deadline=2.5)))
            await asyncio.sleep(0.2)
            began = time.monotonic()
            await driver.cancel(spec())
            took = time.monotonic() - began
            assert (await driver.census()).threads == []
            return took, (await turn)[0]

    took, events = asyncio.run(play())
    assert took < 2
    assert events == [Overran(deadline=2.5)]


def test_a_conversation_whose_host_is_gone_does_not_go_on():
    _, second = host("spins", spec(deadline=0.1), spec(deadline=0.1))
    assert second == [
        Lost(reason="the conversation cannot go on: it had not returned after 0.1 s and was stopped")
    ]


def test_the_death_of_the_process_is_told_with_its_last_output():
    reported, lost = host("dies", spec())[0]
    assert isinstance(reported, Reported)
    assert lost == Lost(reason="the loop's process ended: exit 3", output="famous last words\n")


def test_a_crash_is_told_by_its_signal():
    lost = one("crashes")
    assert isinstance(lost, Lost)
    assert lost.reason == "the loop's process ended: signal 11 (SIGSEGV)"


def test_a_host_that_dies_between_two_turns_is_replaced_for_the_next_conversation():
    async def play():
        async with hosting("dies_later") as driver:
            (first,) = await played(driver, spec())
            await asyncio.sleep(0.5)
            return first, *await played(driver, spec(), spec(conversation="c2"))

    first, same, other = asyncio.run(play())
    assert first[-1].shown == other[-1].shown == ["fine so far"]
    assert same == [
        Lost(
            reason="the conversation cannot go on: the loop's process ended: exit 7 between two turns",
        )
    ]


def test_a_cancel_before_the_turn_holds_although_the_host_has_to_be_replaced_first():
    async def play():
        async with hosting("waits_for_cancel") as driver:
            os.kill(driver._host._popen.pid, signal.SIGKILL)
            await driver._host.died
            await driver.cancel(spec())
            return await played(driver, spec())

    assert asyncio.run(play())[0][-1].shown == ["cancelled"]


def test_output_without_end_neither_blocks_the_loop_nor_fills_memory():
    (events,) = host("floods_and_dies", spec(deadline=30.0))
    assert events[-1].reason == "the loop's process ended: exit 3"
    assert events[-1].output.endswith("the last words\n")
    assert len(events[-1].output) <= 16_384


def test_a_loop_that_cannot_be_loaded_is_one_clear_message():
    with pytest.raises(DriverError) as caught:
        host(f"{LOOPS}:god", spec())
    assert str(caught.value) == f"{LOOPS}:god: {LOOPS} has no attribute 'god'; did you mean 'good'?"


def test_a_process_that_dies_while_importing_is_one_clear_message(tmp_path):
    loop = tmp_path / "dying.py"
    loop.write_text("import os\nprint('importing')\nos._exit(5)\n")
    with pytest.raises(
        DriverError, match="the loop's process ended: exit 5 while it was imported\nimporting"
    ):
        host(f"{loop}:loop", spec())


def test_an_import_that_never_ends_can_be_given_up(tmp_path):
    (tmp_path / "endless.py").write_text("while True:\n    pass\n")
    driver = HostDriver(f"{tmp_path}/endless.py:loop")

    async def start():
        try:
            await asyncio.wait_for(driver.start(), 0.5)
        finally:
            process = driver._host
            await driver.close()
            assert process.died.done()

    with pytest.raises(TimeoutError):
        asyncio.run(start())


def test_a_play_that_is_given_up_stops_the_loop():
    async def play():
        async with hosting("spins") as driver:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(driver.play(spec(), [].append), 0.3)
            return await played(driver, spec(conversation="c2", deadline=0.1))

    last = asyncio.run(play())[0][-1]
    assert last == Overran(deadline=0.1, stood=last.stood)


def test_an_error_of_the_recorder_is_not_hidden():
    def broken(event):
        raise OSError("disk full")

    async def play():
        async with hosting("good") as driver:
            await driver.play(spec(), broken)

    with pytest.raises(OSError, match="disk full"):
        asyncio.run(play())


def test_the_declaration_of_the_callable_and_the_options_are_put_together(tmp_path):
    loop = tmp_path / "declares.py"
    loop.write_text(
        "class Cut(Exception): pass\ndef loop(turn): pass\n"
        "loop.policies = {'on_refusal': 'fallback', 'cancel': 'at_once'}\nloop.raises = {Cut: 'truncated'}\n"
    )

    async def declared():
        options = Declaration(policies={"cancel": "between_requests"})
        async with hosting(f"{loop}:loop", declaration=options, folder=tmp_path) as driver:
            return driver.declaration

    assert asyncio.run(declared()) == Declaration(
        policies={"on_refusal": "fallback", "cancel": "between_requests"}, raises={"Cut": "truncated"}
    )


def test_a_wrong_declaration_cannot_be_driven(tmp_path):
    loop = tmp_path / "declares.py"
    loop.write_text("def loop(turn): pass\nloop.policies = {'on_refusal': 'retry'}\n")
    with pytest.raises(DriverError, match=r"policies\.on_refusal: one of stop, fallback, not 'retry'"):
        host(f"{loop}:loop", spec(), folder=tmp_path)


def test_a_loop_may_belong_to_a_repository_with_a_package_of_our_name(tmp_path, monkeypatch):
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").write_text("")
    (tmp_path / "harness" / "agent.py").write_text(
        "from loop_harness import Outcome\ndef loop(turn):\n    return Outcome(detail='theirs')\n"
    )
    monkeypatch.chdir(tmp_path)
    assert one("harness.agent:loop").detail == "theirs"


def test_the_host_works_on_uvloop_as_well():
    uvloop = pytest.importorskip("uvloop")

    async def play():
        async with hosting("good") as driver:
            return await played(driver, spec(), spec(deadline=0.5))

    loop = uvloop.new_event_loop()
    try:
        turns = loop.run_until_complete(play())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
    assert [type(turn[-1]) for turn in turns] == [Ended, Ended]


def test_the_loop_is_not_run_in_this_process(tmp_path):
    loop = tmp_path / "tells.py"
    loop.write_text("import os\ndef loop(turn):\n    return f'{os.getpid()} {os.getsid(0)} {os.getcwd()}'\n")
    pid, session, folder = one(f"{loop}:loop").shown[0].split()
    assert pid == session != str(os.getpid())
    assert folder == os.getcwd()  # noqa: PTH109


def test_half_an_emoji_can_be_returned_and_published():
    ((published, ended),) = host("returns_half_an_emoji", spec())
    assert published.state == {"messages": ["\ufffd"]}
    assert ended.shown == ["cut: \ufffd"]


def test_a_loop_that_closes_its_hosts_sockets_is_told_so():
    ((lost,),) = host("closes_what_is_not_its_own", spec())
    assert "exit 1" in lost.reason
    assert lost.output.strip().endswith("among them those of its host")
    assert "Traceback" not in lost.output
