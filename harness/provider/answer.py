"""What the provider sends back for one request, decided but not yet sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ..history import Answered
from ..scenario.model import Break
from ..wire.codec import dumps
from ..wire.errors import error_body
from ..wire.events import Event
from . import headers as head

KEPT_HEADERS = ("content-type", "request-id", "retry-after", "retry-after-ms", "x-should-retry")
"""Of the headers that are always there, those a history keeps."""


def nothing() -> None:
    """Nobody needs to know."""


class Answer(msgspec.Struct, kw_only=True):
    """A status, headers, and a body or the events of a stream; and who is to be told how it went."""

    request: int
    kind: str
    status: int = 200
    headers: dict[str, str]
    body: Any = None
    """What the history keeps: the message or the error."""
    payload: bytes = b""
    events: list[Event] | None = None
    more: Iterator[Event] | None = None
    """The events after `events`, where a stream is long: they are made while it is sent."""
    drafts: list[tuple[bytes, tuple[bytes, ...]]] | None = None
    """The same events, each encoded but for its padding, with the ends it may have."""
    step: int | None = None
    rule: str = ""
    delay: float = 0.0
    gap: float = 0.0
    waits: bool = False
    """Some of the events have a silence of their own before them."""
    pings: float = 0.0
    segment: int = 0
    """Bytes written at a time; 0: as they come."""
    point: int | None = None
    """The conversation request of its turn this answers, counted from 1; None where it does not count."""
    written: dict[str, str] = {}
    """Headers the scenario wrote."""
    breaks: list[Break] = []
    """What goes wrong while it is sent."""
    connection: str | None = None
    """What becomes of the connection in place of an answer: `close`, `reset` or `silence`."""
    delivered: Callable[[], None] = nothing
    """Called when the last byte was written,"""
    cut: Callable[[], None] = nothing
    """when the client left before,"""
    broken: Callable[[], None] = nothing
    """or when it broke off as the scenario says."""

    def when(
        self, *, delivered: Callable[[], None], cut: Callable[[], None], broken: Callable[[], None]
    ) -> None:
        """Tell these as well how it went."""
        self.delivered = _both(self.delivered, delivered)
        self.cut = _both(self.cut, cut)
        self.broken = _both(self.broken, broken)

    def event(self) -> Answered:
        """The event that says this answer is being sent."""
        return Answered(
            request=self.request,
            kind=self.kind,
            status=0 if self.connection else self.status,
            step=self.step,
            body=self.body,
            headers={
                name: self.headers[name] for name in (*KEPT_HEADERS, *self.written) if name in self.headers
            },
            stream=self.events is not None,
            rule=self.rule,
        )


def _both(first: Callable[[], None], second: Callable[[], None]) -> Callable[[], None]:
    def both() -> None:
        first()
        second()

    return both


class Failure(msgspec.Struct, kw_only=True, frozen=True):
    """An error of the API, before it has a request to answer."""

    status: int
    """The HTTP status; 0 where the connection is all that is answered with."""
    message: str | None = None
    type: str | None = None
    details: dict[str, Any] | None = None
    rule: str = ""
    headers: dict[str, str] = {}
    body: str | None = None
    """The body as it is, where it is not the API's."""
    delay: float = 0.0


def error_answer(failure: Failure, *, request: int, request_id: str, kind: str) -> Answer:
    """The answer that says `failure`."""
    body: Any = failure.body
    if body is None:
        body = error_body(
            failure.status,
            request_id=request_id,
            kind=failure.type,
            message=failure.message,
            details=failure.details,
        )
    written = {name.lower(): value for name, value in failure.headers.items()}
    headers = head.for_failure(failure.status, request_id, failure.details, failure.body)
    if written.keys() & {"retry-after", "retry-after-ms"}:
        headers.pop("retry-after", None)
    return Answer(
        request=request,
        kind=kind,
        status=failure.status,
        headers={name: value for name, value in (headers | written).items() if value},
        written=written,
        body=body,
        payload=body.encode() if isinstance(body, str) else dumps(body),
        rule=failure.rule,
        delay=failure.delay,
    )
