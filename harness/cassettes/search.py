"""Finding secrets in texts, in the strings of JSON, and in what a stream says in fragments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from .edits import Edit, in_order, literals, respelled, unescaped, value_of
from .fragments import data_lines, joined
from .secrets import ACCOUNT_ID, ACCOUNTS, FIELDS, REDACTED, SHORTEST, forms, run_around, spans

Rule: TypeAlias = str | re.Pattern[str] | Callable[[str], str]
"""What else to redact: a regular expression, of whose matches the first group is redacted where there is one,
else all; or a function from a text to the text to keep. Both see strings of JSON one by one, and what a
stream says in fragments as a whole."""

_USER = re.compile(r'"metadata"\s*:\s*\{\s*$')
_LONGEST_WORD = 16_384
"""Characters of a word that is replaced as a whole because a secret is encoded in it."""
_DEEPEST = 4
"""JSON in a string of JSON in a string of JSON …"""


class RuleError(ValueError):
    """A function of the user did not redact. The message does not say what it was given."""


class Search:
    """What is looked for, beside what looks like a secret: rules of the user, and values that are known."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        rules = list(rules)
        self._patterns = [
            re.compile(rule) if isinstance(rule, str) else rule for rule in rules if not callable(rule)
        ]
        self._functions = [rule for rule in rules if callable(rule)]
        self.known: dict[str, str] = {}
        """Secrets, and what a message may call them."""
        self._forms: dict[str, bool] = {}

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

    def in_stream(self, body: str) -> Iterator[Edit]:
        """Where secrets are in a stream of events, also in several."""
        for start, end in data_lines(body):
            yield from self.in_json(body, start, end)
        for part in joined(body):
            yield from part.edits(self.in_text(part.text, partial=True))
            if part.field == "partial_json":
                yield from part.edits(in_order(self.in_json(part.text, 0, len(part.text))))

    def in_json(self, text: str, start: int, end: int, depth: int = 0) -> Iterator[Edit]:
        """Where secrets are in the strings of JSON, which may be cut off; `depth`: in how many strings."""
        if not self._may_hold(text[start:end]):
            return
        for literal in literals(text, start, end):
            spelled = text[literal.start : literal.end]
            value = unescaped(spelled)
            if self._is_secret(literal.key, value, text, literal.key_start):
                yield Edit(literal.start, literal.end, REDACTED)
            elif edits := in_order(self._value_edits(value, depth)):
                yield from respelled(edits, value_of(spelled)[1], literal.start)

    def _value_edits(self, value: str, depth: int) -> Iterator[Edit]:
        """Edits of a string in JSON, which may be JSON again: what a tool returned, for one."""
        yield from self.in_text(value)
        if depth < _DEEPEST and (value.lstrip()[:1] in ("{", "[") or "\\" in value):
            yield from in_order(self.in_json(value, 0, len(value), depth + 1))

    def _is_secret(self, key: str | None, value: str, text: str, key_start: int) -> bool:
        """Whether a string is one because of the field it is the value of."""
        if key is None or not value or value == REDACTED:
            return False
        if key == "user_id":
            return _USER.search(text, max(0, key_start - 40), key_start) is not None
        return bool(FIELDS.fullmatch(key) or (ACCOUNTS.fullmatch(key) and ACCOUNT_ID.fullmatch(value)))

    def _may_hold(self, json: str) -> bool:
        """Whether a closer look at the strings in JSON is worth it. Rules of the user may find anything."""
        if self._functions or self._patterns:
            return True
        for _ in range(_DEEPEST):
            if self._seen_in(json):
                return True
            if "\\" not in json:
                return False
            json = unescaped(json)
        return self._seen_in(json)

    def _seen_in(self, text: str) -> bool:
        return bool(
            any(form in text for form in self._forms)
            or _has_named_field(text)
            or next(spans(text, loosely=True), None)
        )

    def in_text(self, text: str, *, partial: bool = False) -> Iterator[Edit]:
        """Where secrets are in one text. `partial`: it may end in the middle of one."""
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
