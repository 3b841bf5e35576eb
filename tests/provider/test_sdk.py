"""The provider heard by the `anthropic` client: what it parses, streams, raises and retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic import beta_tool

from harness.history import Answered, Delivered, RequestSeen
from harness.scenario.model import Step
from tests.provider.serve import PROMPT, SYSTEM, Served, body, call, fault, reply, text

KEY = "sk-ant-test"
SEARCH = {"type": "server_tool_use", "name": "web_search", "input": {"query": "release notes"}}
HIT = {"type": "web_search_result", "title": "Notes", "url": "https://example.com/a"}
FOUND = {"type": "web_search_tool_result", "content": [HIT]}
CITED = {
    "type": "web_search_result_location",
    "cited_text": "removed",
    "encrypted_index": "abc",
    "title": "Notes",
    "url": "https://example.com/a",
}

REPLIES: dict[str, Step] = {
    "text": reply("Hello there, this is an answer of some length: é😀."),
    "many texts": reply("One.", "Two.", "Three."),
    "nothing": reply(),
    "blank text": reply(" ", call(key="a")),
    "a call": reply("Looking.", call(path="/tmp", n=[1, {"a": None}], big=2**60, f=1.5, s='"\\\n😀')),
    "an argumentless call": reply(call()),
    "parallel calls": reply(call(a=1), call(a=2)),
    "thinking": reply({"type": "thinking", "thinking": "Let me see. " * 20}, "Done."),
    "omitted thinking": reply({"type": "thinking", "thinking": ""}, "Done."),
    "redacted thinking": reply({"type": "redacted_thinking"}, "Done."),
    "a pause": reply("Looking.", SEARCH, FOUND, SEARCH, stop_reason="pause_turn"),
    "a citation": reply(SEARCH, FOUND, {"type": "text", "text": "It was removed.", "citations": [CITED]}),
    "an mcp call": reply(
        {"type": "mcp_tool_use", "name": "find", "input": {"q": 1}, "server_name": "docs"},
        {"type": "mcp_tool_result", "content": [text("here")]},
        "Found.",
    ),
    "a summary": reply(
        {"type": "compaction", "content": "Much was said.", "encrypted_content": None},
        stop_reason="compaction",
    ),
    "an unknown block": reply({"type": "hologram", "rays": [1, 2]}, "Done."),
    "a refusal": reply(
        stop_reason="refusal", stop_details={"type": "refusal", "category": "cyber", "explanation": "no"}
    ),
    "a partial refusal": reply("I", stop_reason="refusal"),
    "a truncation": reply("Cut in the mid", stop_reason="max_tokens"),
    "a stop sequence": reply("Until", stop_reason="stop_sequence", stop_sequence="END"),
    "a full window": reply("Full", stop_reason="model_context_window_exceeded"),
    "a new stop reason": reply("What?", stop_reason="hiccup"),
    "a cut call": reply(
        "Writing.",
        call(path="/tmp/a"),
        stop_reason="max_tokens",
        tool_input_json='{"path": "/tmp/a", "text": "un',
    ),
    "a call cut at once": reply(call(), stop_reason="max_tokens", tool_input_json='{"pa'),
    "a container": reply("Ran.", container={"id": "container_01", "expires_at": "2026-12-01T00:00:00Z"}),
    "written usage": reply("Hi.", usage={"input_tokens": 404500, "cache_read_input_tokens": 12}),
}  # fmt: skip


@pytest.fixture
def client(served: Served) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=f"{served.provider.url}/w0", api_key=KEY) as made:
        yield made


def plain(message: Any) -> dict[str, Any]:
    """A message without what differs from one request to the next."""
    dumped: dict[str, Any] = message.to_dict(mode="json", warnings=False)
    del dumped["id"]
    for block in dumped["content"]:
        block.pop("parsed_output", None)
    return {key: value for key, value in dumped.items() if value is not None}


@pytest.mark.parametrize("step", REPLIES.values(), ids=REPLIES.keys())
def test_a_reply_is_the_same_whole_and_streamed_sync_and_async(served: Served, step: Step) -> None:
    heard = []
    asked = body()
    # Outside its beta part the client's stream helper assembles neither the input of an `mcp_tool_use`
    # nor the content of a `compaction` block.
    beta = any(block["type"].startswith(("mcp", "compaction")) for block in step.reply.content)
    for stream in (False, True):
        served.open([step, step])
        with anthropic.Anthropic(base_url=f"{served.provider.url}/w0", api_key=KEY) as client:
            heard.append(plain(ask(client, asked, stream, beta)))
        served.open([step])
        heard.append(plain(asyncio.run(ask_async(served.provider.url, asked, stream, beta))))
    assert heard[0] == heard[1] == heard[2] == heard[3]
    assert heard[0]["stop_reason"] == step.reply.stop_reason


def ask(client: anthropic.Anthropic, asked: dict[str, Any], stream: bool, beta: bool = False) -> Any:
    messages: Any = client.beta.messages if beta else client.messages
    if not stream:
        return messages.create(**asked)
    with messages.stream(**asked) as events:
        return events.get_final_message()


async def ask_async(url: str, asked: dict[str, Any], stream: bool, beta: bool = False) -> Any:
    async with anthropic.AsyncAnthropic(base_url=f"{url}/w0", api_key=KEY) as client:
        messages: Any = client.beta.messages if beta else client.messages
        if not stream:
            return await messages.create(**asked)
        async with messages.stream(**asked) as events:
            return await events.get_final_message()


def test_the_content_that_arrives_is_what_was_sent(served: Served, client: anthropic.Anthropic) -> None:
    given = {"path": "/tmp", "n": [1, {"a": None}], "s": '"\\\n😀'}
    served.open([reply("Looking. é", call(**given))])
    said = ask(client, body(), stream=True)
    assert said.content[0].text == "Looking. é"
    assert said.content[1].input == given
    sent = served.of(Answered)[0].body
    assert [block["type"] for block in sent["content"]] == ["text", "tool_use"]
    assert sent["id"] == said.id
    assert sent["usage"]["output_tokens"] == said.usage.output_tokens


def test_the_raw_stream_ends_with_message_stop(served: Served, client: anthropic.Anthropic) -> None:
    served.open([reply("Hello")])
    kinds = [event.type for event in client.messages.create(**body(), stream=True)]
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")
    # The client drops pings; the provider counts them.
    assert served.of(Delivered)[0].events == len(kinds) + 1


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, anthropic.BadRequestError),
        (401, anthropic.AuthenticationError),
        (403, anthropic.PermissionDeniedError),
        (404, anthropic.NotFoundError),
        (413, anthropic.APIStatusError),
        (429, anthropic.RateLimitError),
        (500, anthropic.InternalServerError),
        (529, anthropic.APIStatusError),
    ],
)
def test_faults_are_raised_as_the_clients_own_errors(
    served: Served, client: anthropic.Anthropic, status: int, error: type[anthropic.APIStatusError]
) -> None:
    served.open([fault(status)])
    with pytest.raises(error) as caught:
        client.with_options(max_retries=0).messages.create(**body())
    assert caught.value.status_code == status
    # A 413 comes from in front of the API, which knows no requests.
    assert bool(caught.value.request_id) == (status != 413)


def test_the_client_retries_what_invites_it_and_gets_the_next_step(
    served: Served, client: anthropic.Anthropic
) -> None:
    served.open([fault(529), fault(429, headers={"retry-after": "0"}), reply("Hello")])
    assert ask(client, body(), stream=False).content[0].text == "Hello"
    assert [event.retry for event in served.of(RequestSeen)] == [0, 1, 2]
    assert [event.same_as for event in served.of(RequestSeen)] == [None, 1, 2]


def test_the_client_does_not_retry_after_the_script(served: Served, client: anthropic.Anthropic) -> None:
    served.open([])
    with pytest.raises(anthropic.BadRequestError, match="the scenario has ended"):
        client.messages.create(**body())
    assert len(served.of(RequestSeen)) == 1


def test_a_client_that_timed_out_gets_the_step_again(served: Served, client: anthropic.Anthropic) -> None:
    session = served.open([reply("Late", delay=0.4)])
    with pytest.raises(anthropic.APITimeoutError):
        client.with_options(max_retries=0, timeout=0.1).messages.create(**body())
    served.settle()
    with pytest.raises(anthropic.APITimeoutError):
        client.with_options(max_retries=1, timeout=0.1).messages.create(**body())
    said = client.with_options(timeout=10).messages.create(**body())
    assert said.content[0].text == "Late"
    assert session.used


def test_counting_and_listing_work(served: Served, client: anthropic.Anthropic) -> None:
    served.open([])
    asked = body()
    del asked["max_tokens"]
    assert client.messages.count_tokens(**asked).input_tokens > 10
    models = list(client.models.list())
    assert len(models) > 10
    assert client.models.retrieve(models[0].id).id == models[0].id
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("claude-sonet-4-5")
    assert {event.lane for event in served.of(RequestSeen)} == {"side"}


@beta_tool
def lookup(key: str) -> str:
    """Looks it up.

    Args:
        key: What to look up.
    """
    return f"value of {key}"


RUN = [
    reply("Looking.", call(key="a"), call(key="b")),
    reply("Searching.", SEARCH, stop_reason="pause_turn"),
    reply(FOUND, call(key="c")),
    reply("Two modules were removed."),
]


def run_tools(client: anthropic.Anthropic, **fields: Any) -> Any:
    runner = client.beta.messages.tool_runner(
        model="claude-opus-4-6",
        max_tokens=100,
        system=SYSTEM,
        tools=[lookup],
        messages=[{"role": "user", "content": PROMPT}],
        **fields,
    )
    last = None
    for said in runner:
        last = said.get_final_message() if fields.get("stream") else said
    return last


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("thread", [{}, {"thread": False}], ids=["threads", "no threads"])
def test_the_tool_runner_comes_to_its_end(
    served: Served, client: anthropic.Anthropic, thread: dict[str, Any], stream: bool
) -> None:
    served.open(RUN)
    last = run_tools(client, stream=stream, **thread)
    assert last.content[0].text == "Two modules were removed."
    assert [event.kind for event in served.of(Answered)] == ["reply"] * 4
    requests = served.of(RequestSeen)
    continued = [event.body.get("thread", {}).get("type") for event in requests]
    assert continued == ([None] * 4 if thread else ["create", "continue", "continue", "continue"])
    seen = [event.body["messages"] if event.transcript is None else event.transcript for event in requests]
    assert [len(messages) for messages in seen] == [1, 3, 4, 6]
    if not thread:
        assert requests[2].body["messages"] == []
        assert "tools" not in requests[1].body


def test_a_lost_thread_is_replayed_by_the_tool_runner(served: Served, client: anthropic.Anthropic) -> None:
    lost = fault(404, details={"error_code": "thread_not_found"})
    served.open([reply(call(key="a")), lost, reply("Done.")])
    assert run_tools(client).content[0].text == "Done."
    requests = served.of(RequestSeen)
    assert [event.body["thread"]["type"] for event in requests] == ["create", "continue", "create"]
    assert len(requests[2].body["messages"]) == 3


def test_five_hundred_requests_are_answered_quickly(served: Served, client: anthropic.Anthropic) -> None:
    import http.client
    import json

    served.open([reply("Hello", repeat=500)])
    payload = json.dumps(body(stream=True))
    connection = http.client.HTTPConnection("127.0.0.1", int(served.provider.url.rpartition(":")[2]))
    headers = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
    began = time.monotonic()
    for _ in range(500):
        connection.request("POST", "/v1/messages", payload, headers)
        assert b"message_stop" in connection.getresponse().read()
    taken = time.monotonic() - began
    connection.close()
    assert len(served.of(Delivered)) == 500
    assert taken < 10
