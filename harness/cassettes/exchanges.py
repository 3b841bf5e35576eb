"""What of a recording is talk with the Messages API, decoded; and what is passed over, counted by reason.

A conversation says everything again in each request. Equal messages are decoded once and shared, so that
memory grows with what was said, and not with how often.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ..wire.codec import NotJsonError, loads
from ..wire.received import Heard, events, heard
from .model import Cassette, Interaction, header

Json = dict[str, Any]

_MESSAGES = re.compile(r"/v1/messages/?$")
_VERTEX = re.compile(r"/publishers/anthropic/models/(?P<model>[^/:]+)[^/]*:(?:rawPredict|streamRawPredict)$")
_BEDROCK = re.compile(r"/model/(?P<model>[^/]*anthropic[^/]*)/invoke(?:-with-response-stream)?$")
_ADDRESSES = (_MESSAGES, _VERTEX, _BEDROCK)
_OTHERS = re.compile(r"/v1/(?:messages/count_tokens|messages/batches|models|files|complete|skills)\b")
"""Endpoints beside the conversation."""


@dataclass(eq=False, kw_only=True)
class Recorded:
    """One request of the Messages API, and its answer."""

    number: int
    """Of the interaction in its file, from 1."""
    line: int
    interaction: Interaction
    body: Json
    message: Json | None = None
    """The reply; of a stream as far as it came. None where the answer was none."""
    error: Any = None
    """The body of an answer that was no reply, or the data of an error in a stream."""
    stream: Heard | None = None
    """How the stream went, where the answer was one."""

    @property
    def status(self) -> int:
        """The HTTP status of the answer."""
        return self.interaction.response.status

    @property
    def whole(self) -> bool:
        """Whether the reply came to its end."""
        if self.message is None or self.interaction.response.broken:
            return False
        return self.stream is None or self.stream.whole

    def asked(self, name: str) -> str:
        """A header of the request; empty where it is not there."""
        return header(self.interaction.request.headers, name)


@dataclass
class Talk:
    """What a recording holds of the Messages API."""

    exchanges: list[Recorded] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    """How many interactions were passed over, by the reason."""


def talk_of(cassette: Cassette) -> Talk:
    """The exchanges of the Messages API in a recording, in its order."""
    talk = Talk()
    decoder = _Decoder()
    for number, interaction in enumerate(cassette.interactions, start=1):
        found = _exchange(number, interaction, decoder)
        if isinstance(found, str):
            talk.skipped[found] += 1
        else:
            talk.exchanges.append(found)
    return talk


def _exchange(number: int, interaction: Interaction, decoder: _Decoder) -> Recorded | str:
    """The exchange, or why it is none of the Messages API."""
    request, address = interaction.request, urlsplit(interaction.request.uri)
    known = next((found for form in _ADDRESSES if (found := form.search(address.path))), None)
    if known is None or request.method != "POST":
        own = _OTHERS.search(address.path)
        return f"of {own[0]}" if own else f"of {address.hostname or 'no host'}"
    body = decoder.request(request.body)
    if body is None or not isinstance(body.get("messages"), list):
        return "with a request that is no JSON of a conversation"
    body.setdefault("model", known.groupdict().get("model"))
    recorded = Recorded(number=number, line=interaction.line, interaction=interaction, body=body)
    return recorded if _answer(recorded) else "with an answer that cannot be read"


def _answer(recorded: Recorded) -> bool:
    """Decode the answer; whether it is one that can be read."""
    response = recorded.interaction.response
    kind = header(response.headers, "content-type")
    if response.status == 0 or response.status >= 300:
        recorded.error = _json(response.body)
        return True
    if kind.startswith("application/vnd.amazon.eventstream"):
        recorded.stream = heard(_amazon(response.body))
    elif kind.startswith("text/event-stream") or response.body.lstrip()[:6] in (b"event:", b"data: "):
        recorded.stream = heard(event.data for event in events(response.body))
    if recorded.stream is not None:
        recorded.message, recorded.error = recorded.stream.message, recorded.stream.error
        return recorded.message is not None or recorded.error is not None or response.broken
    body = _json(response.body)
    if isinstance(body, dict) and isinstance(body.get("content"), list):
        recorded.message = body
        return True
    return response.broken


def _json(data: bytes) -> Any:
    try:
        return loads(data)
    except NotJsonError:
        return None


def _amazon(body: bytes) -> Iterator[Any]:
    """The events in the frames Amazon sends: lengths, headers, a payload that holds the event in base64."""
    place = 0
    while place + 16 <= len(body):
        size, headers = (int.from_bytes(body[place + at : place + at + 4]) for at in (0, 4))
        if size < 16 or place + size > len(body):
            return
        payload = _json(body[place + 12 + headers : place + size - 4])
        if isinstance(payload, Mapping) and isinstance(payload.get("bytes"), str):
            yield _json(base64.b64decode(payload["bytes"]))
        place += size


class _Decoder:
    """Decodes requests; what they have in common is decoded once."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}
        self._keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
        self._items = msgspec.json.Decoder(list[msgspec.Raw])

    def request(self, data: bytes) -> Json | None:
        """The request's body; None where it is no JSON object."""
        try:
            return {name: self._field(name, bytes(raw)) for name, raw in self._keys.decode(data).items()}
        except (msgspec.MsgspecError, UnicodeDecodeError, NotJsonError):
            value = _json(data)
            return value if isinstance(value, dict) else None

    def _field(self, name: str, data: bytes) -> Any:
        if name in ("messages", "tools") and data[:1] == b"[":
            return [self._shared(bytes(item)) for item in self._items.decode(data)]
        return self._shared(data)

    def _shared(self, key: bytes) -> Any:
        if key not in self._known:
            self._known[key] = loads(key)
        return self._known[key]
