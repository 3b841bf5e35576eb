"""Requests that differ in nothing but a user's words, looked at once.

Test suites and load tests send the same few requests again and again. Where a request is users' words alone,
without a history, a thread, a container, a mark for the cache or a beta, and short, whether it is accepted
depends on nothing else that it says, or that was said before. What a reply of text to it is made of is kept
as well; ids, counts, padding and headers are new each time.
"""

from __future__ import annotations

from random import Random
from typing import Any, TypeAlias

import msgspec

from ..scenario.model import Reply
from ..wire.blocks import as_blocks
from ..wire.cache import tokens_in
from ..wire.codec import canonical, dumps
from ..wire.events import Event, encode
from .request import Request

MOST = 64
"""Shapes kept."""

MOST_MADE = 16
"""Replies kept for each."""

LONGEST = 16 * 1024
"""Bytes of a body that is sure to fit into the window of every model."""

_DEPENDS = frozenset({"thread", "container", "cache_control", "compaction"})
_COUNTING = ["message_start", "message_delta"]
_SAID = {"role", "content"}

Draft: TypeAlias = tuple[bytes, tuple[bytes, ...]]
"""An event encoded up to where it is padded, and its sixteen ends."""

_PADDED = tuple(b" " * count + b"}\n\n" for count in range(16))
_PLAIN = (b"",) * 16


class Made(msgspec.Struct, eq=False):
    """What a reply of text is made of."""

    reply: Reply
    """As it is written: the scenario's own, so that it can be told by identity."""
    message: dict[str, Any]
    """With the id and the counts of the first."""
    words: int
    """Tokens of the messages it answered."""
    events: list[Event] | None = None
    drafts: list[Draft] = []


class Known(msgspec.Struct, eq=False):
    """A shape of requests that break no rule: the replies made for it, whole and streamed, by identity."""

    made: dict[tuple[int, bool], Made] = {}


class Again:
    """The shapes of requests one session knows."""

    def __init__(self) -> None:
        self._known: dict[bytes, Known] = {}

    def find(self, shape: bytes) -> Known | None:
        """What was found out about requests of this shape."""
        return self._known.get(shape)

    def keep(self, shape: bytes) -> None:
        """A request of this shape broke no rule."""
        if len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        self._known[shape] = Known()


def shape_of(request: Request) -> bytes | None:
    """All of a request but the users' words; None where there is more to it than those."""
    body = request.body
    if not isinstance(body, dict) or len(request.raw) > LONGEST or "anthropic-beta" in request.headers:
        return None
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(map(_is_said, messages)):
        return None
    rest = {name: value for name, value in body.items() if name != "messages"}
    if not _DEPENDS.isdisjoint(rest):
        return None
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    shape = canonical([request.method, request.path, headers, rest, len(messages)])
    return None if b'"cache_control"' in shape else shape


def _is_said(message: Any) -> bool:
    if not isinstance(message, dict) or message.keys() != _SAID or message["role"] != "user":
        return False
    content = message["content"]
    return isinstance(content, str) and bool(content.strip())


def words_in(request: Request) -> int:
    """Tokens of the messages of a request that has a shape."""
    return sum(
        tokens_in(dumps(block)) for said in request.body["messages"] for block in as_blocks(said["content"])
    )


def made_of(reply: Reply, message: dict[str, Any], events: list[Event] | None, words: int) -> Made | None:
    """What can be kept of a reply; None where its counts hang together in more than one way."""
    usage = message.get("usage", {})
    if "iterations" in usage or "input_tokens" in reply.usage or not _counts_are_ours(reply):
        return None
    places = [event.name for event in events[:1] + events[-2:-1]] if events is not None else _COUNTING
    if places != _COUNTING:
        return None
    return Made(reply, message, words, events, [draft(event) for event in events or ()])


def _counts_are_ours(reply: Reply) -> bool:
    """Whether the events that count are not written by the scenario."""
    written = [event for event in reply.events or () if not isinstance(event, str)]
    return not any(event.get("type") in _COUNTING and len(event) > 1 for event in written)


def renewed(made: Made, name: str, words: int) -> tuple[dict[str, Any], list[Event] | None, list[Draft]]:
    """The message with another id and for other words, and its events where it is streamed."""
    more = words - made.words
    said = made.message | {"id": name, "usage": _counted(made.message["usage"], more)}
    if made.events is None:
        return said, None, []
    events, drafts = made.events.copy(), made.drafts.copy()
    start, end = events[0].data, events[-2].data
    first = start["message"]
    first = first | {"id": name, "usage": _counted(first["usage"], more)}
    events[0] = events[0]._replace(data=start | {"message": first})
    events[-2] = events[-2]._replace(data=end | {"usage": _counted(end["usage"], more)})
    drafts[0], drafts[-2] = draft(events[0]), draft(events[-2])
    return said, events, drafts


def _counted(usage: dict[str, Any], more: int) -> dict[str, Any]:
    return usage | {"input_tokens": usage["input_tokens"] + more} if "input_tokens" in usage else usage


def draft(event: Event) -> Draft:
    """The event, ready but for its padding."""
    if event.raw is not None or event.name == "ping":
        return encode(event, Random(0)), _PLAIN  # noqa: S311 - neither is padded
    return b"event: %b\ndata: %b" % (event.name.encode(), dumps(event.data)[:-1]), _PADDED
