"""JSON as the API writes and reads it: compact, non-ASCII raw, errors with a position."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import msgspec

_encoder = msgspec.json.Encoder()
_canonical = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder()
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")


class NotJsonError(Exception):
    """A body is not JSON; the message is the decoder's, with line, column and character."""


def dumps(value: Any) -> bytes:
    """`value` as compact JSON with non-ASCII characters as they are.

    A lone surrogate has no UTF-8 form, so a value holding one is written with escapes.
    """
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def canonical(value: Any) -> bytes:
    """Equal bytes for equal JSON, whatever the order of the keys."""
    try:
        return _canonical.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def loads(data: bytes) -> Any:
    """The value in `data`. Raises `NotJsonError` in the words the API uses."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _explain(data)


def _explain(data: bytes) -> Any:
    """Parse with a decoder that knows positions, and refuse what only that one would take."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJsonError(
            "str is not valid UTF-8: surrogates not allowed: line 1 column 1 (char 0)"
        ) from error
    if surrogate := _SURROGATE_ESCAPE.search(text):
        raise NotJsonError(str(json.JSONDecodeError("no low surrogate in string", text, surrogate.start())))

    def refuse(word: str) -> NoReturn:
        raise json.JSONDecodeError("unexpected character", text, max(text.find(word), 0))

    try:
        return json.loads(text, parse_constant=refuse)
    except (json.JSONDecodeError, RecursionError) as error:
        raise NotJsonError(str(error)) from error
