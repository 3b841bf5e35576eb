"""Keeping secrets out: every string of a request and a response, wherever it stands and however it is cut.

What is put in place of a secret is the same for each and is no secret itself. So a request that is compared
with a recorded one is redacted in the same way first, and two runs with different keys are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, urlsplit, urlunsplit

import msgspec

from .edits import Edit, applied, in_order, resized
from .model import Headers, Piece, Request, Response, header
from .search import Rule, Search
from .secrets import HEADERS, PARAMETERS, REDACTED, SHORTEST, from_environment

_SCHEMES = re.compile(r"(?i:bearer|basic|token)\s+")


class Redactor:
    """Redacts requests and responses. Keys it has met once are looked for everywhere from then on."""

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        secrets: Iterable[str] = (),
        known: dict[str, str] | None = None,
    ) -> None:
        """`secrets` are values; `known` maps others to their names, by default those of the environment."""
        self._search = Search(rules)
        self.known = self._search.known
        """Secrets that are looked for, and what a message may call them."""
        self.has_rules = self._search.has_rules
        """Whether the user has any rules."""
        for secret in secrets:
            self._search.learn(secret, "a configured secret")
        for secret, name in (from_environment() if known is None else known).items():
            self._search.learn(secret, name)

    def learn_from(self, headers: Headers, uri: str = "") -> bool:
        """Learn the secrets that headers and an address hold; True where there was a new one."""
        new = False
        for name, secret in _secrets_of(uri):
            new |= self._search.learn(secret, name)
        for name, value in headers:
            if HEADERS.search(name):
                for secret in _secrets_in(name.lower(), value):
                    new |= self._search.learn(secret, f"the value of the header {name}")
        return new

    def request(self, request: Request) -> Request:
        """The request as it may be kept."""
        body, _ = self._body(request.body, request.headers, [])
        headers = self._headers(request.headers, len(body) if body != request.body else None)
        return msgspec.structs.replace(request, uri=self.uri(request.uri), headers=headers, body=body)

    def response(self, response: Response) -> Response:
        """The response as it may be kept, its pieces in the sizes they have then."""
        body, pieces = self._body(response.body, response.headers, response.pieces)
        headers = self._headers(response.headers, len(body) if body != response.body else None)
        return msgspec.structs.replace(response, headers=headers, body=body, pieces=pieces)

    def body(self, body: bytes, headers: Headers) -> bytes:
        """A body as it may be kept."""
        return self._body(body, headers, [])[0]

    def uri(self, uri: str) -> str:
        """An address without what its parameters and its user tell."""
        parts = urlsplit(uri)
        place = f"{REDACTED}@{parts.netloc.rpartition('@')[2]}" if "@" in parts.netloc else parts.netloc
        query = "&".join(map(self._parameter, parts.query.split("&"))) if parts.query else ""
        return urlunsplit(parts._replace(netloc=place, path=self.text(parts.path), query=query))

    def text(self, text: str) -> str:
        """A text without the secrets in it."""
        return applied(text, in_order(self._search.in_text(text)))

    def places(self, text: str) -> list[tuple[int, int]]:
        """Where the secrets in a text begin and end."""
        return [(edit.start, edit.end) for edit in in_order(self._search.in_text(text))]

    def _parameter(self, written: str) -> str:
        name, equals, value = written.partition("=")
        if equals and value and PARAMETERS.fullmatch(unquote_plus(name)):
            return f"{name}={REDACTED}"
        plain = unquote_plus(value)
        kept = self.text(plain)
        return written if kept == plain else f"{name}={quote(kept)}"

    def _headers(self, headers: Headers, size: int | None) -> Headers:
        found = []
        for name, value in headers:
            if size is not None and name.lower() == "content-length":
                found.append((name, str(size)))
            else:
                found.append((name, REDACTED if HEADERS.search(name) else self.text(value)))
        return found

    def _body(self, body: bytes, headers: Headers, pieces: list[Piece]) -> tuple[bytes, list[Piece]]:
        text = body.decode("utf-8", "surrogateescape")
        kind = header(headers, "content-type")
        edits = in_order(self._body_edits(text, kind.lower()))
        if not edits:
            return body, pieces
        sizes = resized([piece.size for piece in pieces], text, edits)
        return (
            applied(text, edits).encode("utf-8", "surrogateescape"),
            [Piece(piece.at, size) for piece, size in zip(pieces, sizes, strict=True)],
        )

    def _body_edits(self, text: str, kind: str) -> Iterator[Edit]:
        if "event-stream" in kind:
            yield from self._search.in_stream(text)
        elif text.lstrip()[:1] in ("{", "["):
            yield from self._search.in_json(text, 0, len(text))
        elif "x-www-form-urlencoded" in kind:
            place = 0
            for written in text.split("&"):
                if (kept := self._parameter(written)) != written:
                    yield Edit(place, place + len(written), kept)
                place += len(written) + 1
        else:
            yield from self._search.in_text(text)


def _secrets_of(uri: str) -> Iterator[tuple[str, str]]:
    """The secrets in an address, each after what a message may call it."""
    parts = urlsplit(uri)
    password = unquote(parts.netloc.rpartition("@")[0].partition(":")[2])
    if _is_unmistakable(password):
        yield "the password in the address", password
    for name, value in parse_qsl(parts.query):
        if PARAMETERS.fullmatch(name) and _is_unmistakable(value):
            yield f"the parameter {name} of the address", value


def _secrets_in(name: str, value: str) -> Iterator[str]:
    """The secrets in the value of a header whose values are secret."""
    parts = [value]
    if "cookie" in name:
        pairs = value.split(";")[:1] if name == "set-cookie" else value.split(";")
        parts = [pair.partition("=")[2].strip() for pair in pairs]
    elif found := _SCHEMES.match(value):
        parts = [value[found.end() :].strip()]
    yield from (part for part in parts if _is_unmistakable(part))


def _is_unmistakable(value: str) -> bool:
    """Whether a value may be looked for everywhere; "professional" is no secret, whatever header it is in."""
    short = len(value) < SHORTEST or (len(value) < 16 and not any(map(str.isdigit, value)))
    return not short and not any(map(str.isspace, value))
