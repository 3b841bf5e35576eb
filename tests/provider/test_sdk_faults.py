"""The provider heard by the Python SDK: what it raises, and what it lets pass, for each fault."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from harness.history import RequestSeen
from harness.scenario.model import Break, Fault, Step
from tests.provider.serve import Served, body, call, fault, reply

KEY = "sk-ant-test"
LONG = "Hello there, what a day, and so much of it still to come."


@pytest.fixture
def client(served: Served) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=f"{served.provider.url}/w0", api_key=KEY) as made:
        yield made


def broken(at: str, by: str, *content: Any, **fields: Any) -> Step:
    return reply(*(content or (LONG,)), breaks=[Break(at=at, by=by, **fields)])


def streamed(client: anthropic.Anthropic) -> Any:
    with client.messages.stream(**body()) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, anthropic.BadRequestError),
        (401, anthropic.AuthenticationError),
        (402, anthropic.PaymentRequiredError),
        (403, anthropic.PermissionDeniedError),
        (404, anthropic.NotFoundError),
        (408, anthropic.RequestTimeoutError),
        (409, anthropic.ConflictError),
        (413, anthropic.ContentTooLargeError),
        (422, anthropic.UnprocessableEntityError),
        (429, anthropic.RateLimitError),
        (500, anthropic.InternalServerError),
        (502, anthropic.InternalServerError),
        (503, anthropic.ServiceUnavailableError),
        (504, anthropic.GatewayTimeoutError),
        (529, anthropic.OverloadedError),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_an_http_error_is_the_sdks_own(
    served: Served, client: anthropic.Anthropic, status: int, error: type[Exception], stream: bool
) -> None:
    served.open([fault(status)])
    with pytest.raises(error) as caught:
        client.with_options(max_retries=0).messages.create(**body(), stream=stream)
    assert type(caught.value) is error


@pytest.mark.parametrize("way", ["stream", "create"])
def test_an_error_event_is_raised_as_the_base_class_with_status_200(
    served: Served, client: anthropic.Anthropic, way: str
) -> None:
    served.open([broken("event 3", "error"), reply("B")])
    with pytest.raises(anthropic.APIStatusError) as caught:
        streamed(client) if way == "stream" else list(client.messages.create(**body(), stream=True))
    assert type(caught.value) is anthropic.APIStatusError
    assert (caught.value.status_code, caught.value.type) == (200, "overloaded_error")
    assert caught.value.request_id
    assert len(served.of(RequestSeen)) == 1


def test_a_stream_without_its_end_is_no_error(served: Served, client: anthropic.Anthropic) -> None:
    served.open([broken("content_block_stop", "end")])
    said = streamed(client)
    assert (said.stop_reason, said.content[0].text) == (None, LONG)


def test_a_stream_without_an_event_is_empty(served: Served, client: anthropic.Anthropic) -> None:
    served.open([broken("head", "end"), broken("head", "end")])
    assert list(client.messages.create(**body(), stream=True)) == []
    with pytest.raises(AssertionError):
        streamed(client)


@pytest.mark.parametrize("by", ["close", "reset"])
@pytest.mark.parametrize("at", ["inside content_block_delta 2", "end", "inside character"])
def test_a_lost_connection_within_a_stream_is_not_tried_again(
    served: Served, client: anthropic.Anthropic, at: str, by: str
) -> None:
    served.open([broken(at, by, "The café is open, and it is a nice one."), reply("B")])
    with pytest.raises(Exception, match=r"closed|reset|peer|Connection"):
        streamed(client)
    assert len(served.of(RequestSeen)) == 1


@pytest.mark.parametrize("connection", ["close", "reset"])
def test_a_lost_connection_before_the_answer_is_tried_again(
    served: Served, client: anthropic.Anthropic, connection: str
) -> None:
    lost = Step(fault=Fault(connection=connection))
    served.open([lost, reply("B"), lost])
    assert client.messages.create(**body()).content[0].text == "B"
    with pytest.raises(anthropic.APIConnectionError):
        client.with_options(max_retries=0).messages.create(**body(max_tokens=7))


def test_silence_is_a_timeout(served: Served, client: anthropic.Anthropic) -> None:
    served.open([Step(fault=Fault(connection="silence")), broken("head", "silence")])
    hasty = client.with_options(max_retries=0, timeout=0.2)
    for _ in range(2):
        with pytest.raises(anthropic.APITimeoutError):
            hasty.messages.create(**body())


def test_an_unknown_event_is_passed_on_and_passed_over(served: Served, client: anthropic.Anthropic) -> None:
    odd = broken("message_start", "event", event={"type": "hologram", "rays": 1})
    served.open([odd, odd])
    assert "hologram" in [event.type for event in client.messages.create(**body(), stream=True)]
    assert streamed(client).content[0].text == LONG


def test_what_is_no_json_is_raised_and_not_tried_again(served: Served, client: anthropic.Anthropic) -> None:
    served.open([broken("content_block_start", "garbage"), reply("B")])
    with pytest.raises(ValueError, match=r"(?i)unterminated|json|expecting"):
        streamed(client)
    assert len(served.of(RequestSeen)) == 1


def test_a_tool_input_that_is_no_json_is_a_value_error(served: Served, client: anthropic.Anthropic) -> None:
    served.open([reply(call(a=1), tool_input_json='{"a": nonsense}')])
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
        streamed(client)


def test_a_delta_before_the_start_is_passed_over(served: Served, client: anthropic.Anthropic) -> None:
    early = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "A"}}
    served.open([broken("head", "event", event=early)])
    assert streamed(client).content[0].text == LONG


def test_a_delta_of_a_block_that_never_began_is_raised(served: Served, client: anthropic.Anthropic) -> None:
    stray = {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "A"}}
    served.open([broken("message_start", "event", event=stray)])
    with pytest.raises(IndexError):
        streamed(client)


def test_two_retries_are_made_and_told(served: Served, client: anthropic.Anthropic) -> None:
    busy = fault(529, headers={"retry-after-ms": "5"})
    served.open([busy, busy, busy, reply("B")])
    with pytest.raises(anthropic.OverloadedError):
        client.messages.create(**body())
    assert [event.retry for event in served.of(RequestSeen)] == [0, 1, 2]


@pytest.mark.parametrize(("status", "word", "times"), [(429, "false", 1), (400, "true", 3)])
def test_a_word_about_retrying_is_heard(
    served: Served, client: anthropic.Anthropic, status: int, word: str, times: int
) -> None:
    served.open([fault(status, headers={"x-should-retry": word, "retry-after-ms": "5"})] * 3)
    with pytest.raises(anthropic.APIStatusError):
        client.messages.create(**body())
    assert len(served.of(RequestSeen)) == times


def test_the_time_to_wait_is_kept(served: Served, client: anthropic.Anthropic) -> None:
    served.open([fault(429, headers={"retry-after-ms": "700"}), reply("B")])
    began = time.monotonic()
    assert client.messages.create(**body()).content[0].text == "B"
    assert time.monotonic() - began >= 0.69


def test_a_page_of_a_gateway_is_an_error_like_any_other(served: Served, client: anthropic.Anthropic) -> None:
    served.open([fault(502, body="<html>Bad Gateway</html>")])
    with pytest.raises(anthropic.InternalServerError, match="Bad Gateway"):
        client.with_options(max_retries=0).messages.create(**body())


def test_a_413_before_the_body_is_read_is_understood(served: Served, client: anthropic.Anthropic) -> None:
    served.open([fault(413, before_body=True)])
    asked = body(messages=[{"role": "user", "content": "long " * 400_000}])
    with pytest.raises(anthropic.ContentTooLargeError):
        client.with_options(max_retries=0).messages.create(**asked)


def test_a_wrong_length_is_a_lost_connection(served: Served, client: anthropic.Anthropic) -> None:
    headers = {"content-length": "9999"}
    served.open([reply("A", headers=headers, breaks=[Break(at="end", by="close")])])
    with pytest.raises(anthropic.APIConnectionError):
        client.with_options(max_retries=0).messages.create(**body())


def test_a_kept_connection_that_was_closed_is_replaced(served: Served, client: anthropic.Anthropic) -> None:
    served.open([broken("done", "close"), reply("B")])
    quiet = client.with_options(max_retries=0)
    assert quiet.messages.create(**body()).content[0].text == LONG
    time.sleep(0.05)
    assert quiet.messages.create(**body()).content[0].text == "B"
