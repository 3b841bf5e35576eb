"""Which recorded interaction answers a request: equal method, address and body, each played once, in order.

Bodies are compared as JSON, whatever the order of keys and the spelling of numbers, without the fields that
are told to be ignored; where that finds nothing, without secrets on both sides; and where one of them is part
of a message thread, by what the model would read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from ..wire.codec import NotJsonError, canonical, dumps, loads
from ..wire.same import canonical as same_numbers
from ..wire.same import pieces
from .model import Cassette, Headers, Interaction
from .redact import Redactor
from .threads import Threads, is_threaded

IGNORED = ("metadata.user_id",)
"""Fields that say who asked, not what."""

Place: TypeAlias = tuple[str, str, tuple[tuple[str, str], ...]]

MOST_RIVALS = 8
"""A conversation grows with every request, so what comes near to one has about its size."""

_VERSION = re.compile(r"/v\d+/")


class Path(tuple[str, ...]):
    """Fields of a body: `metadata.user_id`, `messages.*.content.*.cache_control`."""

    __slots__ = ()

    @classmethod
    def of(cls, text: str) -> Path:
        """Raises `ValueError` for what is no path."""
        parts = text.split(".")
        if not all(part.strip() for part in parts):
            raise ValueError(f"{text!r} is no path of fields; write metadata.user_id or messages.*.content")
        return cls(parts)


class Kept:
    """A recorded interaction that may be played, and what it is found by."""

    def __init__(self, number: int, interaction: Interaction) -> None:
        self.number = number
        """From 1, in the order of the file."""
        self.interaction = interaction
        self.played = False
        self.place: Place | None = None
        self.keys: dict[bool, bytes] = {}
        """Equal for requests that are the same: as they are, and redacted."""

    @property
    def begins(self) -> float | None:
        """Seconds at which it was asked."""
        return self.interaction.asked_at

    @property
    def ends(self) -> float:
        """Seconds at which its answer was over."""
        response = self.interaction.response
        last = response.pieces[-1].at if response.pieces else 0.0
        return (self.begins or 0.0) + (response.head_at or 0.0) + last

    def is_before(self, other: Kept) -> bool:
        """Whether this one was over before the other was asked. Without times, the file's order tells."""
        if self.begins is None or other.begins is None:
            return self.number < other.number
        return self.ends <= other.begins


class Shelf:
    """The interactions of a cassette, to be taken one by one."""

    def __init__(
        self, cassette: Cassette, ignore: Iterable[str] = (), redactor: Redactor | None = None
    ) -> None:
        """Raises `ValueError` for a path to ignore that is none."""
        self.kept = [Kept(number, one) for number, one in enumerate(cassette.interactions, start=1)]
        self._ignored = [Path.of(path) for path in (*IGNORED, *ignore)]
        self._redactor = redactor or Redactor()
        self._clean = cassette.secrets_checked and not self._redactor.has_rules
        """Redacting what was recorded would change nothing."""
        self._threads = Threads(cassette)

    def take(self, method: str, uri: str, headers: Headers, body: bytes) -> Kept | None:
        """The first interaction that is left and has this request; it counts as played then."""
        found = self._find(method, uri, headers, body, played=False)
        if found is not None:
            found.played = True
            if is_threaded(body):
                self._threads.answered(body, found.number)
        return found

    def played(self, method: str, uri: str, headers: Headers, body: bytes) -> Kept | None:
        """One with this request that was played already."""
        return self._find(method, uri, headers, body, played=True)

    def rivals(self, method: str, uri: str, body: bytes) -> list[Kept]:
        """Of those left that have this method and address, the next one and some of about this size."""
        place = self._place(method, uri)
        left = [one for one in self.kept if not one.played and self._place_of(one) == place]
        alike = sorted(left[1:], key=lambda one: abs(len(one.interaction.request.body) - len(body)))
        return left[:1] + alike[:MOST_RIVALS]

    def missed(self, taken: Kept) -> list[Kept]:
        """Those that should have been played before this one."""
        return [one for one in self.kept if not one.played and one.is_before(taken)]

    @property
    def left(self) -> list[Kept]:
        """Those not played yet."""
        return [one for one in self.kept if not one.played]

    def bare(self, body: bytes, headers: Headers, *, redacted: bool) -> Any:
        """A body as it is compared."""
        data = self._redactor.body(body, headers) if redacted else body
        try:
            value = loads(data) if data else None
        except NotJsonError:
            return data
        return same_numbers(without(value, self._ignored))

    def readable(self, body: bytes, headers: Headers, one: Kept | None = None) -> Any:
        """A body as it is shown, that of `one` where it was recorded: with what its thread stands for."""
        if self._threads.any or is_threaded(body):
            whole = self._threads.recorded(one.number) if one else self._threads.asked(body)
            body = dumps(whole) if whole else body
        return self.bare(body, headers, redacted=True)

    def _find(self, method: str, uri: str, headers: Headers, body: bytes, *, played: bool) -> Kept | None:
        place = self._place(method, uri)
        rivals = [one for one in self.kept if one.played is played and self._place_of(one) == place]
        for redacted in (False, True) if rivals else ():
            wanted = self._key(body, headers, redacted=redacted)
            for one in rivals:
                if self._key_of(one, redacted=redacted and not self._clean) == wanted:
                    return one
        return self._find_by_thread(rivals, headers, body)

    def _find_by_thread(self, rivals: list[Kept], headers: Headers, body: bytes) -> Kept | None:
        """One with which the model would read the same, where that is not the same request."""
        if not rivals or not (self._threads.any or is_threaded(body)):
            return None
        asked = self._threads.asked(body)
        wanted = self._reading(asked, headers) if asked else None
        for one in rivals if wanted else ():
            recorded = self._threads.recorded(one.number)
            if recorded and self._reading(recorded, one.interaction.request.headers) == wanted:
                return one
        return None

    def _reading(self, whole: dict[str, Any], headers: Headers) -> bytes:
        """The same for what the model reads as the same."""
        bare = self.bare(dumps(whole), headers, redacted=True)
        said = pieces(bare.pop("messages", None) or [])
        return b"\n".join([canonical(bare), *(piece.key for piece in said)])

    def _key_of(self, one: Kept, *, redacted: bool) -> bytes:
        if redacted not in one.keys:
            asked = one.interaction.request
            one.keys[redacted] = self._key(asked.body, asked.headers, redacted=redacted)
        return one.keys[redacted]

    def _place(self, method: str, uri: str) -> Place:
        return place_of(method, self._redactor.uri(uri))

    def _place_of(self, one: Kept) -> Place:
        if one.place is None:
            request = one.interaction.request
            one.place = self._place(request.method, request.uri)
        return one.place

    def _key(self, body: bytes, headers: Headers, *, redacted: bool) -> bytes:
        bare = self.bare(body, headers, redacted=redacted)
        data = bare if isinstance(bare, bytes) else canonical(bare)
        return hashlib.blake2b(data, digest_size=16).digest()


def place_of(method: str, uri: str) -> Place:
    """Method, the API's own path, parameters: the same wherever the API is served, and by which gateway."""
    parts = urlsplit(uri)
    starts = [found.start() for found in _VERSION.finditer(parts.path)]
    path = parts.path[starts[-1] :] if starts else parts.path or "/"
    # Older clients ask for beta features by this as well; the header says which.
    query = sorted(
        pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair != ("beta", "true")
    )
    return method.upper(), path, tuple(query)


def without(value: Any, paths: Iterable[Path]) -> Any:
    """A JSON value without some of its fields."""
    for path in paths:
        value = _without(value, path)
    return value


def _without(value: Any, path: tuple[str, ...]) -> Any:
    name, rest = path[0], path[1:]
    if isinstance(value, list):
        return [_without(part, rest) for part in value] if name == "*" and rest else value
    if not isinstance(value, dict) or (name != "*" and name not in value):
        return value
    kept = {}
    for key, part in value.items():
        if name not in (key, "*"):
            kept[key] = part
        elif rest:
            kept[key] = _without(part, rest)
    return kept
