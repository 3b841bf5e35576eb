"""A cassette played to a client: what answers each request, and what was not as it was recorded."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from ..wire.codec import dumps
from ..wire.errors import error_body
from .differing import common, difference_of
from .matching import Kept, Shelf
from .model import Cassette, Headers, Interaction, Request, Response
from .redact import Redactor
from .search import RuleError

MOST_FINDINGS = 100


class Finding(msgspec.Struct, frozen=True):
    """Something that was not as it was recorded."""

    kind: Literal["mismatch", "again", "order", "leftover"]
    """A request that was not recorded; one that was played already; one that came before its time; an
    interaction that nobody asked for."""
    message: str
    """What, and where in the cassette."""


class Player:
    """Answers requests from a cassette; `findings` grows as it goes on.

    `ignore` are paths of fields that need not be equal. With `any_order`, requests may come as they like.
    """

    def __init__(
        self,
        cassette: Cassette,
        *,
        ignore: Iterable[str] = (),
        redactor: Redactor | None = None,
        any_order: bool = False,
    ) -> None:
        """Raises `ValueError` for a path to ignore that is none."""
        self.findings: list[Finding] = []
        self.more = 0
        """Findings that are not kept, since there are enough."""
        self.path = cassette.path
        self.hosts = {urlsplit(one.request.uri).hostname for one in cassette.interactions}
        self._any_order = any_order
        self._redactor = redactor or Redactor()
        self._shelf = Shelf(cassette, ignore, self._redactor)
        self._finished = False
        self._lock = threading.Lock()

    @property
    def played(self) -> int:
        """Interactions played so far."""
        return len(self._shelf.kept) - len(self._shelf.left)

    def ask(self, method: str, uri: str, headers: Headers, body: bytes) -> Interaction:
        """The interaction that answers a request; one made up of the finding where there is none.

        It may be called from several threads.
        """
        with self._lock:
            try:
                return self._answer(method, uri, headers, body)
            except RuleError as error:
                told = self._find("mismatch", f"{method} cannot be compared: {error}")
                return _refusal(told, Request(method=method, uri=uri, headers=headers, body=body))

    def _answer(self, method: str, uri: str, headers: Headers, body: bytes) -> Interaction:
        self._redactor.learn_from(headers, uri)
        taken = self._shelf.take(method, uri, headers, body)
        if taken is None:
            return self._unknown(method, uri, headers, body)
        if not self._any_order and (missed := self._shelf.missed(taken)):
            self._find(
                "order",
                f"{self._at(taken)} was asked for before {self._at(missed[0])}, which was recorded before it",
            )
        return taken.interaction

    def finish(self) -> list[Finding]:
        """All findings, those left over among them."""
        if not self._finished:
            self._finished = True
            for one in self._shelf.left:
                request = one.interaction.request
                where = request.uri.partition("?")[0].rpartition("@")[2]
                self._find("leftover", f"{self._at(one)} was never asked for: {request.method} {where}")
        return self.findings

    def _unknown(self, method: str, uri: str, headers: Headers, body: bytes) -> Interaction:
        address = f"{method} {self._redactor.uri(uri)}"
        again = self._shelf.played(method, uri, headers, body)
        if again is not None:
            told = self._find("again", f"{address} was asked once more; {self._at(again)} was played already")
        else:
            told = self._find(
                "mismatch", f"{address} is not what was recorded. {self._nearest(method, uri, headers, body)}"
            )
        return _refusal(told, Request(method=method, uri=uri, headers=headers, body=body))

    def _nearest(self, method: str, uri: str, headers: Headers, body: bytes) -> str:
        """The interaction that comes nearest to a request, and where they differ."""
        rivals = self._shelf.rivals(method, uri, body)
        if not rivals:
            total = len(self._shelf.kept)
            return f"{self.path} has nothing left for this address ({self.played} of {total} are played)."
        asked = self._shelf.readable(body, headers)
        recorded = [self._bare(one) for one in rivals]
        shared = [common(each, asked) for each in recorded]
        best = max(range(len(rivals)), key=lambda place: (shared[place], -place))
        differs = difference_of(recorded[best], asked)
        return f"The nearest is {self._at(rivals[best])}.\n{differs}"

    def _bare(self, one: Kept) -> object:
        request = one.interaction.request
        return self._shelf.readable(request.body, request.headers, one)

    def _at(self, one: Kept) -> str:
        return f"{self.path}:{one.interaction.line} (interaction {one.number})"

    def _find(self, kind: Literal["mismatch", "again", "order", "leftover"], message: str) -> str:
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(Finding(kind, message))
        else:
            self.more += 1
        return message


def _refusal(message: str, request: Request) -> Interaction:
    """The answer where there is none: an error that no client tries to get past."""
    body = error_body(
        400, request_id="req_none", kind="invalid_request_error", message=f"loop-harness: {message}"
    )
    headers = [("content-type", "application/json"), ("x-should-retry", "false")]
    return Interaction(
        request=request,
        response=Response(status=400, reason="Bad Request", headers=headers, body=dumps(body)),
    )
