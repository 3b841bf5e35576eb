"""A session without sockets: what it answers, what it records."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from harness.history import Answered, AnyEvent, Broken, Delivered, Noted, RequestSeen
from harness.provider.request import Request
from harness.provider.session import Session
from harness.scenario.model import Lane, Scenario
from harness.wire.codec import dumps, loads
from tests.provider.serve import PROMPT, body, call, fault, reply, scenario, text

T = TypeVar("T")


class Line:
    """A client that reads everything, or leaves after so many writes."""

    def __init__(self, leaves_after: int | None = None) -> None:
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.data = b""
        self._left = leaves_after

    def begin(self, status: int, headers: dict[str, str], length: int | None) -> None:
        self.status, self.headers = status, headers

    def write(self, pieces: Iterable[bytes]) -> None:
        self.data += b"".join(pieces)
        if self._left is not None:
            self._left -= 1
            if self._left <= 0 and not self.gone.done():
                self.gone.set_result(None)

    def end(self) -> None:
        pass

    def flush(self) -> None:
        pass

    async def close(self, *, reset: bool = False) -> None:
        self.gone.set_result(None)

    async def drain(self) -> None:
        pass

    @property
    def body(self) -> Any:
        return loads(self.data)


class Played:
    """Plays requests against a session, one turn begun."""

    def __init__(self, script: Scenario, **fields: Any) -> None:
        self.events: list[AnyEvent] = []
        self.session = Session(key="k", scenario=script, record=self.events.append, **fields)
        self.session.begin_turn(0)

    def ask(
        self, asked: Any, leaves_after: int | None = None, path: str = "/v1/messages", **headers: str
    ) -> Line:
        async def play() -> Line:
            line = Line(leaves_after)
            given = {"x-api-key": "k", "anthropic-version": "2023-06-01"} | {
                k.replace("_", "-"): v for k, v in headers.items()
            }
            request = Request(
                method="GET" if asked is None else "POST",
                path=path,
                headers=given,
                raw=dumps(asked) if asked else b"",
            )
            request.decode()
            await self.session.answer(request, line)
            return line

        return asyncio.run(play())

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.of(Answered)]


def play(*steps: Any, **fields: Any) -> Played:
    return Played(scenario(list(steps)), **fields)


def more(n: int) -> dict[str, Any]:
    return body({"role": "user", "content": f"{PROMPT} {n}"})


def test_a_request_is_recorded_then_answered_then_delivered() -> None:
    played = play(reply("Hello"))
    line = played.ask(body())
    assert [type(event) for event in played.events] == [RequestSeen, Answered, Delivered]
    assert line.body == played.of(Answered)[0].body
    assert line.body["content"] == [text("Hello")]
    assert played.session.used


def test_credentials_are_not_kept() -> None:
    played = play(reply("Hello"))
    played.ask(body(), authorization="Bearer secret", cookie="secret", proxy_authorization="secret")
    assert "secret" not in repr(played.events)
    headers = played.of(RequestSeen)[0].headers
    assert (headers["x-api-key"], headers["authorization"]) == ("<api key>", "<bearer token>")


def test_a_rejected_request_uses_nothing_up() -> None:
    played = play(reply("Hello"))
    assert played.ask(body(max_tokens=None)).status == 400
    assert played.ask(body()).body["content"] == [text("Hello")]
    assert played.kinds == ["rejected", "reply"]
    assert played.of(Answered)[0].rule == "field_mistyped"


def test_a_lenient_scenario_answers_anyway_and_notes_it() -> None:
    played = Played(scenario([reply("Hello")], rules="lenient"))
    assert played.ask(body(extra=1)).status == 200
    assert [event.kind for event in played.of(Noted)] == ["lenient"]
    assert played.of(Noted)[0].detail == "field_unknown: extra: Extra inputs are not permitted"


def test_even_a_lenient_scenario_cannot_answer_what_is_no_request() -> None:
    played = Played(scenario([reply("Hello")], rules="lenient"))
    assert played.ask({"model": "claude-opus-4-6", "max_tokens": 1}).status == 400


def test_an_unverified_rule_is_noted_and_the_request_answered() -> None:
    played = play(reply("Hello"))
    assert played.ask(body(), anthropic_version="2031-01-01").status == 200
    assert played.of(Noted)[0].kind == "unverified"


def test_after_the_script_requests_are_refused_for_good() -> None:
    played = play(reply("Hello"))
    played.ask(body())
    line = played.ask(more(1))
    assert line.status == 400
    assert line.headers["x-should-retry"] == "false"
    assert "script of the scenario has ended" in line.body["error"]["message"]
    assert played.kinds == ["reply", "over"]


def test_after_the_turn_requests_are_refused_too() -> None:
    played = play(reply("Hello"))
    played.session.end_turn()
    assert played.ask(body()).status == 400
    assert played.kinds == ["over"]


def test_a_fault_has_the_apis_body_and_the_scenarios_headers() -> None:
    played = play(fault(429, headers={"Retry-After": "2"}), fault(529), reply("Hello"))
    limited = played.ask(body())
    assert (limited.status, limited.headers["retry-after"]) == (429, "2")
    assert limited.body["error"]["type"] == "rate_limit_error"
    assert limited.body["request_id"] == limited.headers["request-id"]
    assert "x-should-retry" not in limited.headers
    assert played.ask(body()).body["error"]["type"] == "overloaded_error"
    assert played.ask(body()).status == 200
    assert [event.step for event in played.of(Answered)] == [0, 1, 2]
    assert played.of(Answered)[0].headers["retry-after"] == "2"


def test_a_fault_may_be_anything() -> None:
    line = play(fault(502, body="<html>bad gateway</html>", headers={"content-type": "text/html"})).ask(
        body()
    )
    assert (line.status, line.data) == (502, b"<html>bad gateway</html>")
    assert line.headers["content-type"] == "text/html"


def test_a_client_that_leaves_gets_the_step_again() -> None:
    played = play(reply("Hello there, this takes a while", gap=0.001), reply("Second"))
    played.ask(body(stream=True), leaves_after=3)
    broken = played.of(Broken)[0]
    assert broken.by == "client"
    assert broken.events >= 2
    assert played.ask(body()).body["content"] == [text("Hello there, this takes a while")]
    assert played.ask(more(1)).body["content"] == [text("Second")]


def test_a_slow_answer_that_nobody_waits_for_is_no_answer() -> None:
    played = play(reply("Hello", delay=5))

    async def leave() -> None:
        line = Line()
        asyncio.get_running_loop().call_later(0.01, line.gone.set_result, None)
        request = Request(
            method="POST",
            path="/v1/messages",
            headers={"x-api-key": "k", "anthropic-version": "2023-06-01"},
            raw=dumps(body()),
        )
        request.decode()
        assert not await played.session.answer(request, line)

    asyncio.run(leave())
    assert [type(event) for event in played.events] == [RequestSeen, Broken]


def test_equal_bodies_are_told() -> None:
    played = play(fault(529), reply("Hello"), reply("More"))
    played.ask(body())
    played.ask(body(), x_stainless_retry_count="1")
    played.ask(more(1))
    assert [(event.same_as, event.retry) for event in played.of(RequestSeen)] == [
        (None, 0),
        (1, 1),
        (None, 0),
    ]


def test_a_call_without_tools_to_call_is_unbound() -> None:
    played = play(reply(call()), reply("Done"))
    line = played.ask(body(tools=[]))
    assert line.body["stop_reason"] == "end_turn"
    assert [block["type"] for block in line.body["content"]] == ["text"]
    assert played.kinds == ["unbound"]


def test_a_tool_nobody_offered_is_called_where_others_are() -> None:
    line = play(reply(call("teleport"))).ask(body())
    assert line.body["content"][0]["name"] == "teleport"


def test_side_calls_use_nothing_up() -> None:
    lanes = [Lane(name="title", when={"max_tokens": 7}, script=[reply("A title"), fault(529)])]
    played = Played(scenario([reply("Hello")], lanes=lanes))
    assert played.ask(body(max_tokens=7)).body["content"] == [text("A title")]
    assert played.ask(body(max_tokens=7, stop_sequences=["x"])).status == 529
    foreign = body({"role": "user", "content": "Something else"}, system="", tools=[])
    assert played.ask(foreign).body["stop_reason"] == "end_turn"
    assert played.ask(body()).body["content"] == [text("Hello")]
    assert [event.lane for event in played.of(RequestSeen)] == ["title", "title", "side", ""]
    assert played.kinds == ["side", "fault", "side", "reply"]


def test_other_endpoints_are_side_calls() -> None:
    played = play(reply("Hello"))
    counted = body()
    del counted["max_tokens"]
    assert played.ask(counted, path="/v1/messages/count_tokens").body["input_tokens"] > 10
    models = played.ask(None, path="/v1/models").body
    assert models["data"][0]["type"] == "model"
    assert models["first_id"] == models["data"][0]["id"]
    assert played.ask(None, path="/v1/models/claude-haiku-4-5").body["id"] == "claude-haiku-4-5-20251001"
    assert played.ask(None, path="/v1/models/nope").status == 404
    assert played.ask(None, path="/v1/nothing").body["error"]["message"] == "Not Found"
    assert [event.endpoint for event in played.of(RequestSeen)] == [
        "count_tokens",
        "models",
        "models",
        "models",
        "unknown",
    ]
    assert all(event.lane == "side" for event in played.of(RequestSeen))


def points(reached: list[str]) -> Callable[[str], Any]:
    async def at_point(point: str) -> None:
        reached.append(point)

    return at_point


def test_points_count_requests_without_retries_and_events_over_the_turn() -> None:
    reached: list[str] = []
    played = Played(scenario([fault(529), reply("A"), reply("B")], [reply("C")]), at_point=points(reached))
    played.ask(body(stream=True))
    played.ask(body(stream=True))
    played.ask(more(1) | {"stream": True})
    first = len(played.of(Delivered))
    events = sum(event.events for event in played.of(Delivered))
    assert first == 3
    assert [point for point in reached if point.startswith("request")] == ["request 1", "request 2"]
    assert [point for point in reached if point.startswith("event")] == [
        f"event {n + 1}" for n in range(events)
    ]
    reached.clear()
    played.session.begin_turn(1)
    played.ask(more(2))
    assert reached == ["request 1"]


def test_the_answer_waits_for_the_point() -> None:
    order: list[str] = []
    played = Played(scenario([reply("A")]), at_point=points(order))
    played.ask(body())
    assert order == ["request 1"]
    assert isinstance(played.events[0], RequestSeen)


def test_a_fault_of_the_providers_own_is_recorded() -> None:
    async def broken(point: str) -> None:
        raise LookupError(point)

    played = Played(scenario([reply("A")]), at_point=broken)
    try:
        played.ask(body())
    except LookupError:
        assert "LookupError: request 1" in played.of(Noted)[0].detail
    else:
        raise AssertionError("the fault was swallowed")


def test_written_usage_headers_and_fields_are_sent() -> None:
    step = reply(
        "A", usage={"input_tokens": 7}, headers={"X-Extra": "1"}, fields={"novel": [1]}, container={"id": "c"}
    )
    line = play(step).ask(body())
    assert line.body["usage"]["input_tokens"] == 7
    assert (line.body["novel"], line.body["container"]) == ([1], {"id": "c"})
    assert line.headers["x-extra"] == "1"


def test_keys_of_a_message_stand_in_the_recorded_order() -> None:
    assert list(play(reply("A")).ask(body()).body) == [
        "model", "id", "type", "role", "content", "container", "stop_reason", "stop_sequence", "stop_details",
        "usage", "diagnostics",
    ]  # fmt: skip


def test_the_same_seed_gives_the_same_answers() -> None:
    runs = [
        play(reply(call(), {"type": "thinking", "thinking": "x"}), seed=seed).ask(body(stream=True)).data
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_a_whole_body_takes_as_long_as_its_events_would() -> None:
    clocked = time.monotonic()
    play(reply("Hi", gap=0.02, delay=0.05)).ask(body())
    # Six gaps: start, block start, ping, delta, block stop, message_delta, message_stop.
    assert 0.16 < time.monotonic() - clocked < 5
