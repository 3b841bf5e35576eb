"""What is kept of equal requests changes nothing but the time they take."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from harness.history import Answered, RequestSeen
from harness.provider.again import MOST, Again, shape_of
from harness.provider.request import Request
from harness.wire.codec import dumps
from tests.provider.serve import PROMPT, Served, body, fault, reply, text
from tests.provider.wire import Wire


def ask(served: Served, times: int, **fields: Any) -> list[tuple[int, dict[str, str], bytes]]:
    with Wire(served) as wire:
        answers = []
        for _ in range(times):
            wire.send(wire.ask(body(**fields)))
            answers.append(wire.read())
        return answers


def plain(data: bytes) -> str:
    """A body or stream without its id and its padding."""
    return re.sub(r" *}\n\n", "}\n\n", re.sub(r"msg_\w+", "msg", data.decode()))


@pytest.mark.parametrize("stream", [False, True])
def test_the_same_comes_back_with_ids_of_its_own(served: Served, stream: bool) -> None:
    served.open([reply("Hello there, é and all.", repeat=6)])
    answers = ask(served, 6, stream=stream)
    # The second is the first that something is kept of, so it and all after it are told alike.
    assert len({plain(data) for _, _, data in answers[1:]}) == 1
    assert len({re.search(rb"msg_\w+", data)[0] for _, _, data in answers}) == 6
    assert len({headers["request-id"] for _, headers, _ in answers}) == 6
    sent = [event.body for event in served.of(Answered)]
    assert all(event["content"] == [text("Hello there, é and all.")] for event in sent)
    for (_, _, data), said in zip(answers, sent, strict=True):
        assert said["id"].encode() in data
        if not stream:
            assert json.loads(data) == said


def test_padding_is_drawn_anew(served: Served) -> None:
    served.open([reply("Hello there, and more of it.", repeat=6)])
    answers = ask(served, 6, stream=True)
    assert len({re.sub(rb"msg_\w+", b"", data) for _, _, data in answers[1:]}) == 5


def test_what_is_recorded_is_the_same(served: Served) -> None:
    served.open([reply("A", repeat=4)])
    ask(served, 4)
    seen = served.of(RequestSeen)
    assert [event.same_as for event in seen] == [None, 1, 2, 3]
    assert len({dumps([event.body, event.headers, event.lane, event.path]) for event in seen}) == 1


def test_steps_are_played_in_order_all_the_same(served: Served) -> None:
    served.open([reply("A"), reply("B"), fault(529), reply("C", "D"), reply("A")])
    answers = ask(served, 5)
    assert [status for status, _, _ in answers] == [200, 200, 529, 200, 200]
    texts = [[block["text"] for block in json.loads(data).get("content", [])] for _, _, data in answers]
    assert texts == [["A"], ["B"], [], ["C", "D"], ["A"]]


def test_a_request_that_breaks_a_rule_is_rejected_each_time(served: Served) -> None:
    served.open([reply("A")])
    assert [status for status, _, _ in ask(served, 3, max_tokens=0, stream=True, tools=[{"name": " "}])] == [
        400
    ] * 3


def test_other_words_get_the_same_reply_with_counts_of_their_own(served: Served) -> None:
    served.open([reply("Hello there.", repeat=12)])
    fresh = Served()
    try:
        for stream in (False, True):
            for words in ("Hi", "Hi again", PROMPT * 40, "é" * 99):
                asked = body({"role": "user", "content": words}, stream=stream)
                with Wire(served) as wire:
                    wire.send(wire.ask(asked))
                    told = wire.read()[2]
                # A session that never saw anything like it says how it is told without a memory.
                fresh.open([reply("Hello there.")])
                with Wire(fresh) as wire:
                    wire.send(wire.ask(asked))
                    assert counts(wire.read()[2]) == counts(told)
    finally:
        fresh.close()


def counts(data: bytes) -> list[bytes]:
    return re.findall(rb'"(?:input|output|cache_\w+)_tokens":\d+', re.sub(rb'"message_start".*', b"", data))


def test_written_counts_stay_as_they_are(served: Served) -> None:
    served.open([reply("A", repeat=4, usage={"input_tokens": 404500})])
    for words in ("Hi", "Hi there", "Hi there again"):
        with Wire(served) as wire:
            wire.send(wire.ask(body({"role": "user", "content": words})))
            assert json.loads(wire.read()[2])["usage"]["input_tokens"] == 404500


def shape(**fields: Any) -> bytes | None:
    asked = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": PROMPT}]} | fields
    headers = fields.pop("headers", {})
    request = Request(method="POST", path="/v1/messages", headers=headers, raw=dumps(asked))
    request.decode()
    return shape_of(request)


def said(content: Any, role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content} | fields


def test_words_make_no_difference_to_the_shape() -> None:
    assert shape() is not None
    assert shape(messages=[said("Something else")]) == shape()
    assert shape(messages=[said("A"), said("B")]) != shape()
    assert shape(max_tokens=2) != shape()
    assert shape(stream=True) != shape()


@pytest.mark.parametrize(
    "fields",
    [
        {"cache_control": {"type": "ephemeral"}},
        {"system": [{"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}}]},
        {"thread": {"type": "create"}},
        {"container": "container_01"},
        {"messages": []},
        {"messages": "A"},
        {"messages": [said("A"), said("B", role="assistant")]},
        {"messages": [said("A", role="system")]},
        {"messages": [said("")]},
        {"messages": [said(" \n")]},
        {"messages": [said([text("A")])]},
        {"messages": [said("A", name="B")]},
        {"messages": [said("A" * 20_000)]},
    ],
)
def test_what_hangs_on_more_than_words_has_no_shape(fields: dict[str, Any]) -> None:
    assert shape(**fields) is None


def test_a_beta_has_no_shape_and_other_headers_make_another_one() -> None:
    def of(**headers: str) -> bytes | None:
        asked = dumps({"model": "m", "messages": [said("A")]})
        request = Request(method="POST", path="/v1/messages", headers=headers, raw=asked)
        request.decode()
        return shape_of(request)

    assert of(**{"anthropic-beta": "some-2026-01-01"}) is None
    assert of(a="1") != of(a="2")
    assert of(**{"content-length": "1"}) == of(**{"content-length": "2"})


def test_only_so_many_are_kept() -> None:
    again = Again()
    for number in range(MOST * 3):
        again.keep(b"%d" % number)
    assert len(again._known) == MOST
    assert again.find(b"%d" % (MOST * 3 - 1))
