"""Names that a Python loop looks up are refused while it is played, and named in its history."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path

import anthropic
import pytest

from harness.chosen import find_cases
from harness.history import Noted
from harness.loops import lookups
from harness.loops.inprocess import InProcessDriver
from harness.loops.lookups import ALLOW, Lookups, is_allowed
from harness.report.summary import digest, summary_lines
from harness.runner import Runner
from tests.loops.bad.playing import host, spec

MESSAGE = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(
    "name", ["localhost", "127.0.0.1", "::1", "api.localhost", None, "", "10.0.0.5", b"localhost"]
)
def test_what_is_no_name_or_of_this_machine_is_allowed(name):
    assert is_allowed(name)


def test_a_name_is_refused_and_told_once(monkeypatch):
    told: list[str] = []
    before = socket.getaddrinfo
    with Lookups(told.append):
        for _ in range(2):
            with pytest.raises(socket.gaierror, match=r"api\.anthropic\.com was not looked up"):
                socket.create_connection(("api.anthropic.com", 443), timeout=5)
        with pytest.raises(socket.gaierror):
            socket.gethostbyname("example.org")
        assert socket.getaddrinfo("localhost", 80)
    assert told == ["api.anthropic.com", "example.org"]
    assert socket.getaddrinfo is before
    monkeypatch.setenv(ALLOW, "redis, Example.org")
    assert [is_allowed(name) for name in ("redis", "example.org", "example.com")] == [True, True, False]


def test_a_host_notes_who_its_loop_looks_up():
    (events,) = host("looks_elsewhere_up", spec())
    assert events[0] == Noted(kind="elsewhere", detail="api.anthropic.com")
    assert events[-1].shown == ["refused"]


def test_the_summary_names_it():
    with Runner(f"{Path(__file__).parent / 'bad' / 'loops.py'}:asks_here_and_elsewhere") as runner:
        probe = runner.probe()
        assert probe.problem is None
        [result] = runner.run_all(find_cases(["text/one[json]"]))
    lines = "\n".join(line.text for line in summary_lines([digest("it", probe.exposes, result)]))
    assert "noticed       api.anthropic.com was asked for, and not let through" in lines


@pytest.mark.parametrize("form", ["sync", "async"])
def test_the_sdks_own_request_is_told_from_other_names(form):
    told: list[str] = []
    names: list[str] = []
    with Lookups(names.append, told.append):
        with pytest.raises(socket.gaierror):
            socket.getaddrinfo("api.anthropic.com", 443)
        assert (names, told) == (["api.anthropic.com"], [])
        if form == "sync":
            with pytest.raises(anthropic.APIConnectionError):
                ask()
        else:
            with pytest.raises(anthropic.APIConnectionError):
                asyncio.run(ask_asynchronously())
    assert told == ["api.anthropic.com"]


def ask():
    with anthropic.Anthropic(api_key="none", max_retries=1) as client:
        client.messages.create(**MESSAGE)


async def ask_asynchronously():
    async with anthropic.AsyncAnthropic(api_key="none", max_retries=1) as client:
        await client.messages.create(**MESSAGE)


def test_two_that_end_in_the_order_they_began_leave_nothing_behind():
    before = socket.getaddrinfo
    first, second = Lookups(lambda _: None), Lookups(lambda _: None)

    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    with pytest.raises(socket.gaierror, match="lets nothing out"):
        socket.getaddrinfo("example.com", 443)
    second.__exit__(None, None, None)

    assert socket.getaddrinfo is before


def test_a_loop_that_was_given_up_is_refused_names_and_who_goes_on_is_not(monkeypatch):
    monkeypatch.setattr(lookups, "_ENTERED", [])  # another test may have given up a loop as well
    monkeypatch.setattr(lookups, "_BEFORE", {})
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: ["found"])
    over, refused = threading.Event(), []

    def hangs(_: object) -> None:
        over.wait(20)
        with pytest.raises(socket.gaierror, match="lets nothing out"):
            socket.getaddrinfo("example.com", 443)
        refused.append("blocking")
        asyncio.run(waits())

    async def waits() -> None:
        with pytest.raises(socket.gaierror, match="lets nothing out"):
            await asyncio.get_running_loop().getaddrinfo("example.com", 443)
        refused.append("waiting")

    async def play() -> None:
        driver = InProcessDriver(hangs)
        await driver.start()
        await driver.play(spec(deadline=0.1), [].append)
        assert socket.getaddrinfo("example.com", 443) == ["found"]
        over.set()
        await driver.close()
        await asyncio.to_thread(driver._thread.join, 10)

    asyncio.run(play())

    assert refused == ["blocking", "waiting"]
