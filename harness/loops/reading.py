"""An answer of a service, read as its client would: where the text is, and what stands beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..looks import Mark, look_of, marks_of
from .driver import DriverError
from .resolve import nearest

KINDS = ("text", "json", "sse")
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+|\*)\]")
_BLANK = rb"(?:\r\n|\n|\r(?!\n)){2}"
_EVENT, _END = re.compile(_BLANK), re.compile(_BLANK + rb"\Z")
_CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
_LINE = re.compile(r"\r\n|\n|\r")
"""Nothing else ends a line: the characters by which Python ends one too may stand in an answer's text."""
STREAM = "text/event-stream"
DONE = ("done", "[DONE]")
"""What ends a stream whose connection stays open: the name of an event, its data, or its `type`."""
TAIL = 65_536
"""Bytes in which the last event is looked for."""
End: TypeAlias = Literal["whole", "cut", "open"]
"""The answer came to its end, as HTTP has it; it broke off; or its last event said that it is over, and the
connection stayed open."""
HOW = "write text, json:$.reply, or sse:$.text"


@dataclass(frozen=True)
class AnswerAt:
    """Where in an answer the text is."""

    kind: str
    """`text`, `json`, `sse`; empty where nobody said."""
    path: tuple[str, ...] = ()
    """Names of fields, and `[]` for an item of a list. Empty: the whole."""

    @property
    def place(self) -> str:
        """As the marks of a look name it."""
        return "$" + "".join(step if step == "[]" else f".{step}" for step in self.path)

    def of(self, value: Any) -> list[str]:
        """The texts in a JSON value."""
        found = [value]
        for step in self.path:
            found = [inner for each in found for inner in _step(each, step)]
        return [text for text in found if isinstance(text, str)]


@dataclass(frozen=True)
class Read:
    """What a client got."""

    text: str | None
    """None where nobody said where it stands."""
    look: list[Mark]


def parse_answer(written: str | None) -> AnswerAt:
    """Where `--answer` says that the text is. Raises `DriverError`."""
    if written is None:
        return AnswerAt("")
    kind, colon, path = written.partition(":")
    if kind not in KINDS:
        raise DriverError(f"--answer {written}: there is no {kind!r}{nearest(kind, KINDS)}; {HOW}")
    if kind == "text" and colon:
        raise DriverError("--answer text: it is the whole body, and has no path")
    return AnswerAt(kind, _path(path) if path else ())


def _path(written: str) -> tuple[str, ...]:
    rest = written.removeprefix("$")
    steps = list(_STEP.finditer(rest))
    if "".join(step[0] for step in steps) != rest:
        raise DriverError(f"--answer: {written!r} is no path; {HOW}")
    return tuple("[]" if step[2] else step[1] for step in steps)


def _step(value: Any, step: str) -> list[Any]:
    if step == "[]":
        return value if isinstance(value, list) else []
    return [value[step]] if isinstance(value, dict) and step in value else []


def read(at: AnswerAt, status: int, headers: Mapping[str, str], body: bytes, end: End) -> Read:
    """Read an answer."""
    kind = kind_of(headers)
    marks: list[Mark] = [("status", str(status)), ("type", kind), ("end", end)]
    hidden = frozenset([at.place])
    texts: list[str] = []
    lines = False
    if at.kind == "sse" or (not at.kind and kind == STREAM):
        for name, data in events(body):
            marks.append(("event", name))
            value = _json(data)
            if value is None and not at.path and at.kind:
                texts.append(data)
            elif value is None:
                marks.append(("data", data[:100]))
            else:
                texts += at.of(value) if at.path else []
                marks += marks_of(value, hidden=hidden if at.path else frozenset())
    elif at.kind == "text":
        texts.append(_decoded(body, headers))
    else:
        values = _values(body.decode("utf-8-sig", "replace"))
        texts += [text for value in values for text in at.of(value)]
        marks += [mark for value in values for mark in marks_of(value, hidden=hidden)]
        marks += [] if values else [("body", "not JSON")]
        lines = len(values) > 1
    separator = "" if at.kind == "sse" or lines else "\n"
    return Read(separator.join(texts) if at.kind else None, look_of(marks))


def events(body: bytes) -> Iterator[tuple[str, str]]:
    """Name and data of each event of a stream. One without its blank line never came."""
    *whole, _ = _EVENT.split(body.removeprefix(b"\xef\xbb\xbf"))
    for block in whole:
        name, data = "message", []
        for line in _LINE.split(block.decode("utf-8", "replace")):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                name = value or "message"
            elif field == "data":
                data.append(value)
        if data:
            yield name, "\n".join(data)


def says_done(body: bytes, until: str | None) -> bool:
    """Whether the last event of a stream says that it was: `until`, by its name or data, else `DONE`."""
    name, data = next(iter(reversed(list(events(body[-TAIL:])))), ("", ""))
    wanted = DONE if until is None else (until,)
    value = _json(data)
    kind = value.get("type") if isinstance(value, dict) else None
    ended = _END.search(body[-4:]) is not None
    return ended and any(said in wanted for said in (name, data.strip(), kind))


def kind_of(headers: Mapping[str, str]) -> str:
    """The type of an answer, without what follows it."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _decoded(body: bytes, headers: Mapping[str, str]) -> str:
    """A text as its type says it is written; JSON and streams of events are UTF-8 always."""
    named = _CHARSET.search(headers.get("content-type", ""))
    try:
        return body.decode(named[1] if named else "utf-8", "replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


def _values(text: str) -> list[Any]:
    """The JSON of a body: one value, or one a line, of which the last may be cut. Empty where it is none."""
    if (value := _json(text)) is not None:
        return [value]
    lines = [line for line in text.split("\n") if line.strip()]
    values = [_json(line) for line in lines]
    if values and values[-1] is None:
        values.pop()
    return [] if None in values else values


def _json(text: str) -> Any:
    """The JSON in a text; None where it is none, or nothing."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
