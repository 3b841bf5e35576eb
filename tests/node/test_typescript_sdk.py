"""The provider heard by the TypeScript SDK: what it raises, and what it lets pass, for each fault."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from harness.history import RequestSeen
from harness.scenario.model import Break, Fault, Step
from tests.node.sdk import installed
from tests.provider.serve import PROMPT, Served, call, fault, reply

KEY = "sk-ant-test"
BODY = {
    "model": "claude-opus-4-6",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": PROMPT}],
    "tools": [{"name": "lookup", "input_schema": {"type": "object"}}],
}
LONG = "Hello there, what a day, and so much of it still to come."
Ask: TypeAlias = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(tmp_path_factory.mktemp("node"))


@pytest.fixture(scope="module")
def node(folder: Path) -> Iterator[subprocess.Popen[str]]:
    script = Path(__file__).with_name("ask.mjs")
    command = ["node", str(script), str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    process.stdin.close()
    process.wait(10)
    process.stdout.close()


@pytest.fixture
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.close()


@pytest.fixture
def ask(node: subprocess.Popen[str], served: Served) -> Ask:
    """Play steps, and ask in one way; what the program sees."""

    def ask(way: str, *steps: Step, **options: Any) -> dict[str, Any]:
        served.open(list(steps))
        url = f"{served.provider.url}/w0"
        case = {"url": url, "key": KEY, "way": way, "body": BODY, "options": options}
        node.stdin.write(json.dumps(case) + "\n")
        node.stdin.flush()
        said: dict[str, Any] = json.loads(node.stdout.readline())
        served.settle()
        return said

    return ask


def broken(at: str, by: str, *content: Any, **fields: Any) -> Step:
    return reply(*(content or (LONG,)), breaks=[Break(at=at, by=by, **fields)])


@pytest.mark.parametrize("way", ["create", "stream"])
def test_a_reply_arrives_whole_and_streamed(ask: Ask, way: str) -> None:
    given = {"path": "/tmp", "n": [1, None], "s": '"\\\n😀'}
    got = ask(way, reply("Looking. é", call(**given)))["got"]
    assert [block["type"] for block in got["content"]] == ["text", "tool_use"]
    assert got["content"][0]["text"] == "Looking. é"
    assert got["content"][1]["input"] == given
    assert got["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "BadRequestError"),
        (401, "AuthenticationError"),
        (402, "PaymentRequiredError"),
        (403, "PermissionDeniedError"),
        (404, "NotFoundError"),
        (408, "RequestTimeoutError"),
        (409, "ConflictError"),
        (413, "ContentTooLargeError"),
        (422, "UnprocessableEntityError"),
        (429, "RateLimitError"),
        (500, "InternalServerError"),
        (503, "ServiceUnavailableError"),
        (504, "GatewayTimeoutError"),
        (529, "OverloadedError"),
    ],
)
def test_an_http_error_is_the_sdks_own(ask: Ask, status: int, name: str) -> None:
    error = ask("create", fault(status))["error"]
    assert (error["name"], error["status"]) == (name, status)
    assert (error["request"] is None) == (status == 413)


@pytest.mark.parametrize("way", ["stream", "events"])
def test_an_error_event_has_no_status(ask: Ask, served: Served, way: str) -> None:
    error = ask(way, broken("event 3", "error"), reply("B"), maxRetries=2)["error"]
    assert (error["name"], error["status"], error["type"]) == ("APIError", None, "overloaded_error")
    assert len(served.of(RequestSeen)) == 1


def test_a_stream_without_its_end_is_noticed_by_who_asks_for_the_message_alone(ask: Ask) -> None:
    cut = broken("content_block_stop", "end")
    assert ask("events", cut)["got"]["seen"][-1] == "content_block_stop"
    error = ask("stream", cut)["error"]
    assert "ended without producing a Message" in error["message"]


def test_a_stream_without_an_event_is_one(ask: Ask) -> None:
    error = ask("stream", broken("head", "end"))["error"]
    assert "request ended without sending any chunks" in error["message"]


@pytest.mark.parametrize("by", ["close", "reset"])
def test_a_lost_connection_within_a_stream_is_not_tried_again(ask: Ask, served: Served, by: str) -> None:
    said = ask("stream", broken("inside content_block_delta 2", by), reply("B"), maxRetries=2)
    assert "error" in said
    assert len(served.of(RequestSeen)) == 1


@pytest.mark.parametrize("connection", ["close", "reset"])
def test_a_lost_connection_before_the_answer_is_tried_again(
    ask: Ask, served: Served, connection: str
) -> None:
    lost = Step(fault=Fault(connection=connection))
    error = ask("create", lost)["error"]
    assert (error["name"], error["status"]) == ("APIConnectionError", None)
    assert ask("create", lost, reply("B"), maxRetries=1)["got"]["content"][0]["text"] == "B"


def test_silence_is_a_timeout(ask: Ask) -> None:
    error = ask("create", Step(fault=Fault(connection="silence")), timeout=200)["error"]
    assert error["name"] == "APIConnectionTimeoutError"


def test_an_unknown_event_is_passed_on_and_passed_over(ask: Ask) -> None:
    odd = broken("message_start", "event", event={"type": "hologram", "rays": 1})
    assert "hologram" in ask("events", odd)["got"]["seen"]
    assert ask("stream", odd)["got"]["content"][0]["text"] == LONG


def test_what_is_no_json_is_thrown(ask: Ask, served: Served) -> None:
    error = ask("stream", broken("content_block_start", "garbage"), reply("B"), maxRetries=2)["error"]
    assert "JSON" in error["message"]
    assert len(served.of(RequestSeen)) == 1


def test_a_tool_input_that_is_no_json_is_thrown(ask: Ask) -> None:
    said = ask("stream", reply(call(a=1), tool_input_json='{"a": nonsense}'))
    assert "error" in said


def test_a_delta_before_the_start_is_passed_over(ask: Ask) -> None:
    early = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "A"}}
    assert ask("stream", broken("head", "event", event=early))["got"]["content"][0]["text"] == LONG


def test_retries_are_told_and_end(ask: Ask, served: Served) -> None:
    busy = fault(529, headers={"retry-after-ms": "5"})
    error = ask("create", busy, busy, busy, reply("B"), maxRetries=2)["error"]
    assert error["name"] == "OverloadedError"
    assert [event.retry for event in served.of(RequestSeen)] == [0, 1, 2]


def test_a_word_against_retrying_is_heard(ask: Ask, served: Served) -> None:
    ask("create", fault(529, headers={"x-should-retry": "false"}), reply("B"), maxRetries=2)
    assert len(served.of(RequestSeen)) == 1


def test_a_page_of_a_gateway_is_an_error_like_any_other(ask: Ask) -> None:
    error = ask("create", fault(502, body="<html>Bad Gateway</html>"))["error"]
    assert (error["name"], error["status"]) == ("InternalServerError", 502)


def test_a_413_before_the_body_is_read_is_understood(ask: Ask) -> None:
    error = ask("create", fault(413, before_body=True))["error"]
    assert (error["name"], error["status"]) == ("ContentTooLargeError", 413)


def test_a_kept_connection_that_was_closed_is_replaced(ask: Ask) -> None:
    got = [ask("create", broken("done", "close"), reply("B"), maxRetries=0) for _ in range(2)]
    assert [each["got"]["content"][0]["text"] for each in got] == [LONG, LONG]
