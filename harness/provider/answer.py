"""What the provider sends back for one request, decided but not yet sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..history import Answered
from ..wire.codec import dumps
from ..wire.errors import NOT_RETRYABLE, error_body
from ..wire.events import Event
from . import headers as head

KEPT_HEADERS = frozenset({"request-id", "retry-after", "retry-after-ms", "x-should-retry", "content-type"})
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
    step: int | None = None
    rule: str = ""
    delay: float = 0.0
    gap: float = 0.0
    pings: float = 0.0
    point: int | None = None
    """The conversation request of its turn this answers, counted from 1; None where it does not count."""
    written: dict[str, str] = {}
    """Headers the scenario wrote."""
    delivered: Callable[[], None] = nothing
    cut: Callable[[], None] = nothing

    def when(self, *, delivered: Callable[[], None], cut: Callable[[], None]) -> None:
        """Tell these as well how it went."""
        self.delivered = _both(self.delivered, delivered)
        self.cut = _both(self.cut, cut)

    def event(self) -> Answered:
        """The event that says this answer is being sent."""
        return Answered(
            request=self.request,
            kind=self.kind,
            status=self.status,
            step=self.step,
            body=self.body,
            headers={k: v for k, v in self.headers.items() if k in KEPT_HEADERS or k in self.written},
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
    body: Any = error_body(
        failure.status,
        request_id=request_id,
        kind=failure.type,
        message=failure.message,
        details=failure.details,
    )
    if failure.body is not None:
        body = failure.body
    retryable = failure.status not in NOT_RETRYABLE
    written = {name.lower(): value for name, value in failure.headers.items()}
    return Answer(
        request=request,
        kind=kind,
        status=failure.status,
        headers=head.for_error(request_id, retryable=retryable) | written,
        written=written,
        body=body,
        payload=body.encode() if isinstance(body, str) else dumps(body),
        rule=failure.rule,
        delay=failure.delay,
    )
