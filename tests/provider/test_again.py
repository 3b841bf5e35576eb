"""What is kept of equal requests changes nothing but the time they take."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from harness.history import Answered, RequestSeen
from harness.provider.again import MOST, Again, Known, may_be_kept
from harness.provider.request import Request
from harness.transcript import Conversation
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


def known(request: Request) -> Known:
    return Known(
        path=request.path,
        headers=request.headers,
        body={},
        conversation=Conversation(),
        key=b"",
        kept_headers={},
    )


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


@pytest.mark.parametrize(
    "fields",
    [
        {"cache_control": {"type": "ephemeral"}},
        {"messages": [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": "A"}]},
        {"thread": {"type": "create"}},
        {"container": "container_01"},
    ],
)
def test_what_hangs_on_what_was_before_is_looked_at_each_time(fields: dict[str, Any]) -> None:
    asked = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": PROMPT}]}
    assert may_be_kept(dumps(asked), {})
    assert not may_be_kept(dumps(asked | fields), {})
    assert not may_be_kept(dumps(asked), {"anthropic-beta": "some-2026-01-01"})
    assert not may_be_kept(b"", {})


def test_other_headers_or_another_path_make_another_request() -> None:
    again = Again()
    first = Request(method="POST", path="/v1/messages", headers={"a": "1"}, raw=b"{}")
    again.keep(first, known(first))
    assert again.find(Request(method="POST", path="/v1/messages", headers={"a": "1"}, raw=b"{}"))
    assert not again.find(Request(method="POST", path="/v1/messages", headers={"a": "2"}, raw=b"{}"))
    assert not again.find(Request(method="POST", path="/v1/complete", headers={"a": "1"}, raw=b"{}"))
    assert not again.find(Request(method="POST", path="/v1/messages", headers={"a": "1"}, raw=b"[]"))


def test_only_so_many_are_kept() -> None:
    again = Again()
    for number in range(MOST * 3):
        request = Request(method="POST", path="/", headers={}, raw=dumps([number]))
        again.keep(request, known(request))
    assert len(again._known) == MOST
