"""Answers out of replies and faults: the message whole or streamed, its headers, its place in a thread."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from ..scenario.model import Fault, Reply
from ..transcript import Conversation
from ..wire.codec import dumps
from ..wire.events import events_of
from ..wire.ids import Ids
from . import headers as head
from .answer import Answer, Failure, error_answer
from .compose import compose_message
from .request import Request
from .threads import Threads


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request with all that is known about it."""

    number: int
    request: Request
    conversation: Conversation
    key: bytes
    """The canonical form of the body."""

    @property
    def seen(self) -> dict[str, Any]:
        """What the model reads."""
        said = self.conversation
        return {"messages": said.messages, "system": said.system, "tools": said.tools}


class Replies:
    """Makes the answers of one session."""

    def __init__(self, ids: Ids, threads: Threads, seed: int) -> None:
        self._ids = ids
        self._threads = threads
        self._seed = seed

    def reply(self, asked: Asked, reply: Reply, content: list[dict[str, Any]], kind: str) -> Answer:
        """`reply` with its finished `content`, whole or streamed as the request asks."""
        body = asked.request.body
        model = str(body["model"]) if isinstance(body, dict) and "model" in body else ""
        said = compose_message(self._ids.next("msg_"), reply, content, asked.seen, model)
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
            delivered=lambda: self._threads.answered(body, asked.conversation, said),
            cut=lambda: self._threads.failed(body),
        )
        self._shape(answer, reply, said, stream=stream)
        return answer

    def _shape(self, answer: Answer, reply: Reply, said: dict[str, Any], *, stream: bool) -> None:
        """Fill in the events of a stream, or the bytes of a body that takes as long as its events would."""
        random = Random(f"{self._seed}/{answer.request}")  # noqa: S311 - where fragments are cut
        if stream:
            answer.events = list(events_of(said, random, tool_input_json=reply.tool_input_json))
            answer.gap, answer.pings = reply.gap, reply.pings
            return
        answer.payload = dumps(said)
        if reply.gap:
            count = sum(1 for _ in events_of(said, random, tool_input_json=reply.tool_input_json))
            answer.delay += reply.gap * (count - 1)

    def say(self, asked: Asked, text: str, kind: str) -> Answer:
        """A short reply that no script holds."""
        return self.reply(asked, Reply(), [{"type": "text", "text": text}], kind)

    def data(self, asked: Asked, body: Any) -> Answer:
        """The answer of an endpoint that no script speaks for."""
        headers = head.for_reply(self._ids.next("req_"), stream=False)
        return Answer(request=asked.number, kind="side", headers=headers, body=body, payload=dumps(body))

    def fault(self, number: int, fault: Fault, step: int) -> Answer:
        """The scripted error of a step."""
        failure = Failure(
            status=fault.status,
            message=fault.message,
            type=fault.type,
            details=fault.details,
            headers=fault.headers,
            body=fault.body,
            delay=fault.delay,
        )
        answer = self.fail(number, failure, "fault")
        answer.step = step
        return answer

    def fail(self, number: int, failure: Failure, kind: str) -> Answer:
        """The answer that says `failure`."""
        return error_answer(failure, request=number, request_id=self._ids.next("req_"), kind=kind)
