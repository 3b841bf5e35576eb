"""Answers out of replies and faults: the message whole or streamed, its headers, its place in a thread."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import msgspec

from ..scenario.model import Fault, Reply
from ..transcript import Conversation
from ..wire.blocks import is_server_result
from ..wire.cache import PromptCache
from ..wire.codec import dumps
from ..wire.eras import Era, era
from ..wire.events import Event, Told, events_of
from ..wire.ids import Ids
from ..wire.same import pieces
from ..wire.wanted import Wanted
from . import headers as head
from .again import MOST_MADE, Known, made_of, renewed, words_in
from .answer import Answer, Failure, error_answer
from .compose import Composed, compose
from .request import Request
from .retold import retold
from .threads import Threads

MOST_EVENTS = 1024
"""Events of a stream that are made before the first of them is sent. Those of a longer one are made while it
is, lest all other clients wait for them."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request with all that is known about it."""

    number: int
    request: Request
    conversation: Conversation
    key: bytes
    """The same for equal bodies."""
    known: Known | None = None
    """What is known of its shape, where an earlier request had the same."""
    shape: bytes | None = None
    """Its shape, where that is not known yet."""

    @property
    def said(self) -> bytes:
        """The same for requests with which the model reads the same conversation."""
        return b"".join(piece.key for piece in pieces(self.conversation.messages))

    @property
    def seen(self) -> dict[str, Any]:
        """What the model reads."""
        said = self.conversation
        return {"messages": said.messages, "system": said.system, "tools": said.tools}


class Replies:
    """Makes the answers of one session."""

    def __init__(self, ids: Ids, threads: Threads, seed: int, of: Era | None = None) -> None:
        self._of = of or era()
        self._cache = PromptCache()
        self._ids = ids
        self._threads = threads
        self._seed = seed

    def reply(self, asked: Asked, reply: Reply, content: list[dict[str, Any]], kind: str) -> Answer:
        """`reply` with its finished `content`, whole or streamed as the request asks."""
        body = asked.request.body
        wanted = Wanted.of(body, asked.request.headers)
        composed = compose(
            self._ids.next("msg_"), reply, content, asked.seen, wanted=wanted, cache=self._cache, of=self._of
        )
        said = composed.message
        stream = asked.request.wants_stream
        written = {name.lower(): value for name, value in reply.headers.items()}
        self._threads.began(body)
        answer = Answer(
            request=asked.number,
            kind=kind,
            headers=head.for_reply(self._ids.next("req_"), stream=stream) | written,
            written=written,
            body=said,
            delay=reply.delay,
            breaks=reply.breaks,
            broken=lambda: self._threads.failed(body),
            delivered=lambda: self._threads.answered(body, asked.conversation, said),
            cut=lambda: self._threads.failed(body),
        )
        if stream:
            events = self._events(answer, reply, composed)
            # What may wait or is written out is made as a whole.
            whole = reply.events is not None or any(map(is_server_result, said["content"]))
            answer.events = list(events if whole else islice(events, MOST_EVENTS))
            answer.more = events if len(answer.events) == MOST_EVENTS else None
            answer.gap, answer.pings, answer.segment = reply.gap, reply.pings, reply.segment
            answer.waits = any(event.wait for event in answer.events)
        else:
            answer.payload = dumps(said)
            if reply.gap:
                # A whole body takes as long as its events would.
                answer.delay += reply.gap * (sum(1 for _ in self._events(answer, reply, composed)) - 1)
        if kind == "reply" and asked.known is not None and answer.more is None:
            self._keep(asked, asked.known, reply, answer)
        return answer

    def _keep(self, asked: Asked, known: Known, reply: Reply, answer: Answer) -> None:
        """Keep what the answer is made of, if it is text alone."""
        textual = all(block.get("type") == "text" for block in answer.body["content"])
        made = made_of(reply, answer.body, answer.events, words_in(asked.request)) if textual else None
        if made is not None and answer.delay == reply.delay:
            if len(known.made) >= MOST_MADE:
                known.made.clear()
            known.made[id(reply), answer.events is not None] = made

    def again(self, asked: Asked, reply: Reply) -> Answer | None:
        """The answer with this very reply to a request whose shape got it before."""
        stream = asked.request.wants_stream
        made = asked.known.made.get((id(reply), stream)) if asked.known else None
        if made is None or made.reply is not reply:
            return None
        said, events, drafts = renewed(made, self._ids.next("msg_"), words_in(asked.request))
        answer = Answer(
            request=asked.number,
            kind="reply",
            headers=head.for_reply(self._ids.next("req_"), stream=stream),
            body=said,
            delay=reply.delay,
            breaks=reply.breaks,
        )
        if reply.headers:
            answer.written = {key.lower(): value for key, value in reply.headers.items()}
            answer.headers |= answer.written
        if events is not None:
            answer.events, answer.drafts = events, drafts
            answer.gap, answer.pings, answer.segment = reply.gap, reply.pings, reply.segment
        else:
            answer.payload = dumps(said)
        return answer

    def _events(self, answer: Answer, reply: Reply, composed: Composed) -> Iterator[Event]:
        """The events that tell the message, or those the scenario wrote."""
        random = Random(f"{self._seed}/{answer.request}")  # noqa: S311 - where fragments are cut
        told = Told(self._of, reply.tool_input_json, composed.first, reply.server_gap, composed.estimates)
        made = events_of(composed.message, random, told)
        return made if reply.events is None else retold(reply.events, list(made))

    def say(self, asked: Asked, text: str, kind: str) -> Answer:
        """A short reply that no script holds."""
        return self.reply(asked, Reply(), [{"type": "text", "text": text}], kind)

    def data(self, asked: Asked, body: Any) -> Answer:
        """The answer of an endpoint other than Messages; bytes are lines of JSON."""
        request_id = self._ids.next("req_")
        if asked.request.endpoint in ("count_tokens", "models"):
            headers = head.for_reply(request_id, stream=False)
        else:
            headers = head.for_error(request_id)
        payload = body if isinstance(body, bytes) else dumps(body)
        if isinstance(body, bytes):
            headers["content-type"] = "application/x-jsonl"
            body = None
        return Answer(request=asked.number, kind="side", headers=headers, body=body, payload=payload)

    def fault(self, number: int, fault: Fault, step: int) -> Answer:
        """The scripted error of a step."""
        failure = Failure(
            status=fault.status or 0,
            message=fault.message,
            type=fault.type,
            details=fault.details,
            headers=fault.headers,
            body=fault.body,
            delay=fault.delay,
        )
        answer = self.fail(number, failure, "fault")
        answer.step = step
        answer.connection = "reset" if fault.connection == "refuse" else fault.connection
        return answer

    def fail(self, number: int, failure: Failure, kind: str) -> Answer:
        """The answer that says `failure`."""
        return error_answer(failure, request=number, request_id=self._ids.next("req_"), kind=kind)
