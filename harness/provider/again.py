"""Equal requests, looked at once: load tests and retries send the same thing again and again.

Only what cannot depend on anything but the request itself is kept: users' words without a history, a
thread, a mark for the cache or a beta, that broke no rule. What the reply to it is made of is kept beside it,
where that is text alone; ids, padding and headers are new each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, TypeAlias

import msgspec

from ..scenario.model import Reply
from ..transcript import Conversation
from ..wire.codec import dumps
from ..wire.events import Event, encode
from .facts import Facts
from .request import Request

MOST = 64
"""Requests kept."""

MOST_MADE = 16
"""Replies kept for each."""

LONGEST = 64 * 1024
"""Bytes of a body that is kept."""

_DEPENDS = (
    b'"cache_control"',
    b'"thread"',
    b'"container"',
    b'"assistant"',
    b'"tool_result"',
    b'"role":"system"',
    b'"role": "system"',
)
"""What a body must not hold: its answer hangs on what was before. A word in a text may be one of these, too;
then the request is looked at like any other."""


Draft: TypeAlias = tuple[bytes, tuple[bytes, ...]]
"""An event encoded up to where it is padded, and its sixteen ends."""

_PADDED = tuple(b" " * count + b"}\n\n" for count in range(16))
_PLAIN = (b"",) * 16


class Made(msgspec.Struct, eq=False):
    """What a reply of text is made of."""

    reply: Reply
    """As it is written: the scenario's own, so that it can be told by identity."""
    content: list[dict[str, Any]]
    message: dict[str, Any]
    """With the id of the first."""
    whole: tuple[bytes, bytes] = (b"", b"")
    """The body before its id, and after it."""
    events: list[Event] | None = None
    drafts: list[Draft] = []
    """The events but the first, which holds the id."""


class Known(msgspec.Struct, eq=False, kw_only=True):
    """A request that was looked at."""

    path: str
    headers: dict[str, str]
    body: Any
    conversation: Conversation
    key: bytes
    kept_headers: dict[str, str]
    facts: Facts | None = None
    made: dict[tuple[int, bool], Made] = {}
    """Replies by the identity of what was written, whole and streamed."""


def draft(event: Event) -> Draft:
    """The event, ready but for its padding."""
    if event.raw is not None or event.name == "ping":
        return encode(event, Random(0)), _PLAIN  # noqa: S311 - neither is padded
    return b"event: %b\ndata: %b" % (event.name.encode(), dumps(event.data)[:-1]), _PADDED


def renamed(events: list[Event], name: str) -> list[Event]:
    """The events of a message with another id, which the first of them tells."""
    first = events[0]
    message = first.data["message"] | {"id": name}
    return [first._replace(data=first.data | {"message": message}), *events[1:]]


class Again:
    """The requests of one session that may come again."""

    def __init__(self) -> None:
        self._known: dict[bytes, Known] = {}

    def find(self, request: Request) -> Known | None:
        """What was found out when this request came before; nothing of it may be changed."""
        known = self._known.get(request.raw)
        if known is None or known.headers != request.headers or known.path != request.path:
            return None
        request.body = known.body
        return known

    def keep(self, request: Request, known: Known) -> None:
        """Keep what was found out about a request that broke no rule, if it may be kept."""
        if may_be_kept(request.raw, request.headers):
            if len(self._known) >= MOST:
                del self._known[next(iter(self._known))]
            self._known[request.raw] = known


def may_be_kept(raw: bytes, headers: Mapping[str, str]) -> bool:
    """Whether nothing but the request itself decides what is right about it."""
    small = 0 < len(raw) <= LONGEST and "anthropic-beta" not in headers
    return small and not any(word in raw for word in _DEPENDS)
