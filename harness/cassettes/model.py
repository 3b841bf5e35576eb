"""A cassette as it is used here: exchanges over HTTP, their bodies as bytes, whoever recorded them."""

from __future__ import annotations

from pathlib import Path

import msgspec

EXTRA = "loop_harness"
"""Where a cassette keeps what vcrpy has no place for, and ignores.

Beside `interactions`: `{format: 1, secrets_checked: true, made_by: TEXT}`. Beside `request` and `response`:
`{asked_at: SECONDS, head_at: SECONDS, pieces: [[AT, SIZE], ...], broken: true}`, each left out where it is
not known.
"""

Headers = list[tuple[str, str]]
"""In the order of the file, names as written there; a name may occur more than once."""


def header(headers: Headers, name: str) -> str:
    """The values of a header, joined by commas; empty where it is not there. `name` is in lower case."""
    return ", ".join(value for each, value in headers if each.lower() == name)


class Request(msgspec.Struct, kw_only=True, frozen=True):
    """What was asked."""

    method: str
    uri: str
    headers: Headers
    body: bytes
    """As text, whatever it was sent compressed as; empty where there was none."""


class Piece(msgspec.Struct, frozen=True):
    """Bytes of a body that came together."""

    at: float
    """Seconds since the response's head."""
    size: int
    """How many bytes of the body, as it is kept here, had come in by this piece alone."""


class Response(msgspec.Struct, kw_only=True, frozen=True):
    """What was answered."""

    status: int
    reason: str = ""
    headers: Headers
    body: bytes
    """Decompressed; without framing of the transfer."""
    head_at: float | None = None
    """Seconds from the request to the response's head; None where the recording does not tell."""
    pieces: list[Piece] = []
    """The pace of the body, where the recording tells it; the sizes add up to the body's."""
    broken: bool = False
    """The connection ended before the body did."""


class Interaction(msgspec.Struct, kw_only=True, frozen=True):
    """One request with its response."""

    request: Request
    response: Response
    asked_at: float | None = None
    """Seconds from the recording's start to the request; None where the recording does not tell."""
    line: int = 0
    """Where it begins in its file, from 1; 0 where it is in no file."""


class Cassette(msgspec.Struct, kw_only=True, frozen=True):
    """One recording."""

    path: Path
    interactions: list[Interaction]
    secrets_checked: bool = False
    """Written by us, so that known secrets have been looked for."""
    made_by: str = ""
    """What the recording shows and how to make it again, where it says so."""
