"""Requests without their message threads: equal where the model would read the same.

A client that uses threads leaves to the server what was said before, another one says all of it again. A
recording of the one is replayed to the other, since either is the same conversation.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..transcript import Conversation, conversation_of, previous_id
from ..wire.codec import NotJsonError, loads
from .exchanges import Recorded, talk_of
from .kinship import Kinship, Said
from .model import Cassette

Json = dict[str, Any]


class Threads:
    """Resolves the threads of recorded requests, and of those that are made now."""

    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette
        self._told: dict[str, Conversation] = {}

    @cached_property
    def any(self) -> bool:
        """Whether a recorded request is part of a thread."""
        return any(b'"thread"' in one.request.body for one in self._cassette.interactions)

    @cached_property
    def _said(self) -> dict[int, Said]:
        """The recorded exchanges by number, decoded when they are first needed."""
        kinship, found = Kinship(), {}
        for recorded in talk_of(self._cassette).exchanges:
            said = kinship.place(recorded)
            kinship.remember(said)
            found[recorded.number] = said
        return found

    def recorded(self, number: int) -> Json | None:
        """The recorded request with this number, with all the model saw; None where it is none of the API."""
        said = self._said.get(number)
        return _whole(said.recorded.body, said.thread) if said else None

    def asked(self, body: bytes) -> Json | None:
        """A request that is made now, with all the model would see; None where that is not known."""
        found = _json(body)
        return None if found is None else _whole(found, self._conversation(found))

    def answered(self, body: bytes, number: int) -> None:
        """The request was answered with the recorded reply of this number, which it may go on from."""
        found = _json(body)
        recorded: Recorded | None = said.recorded if (said := self._said.get(number)) else None
        message = recorded.message if recorded else None
        if found is not None and message is not None and isinstance(message.get("id"), str):
            self._told[message["id"]] = self._conversation(found).answered(message)

    def _conversation(self, body: Json) -> Conversation:
        previous = previous_id(body)
        return conversation_of(body, self._told.get(previous) if previous else None)


def is_threaded(body: bytes) -> bool:
    """Whether a request is part of a thread."""
    found = _json(body) if b'"thread"' in body else None
    return found is not None and isinstance(found.get("thread"), dict)


def _whole(body: Json, seen: Conversation) -> Json:
    told = {"messages": seen.messages, "system": seen.system, "tools": seen.tools}
    rest = {name: value for name, value in body.items() if name not in ("thread", *told)}
    # No tools, and an empty list of them, are the same.
    return rest | {name: value for name, value in told.items() if value}


def _json(body: bytes) -> Json | None:
    try:
        found = loads(body)
    except NotJsonError:
        return None
    return found if isinstance(found, dict) else None
