"""A long stream is made while it is sent: nobody else waits for it, and its bytes are what they would be."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import pytest

from harness.history import Broken, Delivered
from harness.provider import replies
from harness.provider.answer import Answer
from harness.provider.stream import BATCH, Pacer, Sender
from harness.wire.events import Event, encode, events_of
from tests.provider.serve import Served, body, reply
from tests.provider.wire import Wire

SEED = 7
EVENTS = [Event("content_block_delta", {"type": "content_block_delta", "index": i}) for i in range(500)]


class Taking:
    """A client that takes everything at once, as fast as it comes."""

    def __init__(self) -> None:
        self.gone = asyncio.get_running_loop().create_future()
        self.body = b""
        self.sizes: list[int] = []

    def begin(self, *_: Any) -> None:
        pass

    def write(self, pieces: Iterable[bytes]) -> None:
        new = list(pieces)
        self.body += b"".join(new)
        self.sizes.append(len(new))

    def end(self) -> None:
        pass

    def flush(self) -> None:
        pass

    async def drain(self) -> None:
        pass

    async def close(self, *, reset: bool = False) -> None:
        pass


def answer(request: int, more: Iterator[Event] | None = None) -> Answer:
    events = EVENTS if more is None else EVENTS[:100]
    return Answer(request=request, kind="reply", headers={}, events=events, more=more)


def encoded(request: int) -> bytes:
    """All of the stream at once, padded from the first event to the last."""
    random = Random((SEED << 40) + request)
    return b"".join(encode(event, random) for event in EVENTS)


def test_the_bytes_of_a_stream_depend_on_its_seed_alone_also_where_others_are_sent_meanwhile() -> None:
    async def send() -> list[bytes]:
        sender = Sender(lambda _: None, Pacer(), seed=SEED)
        clients = [Taking(), Taking(), Taking()]
        answers = [answer(1), answer(2, more=iter(EVENTS[100:])), answer(3)]
        await asyncio.gather(*map(sender.send, answers, clients))
        return [client.body for client in clients]

    assert asyncio.run(send()) == [encoded(1), encoded(2), encoded(3)]


def test_no_more_of_it_is_made_than_is_sent_and_others_are_served_after_each_batch() -> None:
    made: list[int] = []
    ahead: list[int] = []

    class Watched(Taking):
        def write(self, pieces: Iterable[bytes]) -> None:
            super().write(pieces)
            ahead.append(len(made) - sum(self.sizes))

    def more() -> Iterator[Event]:
        for number, event in enumerate(EVENTS[100:], start=101):
            made.append(number)
            yield event

    async def send() -> tuple[int, int]:
        client, steps = Watched(), 0
        sending = asyncio.ensure_future(Sender(lambda _: None, Pacer()).send(answer(1, more()), client))
        while not sending.done():
            await asyncio.sleep(0)
            steps += 1
        return steps, len(client.sizes)

    steps, batches = asyncio.run(send())
    assert batches == -(-len(EVENTS) // BATCH)
    assert steps >= batches
    assert max(ahead) <= 0


def test_of_a_reply_nobody_reads_only_as_much_is_made_as_fits_on_its_way(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = 0

    def counted(*args: Any) -> Iterator[Event]:
        nonlocal made
        for event in events_of(*args):
            made += 1
            yield event

    monkeypatch.setattr(replies, "events_of", counted)
    words = 1_600_000  # 300,000 events
    served.open([reply("word " * words)])
    with Wire(served) as slow:
        slow.send(slow.ask(body(stream=True)))
        slow.head()
        served.settle(0.3)
    served.settle(0.2)
    [left] = served.of(Broken)
    assert left.events < made < 200_000
    assert not served.of(Delivered)
