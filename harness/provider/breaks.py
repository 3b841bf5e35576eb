"""Where in the bytes of a body the breaks of a scripted reply happen. No sockets, no clock.

Every place becomes an offset: a count of bytes of the body, chunks aside. Breaks happen in the order in which
they are written, so one that names an earlier place than its predecessor happens right after it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..scenario.model import Break
from ..scenario.places import Place, parse_place
from ..wire.blocks import CALLS
from ..wire.codec import dumps
from ..wire.errors import TEXTS, error_type, status_of, stream_error
from ..wire.events import Event

GARBAGE = (
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_de\n\n'
)
"""Half an event, as if the other half had been lost."""


class Mishap(msgspec.Struct, frozen=True):
    """A break and the offset it happens at; None after everything, the end of the body included."""

    offset: int | None
    what: Break


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """A body as it would be sent: in one piece, or an event a piece."""

    pieces: Sequence[bytes]
    events: Sequence[Event] | None = None
    """What the pieces are of a stream; None for a whole body."""
    message: dict[str, object] = {}
    """The message the body carries."""

    @property
    def size(self) -> int:
        """Its bytes."""
        return sum(map(len, self.pieces))


def mishaps(breaks: Sequence[Break], body: Body) -> list[Mishap]:
    """The breaks with their offsets, in order. A place that does not exist is the end of the body."""
    found: list[Mishap] = []
    least = 0
    for each in breaks:
        if each.at == "done":
            found.append(Mishap(None, each))
            break
        least = max(least, offset_of(each.at, body))
        found.append(Mishap(least, each))
    return found


def offset_of(at: str, body: Body) -> int:
    """The bytes of the body before the place named `at`."""
    place = parse_place(at)
    size = body.size
    if place is None or at == "end":
        return size
    match place.fixed:
        case "head":
            return 0
        case "inside character":
            return _inside_character(b"".join(body.pieces))
        case "inside tool json":
            return _inside_json(body)
    if place.byte:
        return min(place.byte, size)
    return _of_event(place, body)


def _of_event(place: Place, body: Body) -> int:
    if body.events is None:
        return body.size // 2
    before = count = 0
    for event, piece in zip(body.events, body.pieces, strict=True):
        count += place.event in ("", event.name)
        if count == place.number and place.event in ("", event.name):
            return before + (len(piece) // 2 if place.inside else len(piece))
        before += len(piece)
    return before


def _inside_character(data: bytes) -> int:
    """After the first byte of the first character that has several."""
    return next((place + 1 for place, byte in enumerate(data) if byte >= 0xC0), len(data))


def _inside_json(body: Body) -> int:
    """In a stream after the event with which about half of the last call's input has been sent."""
    if body.events is None:
        return _inside_input(body)
    ends: list[int] = []
    index: object = None
    before = 0
    for event, piece in zip(body.events, body.pieces, strict=True):
        before += len(piece)
        delta = event.data.get("delta")
        if isinstance(delta, dict) and delta.get("type") == "input_json_delta":
            if event.data.get("index") != index:
                index, ends = event.data.get("index"), []
            ends.append(before)
    # The first one of a call is always empty.
    return ends[len(ends) // 2] if len(ends) > 2 else ends[-1] if ends else before


def _inside_input(body: Body) -> int:
    data = b"".join(body.pieces)
    content = body.message.get("content")
    blocks = content if isinstance(content, list) else []
    calls = [block for block in blocks if isinstance(block, dict) and block.get("type") in CALLS]
    written = dumps(calls[-1].get("input")) if calls else b""
    start = data.rfind(written)
    return start + len(written) // 2 if written and start >= 0 else len(data) // 2


def error_event(what: Break, request_id: str) -> Event:
    """The `error` event of a break."""
    kind, message = error_of(what)
    data = stream_error(kind, message, request_id)
    data["error"] |= what.error
    return Event("error", data)


def error_of(what: Break) -> tuple[str, str]:
    """Type and text of the error a break says."""
    kind = str(what.error.get("type", error_type(529)))
    return kind, str(what.error.get("message", TEXTS.get(status_of(kind), TEXTS[500])))
