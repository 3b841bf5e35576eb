"""The hooks over HTTP: what each route does, and what it says to who means something else."""

from __future__ import annotations

import asyncio
import json

import pytest

from harness.history import (
    Claimed,
    Published,
    Reported,
    StoreDeleted,
    StoreSet,
    ToolEnded,
    ToolStarted,
    UsageRecorded,
)
from harness.loops.desk import Desk
from harness.loops.protocol import MalformedError, read_outcome
from harness.store import Store
from harness.turn import Behaviour, ToolSpec, Turn
from tests.loops.bad.playing import spec

TOOLS = [
    ToolSpec(
        name="look up",
        description="Look something up.",
        input_schema={"type": "object"},
        answers=[
            Behaviour(when={"key": "b"}, raises="no b"),
            Behaviour(when={"key": "c"}, raises="no c", exception="KeyError"),
            Behaviour(result=[{"type": "text", "text": "an a"}]),
        ],
    )
]


class Asked:
    """A desk that is asked, and what came of it."""

    def __init__(self, **more) -> None:
        self.events: list = []
        self.outcomes: list = []
        store = Store()
        store.attach(self.events.append)
        turn = Turn(spec(tools=TOOLS, **more), self.record, store)
        self.desk = Desk(turn, self.conclude)

    def record(self, event):
        self.events.append(event)
        return self.granted

    granted = None

    def conclude(self, value):
        if value == "bad":
            raise MalformedError("outcome: bad")
        self.outcomes.append(value)

    def __call__(self, method, path, value=None, raw=None):
        body = raw if raw is not None else b"" if value is None else json.dumps(value).encode()
        status, headers, said = asyncio.run(self.desk.answer(method, path, {}, body))
        assert headers["content-type"] == "application/json"
        return status, json.loads(said)


def test_a_tool_answers_or_fails():
    desk = Asked()
    assert desk("POST", "/tools/look%20up", {"key": "a"}) == (
        200, {"content": [{"type": "text", "text": "an a"}], "is_error": False},
    )  # fmt: skip
    assert desk("POST", "/tools/look%20up", {"key": "b"}) == (200, {"content": "no b", "is_error": True})
    assert [type(event) for event in desk.events] == [ToolStarted, ToolEnded] * 2


def test_a_tool_that_raises_an_exception_of_pythons_says_which():
    said = Asked()("POST", "/tools/look%20up", {"key": "c"})
    assert said == (200, {"content": "KeyError: no c", "is_error": True})


def test_a_turn_is_claimed():
    desk = Asked()
    assert desk("POST", "/claim") == (200, {"granted": True})
    desk.granted = False
    assert desk("POST", "/claim") == (200, {"granted": False})
    assert desk("GET", "/claim")[0] == 405
    assert [type(event) for event in desk.events] == [Claimed, Claimed]


def test_who_waits_for_a_cancellation_is_let_go_with_the_outcome():
    desk = Asked()

    async def waits():
        waiting = asyncio.ensure_future(desk.desk.answer("GET", "/cancelled?wait=30", {}, b""))
        await asyncio.sleep(0.01)
        await desk.desk.answer("POST", "/outcome", {}, b'"Done."')
        return await asyncio.wait_for(waiting, 5)

    assert json.loads(asyncio.run(waits())[2]) == {"cancelled": False}


def test_hooks_are_recorded():
    desk = Asked()
    desk("POST", "/publish", {"state": {"messages": []}, "history": [], "done": True})
    desk("POST", "/report", "odd")
    desk("POST", "/report", {"problem": "odd", "exception": "OddError"})
    desk("POST", "/usage", {"iterations": 2, "input_tokens": 3, "output_tokens": None})
    assert desk.events == [
        Published(state={"messages": []}, history=[], done=True),
        Reported(problem="odd"),
        Reported(problem="odd", exception="OddError"),
        UsageRecorded(iterations=2, tokens={"input_tokens": 3}),
    ]


def test_the_store_is_read_and_written():
    desk = Asked()
    assert desk("GET", "/store/a:b") == (404, {"error": "the store has no 'a:b'"})
    assert desk("PUT", "/store/a:b", [1, "\ud83d"])[0] == 200
    assert desk("GET", "/store/a%3Ab") == (200, [1, "\ud83d"])
    assert desk("GET", "/store") == (200, {"keys": ["a:b"]})
    assert [desk("DELETE", "/store/a:b")[0], desk("DELETE", "/store/a:b")[0]] == [200, 200]
    assert [type(event) for event in desk.events] == [StoreSet, StoreDeleted]


def test_who_waits_for_a_cancellation_is_told_when_it_comes():
    desk = Asked()
    assert desk("GET", "/cancelled") == (200, {"cancelled": False})

    async def wait():
        asked = asyncio.ensure_future(desk.desk.answer("GET", "/cancelled?wait=30", {}, b""))
        await asyncio.sleep(0.05)
        desk.desk._turn.store.put("cancel:c1", True)
        return await asyncio.wait_for(asked, 5)

    assert json.loads(asyncio.run(wait())[2]) == {"cancelled": True}


def test_an_outcome_is_taken_with_its_key_and_without():
    desk = Asked()
    for said in ({"outcome": {"status": "refused"}}, {"status": "refused"}, None, "text"):
        assert desk("POST", "/outcome", said)[0] == 200
    assert desk.outcomes == [{"status": "refused"}, {"status": "refused"}, None, "text"]
    assert desk("POST", "/outcome", "bad") == (400, {"error": "outcome: bad"})


def test_a_hook_that_fails_in_the_scenario_is_a_server_that_is_down():
    desk = Asked(hooks={"publish": "the cache is gone"})
    assert desk("POST", "/publish", {"state": {}}) == (500, {"error": "the cache is gone"})


@pytest.mark.parametrize(
    ("method", "path", "raw", "status", "why"),
    [
        ("POST", "/tools/look-up", b"{}", 404, "there is no tool 'look-up'; did you mean 'look up'?"),
        ("GET", "/publish", b"", 405, "/publish takes POST, not GET"),
        ("POST", "/cancelled", b"", 405, "/cancelled takes GET, not POST"),
        ("POST", "/store/a", b"1", 405, "/store/KEY takes GET, PUT and DELETE, not POST"),
        ("POST", "/publich", b"{}", 404, "did you mean '/publish'?"),
        ("POST", "/outcome/1", b"{}", 404, "there is nothing at '/outcome/1'"),
        ("GET", "/", b"", 404, "there is nothing at ''"),
        ("POST", "/publish", b"{'state'}", 400, "the body is not JSON"),
        ("POST", "/publish", b'{"stat": 1}', 400, "there is no field 'stat'; did you mean 'state'?"),
        ("POST", "/publish", b"[]", 400, "publish: an object with state, history, done"),
        ("POST", "/usage", b"3", 400, "usage: an object of token counts"),
        ("POST", "/usage", b'{"iterations": "2"}', 400, "usage: iterations: how many requests there were"),
        ("POST", "/report", b'{"problem": "", "exception": "\\u0000"}', 400, "the name of a class"),
        ("PUT", "/store/a", b"[" * 100_000, 400, "it is nested too deep"),
        ("GET", "/cancelled?wait=long", b"", 400, "wait: a number of seconds, not 'long'"),
        ("PUT", "/store/a", b"\xff", 400, "the body is not JSON"),
    ],
)
def test_what_cannot_be_meant_is_told_apart(method, path, raw, status, why):
    said = Asked()(method, path, raw=raw)
    assert said[0] == status
    assert why in said[1]["error"]


def test_an_empty_array_is_taken_for_the_empty_object_it_is_in_php():
    assert read_outcome({"usage": []})[0].usage == {}
