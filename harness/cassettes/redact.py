"""Keeping secrets out: every string of a request and a response, wherever it stands and however it is cut.

What is put in place of a secret is the same for each and is no secret itself. So a request that is compared
with a recorded one is redacted in the same way first, and two runs with different keys are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias
from urllib.parse import quote, unquote_plus, urlsplit, urlunsplit

import msgspec

from .edits import Edit, applied, in_order, literals, resized, respelled, value_of
from .fragments import data_lines, joined
from .model import Headers, Piece, Request, Response
from .secrets import (
    ACCOUNT_ID,
    ACCOUNTS,
    FIELDS,
    HEADERS,
    PARAMETERS,
    REDACTED,
    SHORTEST,
    forms,
    from_environment,
    run_around,
    spans,
)

Rule: TypeAlias = str | re.Pattern[str] | Callable[[str], str]
"""What else to redact: a regular expression, of whose matches the first group is redacted where there is one,
else all; or a function from a text to the text to keep. Both see strings of JSON one by one, and what a
stream says in fragments as a whole."""

_USER = re.compile(r'"metadata"\s*:\s*\{\s*$')
_LONGEST_WORD = 16_384
_SCHEMES = re.compile(r"(?i:bearer|basic|token)\s+")


class RuleError(ValueError):
    """A function of the user did not redact. The message does not say what it was given."""


class Redactor:
    """Redacts requests and responses. Keys it has met once are looked for everywhere from then on."""

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        secrets: Iterable[str] = (),
        known: dict[str, str] | None = None,
    ) -> None:
        """`secrets` are values; `known` maps others to their names, by default those of the environment."""
        rules = list(rules)
        self._patterns = [
            re.compile(rule) if isinstance(rule, str) else rule for rule in rules if not callable(rule)
        ]
        self._functions = [rule for rule in rules if callable(rule)]
        self.known: dict[str, str] = {}
        self._forms: dict[str, bool] = {}
        for secret in secrets:
            self.learn(secret, "a configured secret")
        for secret, name in (from_environment() if known is None else known).items():
            self.learn(secret, name)

    @property
    def has_rules(self) -> bool:
        """Whether the user has any."""
        return bool(self._patterns or self._functions)

    def learn(self, secret: str, name: str) -> bool:
        """Look for this value from now on; `name` is what it is called. False where it is known or empty."""
        if not secret or secret in self.known or secret == REDACTED:
            return False
        self.known[secret] = name
        for number, form in enumerate(forms(secret)):
            self._forms.setdefault(form, number > 0)
        return True

    def learn_from(self, headers: Headers) -> bool:
        """Learn the secrets that headers hold; True where there was a new one."""
        new = False
        for name, value in headers:
            if HEADERS.search(name):
                for secret in _secrets_in(name.lower(), value):
                    new |= self.learn(secret, f"the value of the header {name}")
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
        return applied(text, in_order(self._edits(text)))

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
        kind = next((value for name, value in headers if name.lower() == "content-type"), "")
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
            for start, end in data_lines(text):
                yield from self._json_edits(text, start, end)
            for part in joined(text):
                yield from part.edits(self._edits(part.text, partial=True))
                if part.field == "partial_json":
                    yield from part.edits(in_order(self._json_edits(part.text, 0, len(part.text))))
        elif text.lstrip()[:1] in ("{", "["):
            yield from self._json_edits(text, 0, len(text))
        elif "x-www-form-urlencoded" in kind:
            place = 0
            for written in text.split("&"):
                if (kept := self._parameter(written)) != written:
                    yield Edit(place, place + len(written), kept)
                place += len(written) + 1
        else:
            yield from self._edits(text)

    def _json_edits(self, text: str, start: int, end: int) -> Iterator[Edit]:
        """Edits of the strings in JSON that may be cut off."""
        if not self._may_hold(text[start:end]):
            return
        for literal in literals(text, start, end):
            value, starts = value_of(text[literal.start : literal.end])
            if self._is_secret(literal.key, value, text, literal.key_start):
                yield Edit(literal.start, literal.end, REDACTED)
            else:
                yield from respelled(in_order(self._value_edits(value)), starts, literal.start)

    def _value_edits(self, value: str) -> Iterator[Edit]:
        """Edits of a string in JSON, which may be JSON again: what a tool returned, for one."""
        yield from self._edits(value)
        if value.lstrip()[:1] in ("{", "[") or "\\" in value:
            yield from in_order(self._json_edits(value, 0, len(value)))

    def _is_secret(self, key: str | None, value: str, text: str, key_start: int) -> bool:
        """Whether a string is one because of the field it is the value of."""
        if key is None or not value or value == REDACTED:
            return False
        if key == "user_id":
            return _USER.search(text, max(0, key_start - 40), key_start) is not None
        return bool(FIELDS.fullmatch(key) or (ACCOUNTS.fullmatch(key) and ACCOUNT_ID.fullmatch(value)))

    def _may_hold(self, json: str) -> bool:
        """Whether a closer look at the strings in JSON is worth it. Rules of the user may find anything."""
        return bool(
            self._functions
            or self._patterns
            or any(form in json for form in self._forms)
            or "\\/" in json
            or "\\u00" in json
            or _has_named_field(json)
            or next(spans(json, loosely=True), None)
        )

    def _edits(self, text: str, *, partial: bool = False) -> Iterator[Edit]:
        """Where the secrets of one text are. `partial`: it may end in the middle of one."""
        if not text:
            return
        for form, encoded in self._forms.items():
            yield from _found(text, form, encoded=encoded)
        if partial:
            yield from self._cut_off(text)
        for start, end in spans(text):
            if text[start:end] != REDACTED:
                yield Edit(start, end, REDACTED)
        for pattern in self._patterns:
            for match in pattern.finditer(text):
                start, end = match.span(1) if pattern.groups and match[1] is not None else match.span()
                if text[start:end] != REDACTED:
                    yield Edit(start, end, REDACTED)
        kept = text
        for function in self._functions:
            kept = _kept_by(function, kept)
        if kept != text:
            yield _difference(text, kept)

    def _cut_off(self, text: str) -> Iterator[Edit]:
        """The beginning of a known secret at the end of a text that broke off."""
        for secret in self.known:
            for size in range(min(len(secret) - 1, len(text)), SHORTEST // 2, -1):
                if text.endswith(secret[:size]):
                    yield Edit(len(text) - size, len(text), REDACTED)
                    break


_NAMED = re.compile(rf'"(?:{FIELDS.pattern}|{ACCOUNTS.pattern}|user_id)"\s*:', re.IGNORECASE)
_PARTS_OF_NAMES = (
    *('key"', 'token"', 'secret"', 'password"', 'passwd"', 'cookie"', 'authorization"'),
    *(
        "organi",
        "org_id",
        "org-id",
        "orgid",
        "orguuid",
        "org_uuid",
        "org-uuid",
        "workspace",
        "account",
        "user_id",
    ),
)


def _has_named_field(json: str) -> bool:
    """Whether JSON has a field whose text is not kept."""
    lowered = json.lower()
    return any(part in lowered for part in _PARTS_OF_NAMES) and _NAMED.search(json) is not None


def _kept_by(function: Callable[[str], str], text: str) -> str:
    try:
        kept = function(text)
    except Exception as error:
        raise RuleError(_about(function, f"raised {type(error).__name__}")) from error
    if not isinstance(kept, str):
        raise RuleError(_about(function, f"returned {type(kept).__name__}, not the text to keep"))
    return kept


def _about(function: Callable[[str], str], what: str) -> str:
    return f"the function {getattr(function, '__qualname__', repr(function))} to redact by {what}"


def _found(text: str, form: str, *, encoded: bool) -> Iterator[Edit]:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if encoded:
            begin, until = run_around(text, start, end)
            start, end = (begin, until) if until - begin <= _LONGEST_WORD else (start, end)
        yield Edit(start, end, REDACTED)
        start = text.find(form, end)


def _difference(text: str, kept: str) -> Edit:
    """What a function changed, as one edit: from the first character that differs to the last."""
    start = _shared(text, kept)
    most = min(len(text), len(kept)) - start
    same = min(_shared(text[::-1], kept[::-1]), most)
    return Edit(start, len(text) - same, kept[start : len(kept) - same])


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _secrets_in(name: str, value: str) -> Iterator[str]:
    """The secrets in the value of a header whose values are secret."""
    parts = [value]
    if "cookie" in name:
        pairs = value.split(";")[:1] if name == "set-cookie" else value.split(";")
        parts = [pair.partition("=")[2].strip() for pair in pairs]
    elif found := _SCHEMES.match(value):
        parts = [value[found.end() :].strip()]
    yield from (part for part in parts if len(part) >= SHORTEST)
