"""A recorded body as bytes: the forms recorders give it, and what it was sent compressed as."""

from __future__ import annotations

import base64
import binascii
import importlib
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

LARGEST = 1 << 28
"""Bytes a compressed body may unpack to; what is more is no recording of a conversation."""

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


class Unpacked(NamedTuple):
    """A body without its compression."""

    body: bytes
    broken: bool = False
    """It ends before its compressed form does."""
    packed: str = ""
    """How it is compressed still, since nothing here can read that."""


def raw_body(half: Mapping[str, Any], content_type: str = "") -> bytes:
    """The body of a recorded request or response. Raises `ValueError` for a form that is not known."""
    if half.get("parsed_body") is not None:
        return _encoded(half["parsed_body"], content_type)
    if half.get("base64_body") is not None:
        return _from_base64(half["base64_body"])
    return _bytes(half.get("body", half.get("content")), content_type)


def _bytes(body: Any, content_type: str) -> bytes:  # noqa: PLR0911 - one for each form
    match body:
        case None:
            return b""
        case bytes():
            return body
        case str():
            return body.encode("utf-8", "replace")
        case {"base64_string": str() | bytes() as text}:
            return _from_base64(text)
        case {"string": text}:
            return _bytes(text, content_type)
        case {"state": [bytes() | str() as text, *_]}:
            # A file that was uploaded: Python's BytesIO as YAML writes it.
            return _bytes(text, content_type)
        case [*parts] if all(isinstance(part, (bytes, str)) for part in parts):
            return b"".join(_bytes(part, content_type) for part in parts)
        case {} | [*_]:
            return _encoded(body, content_type)
    raise ValueError(f"a body that is {type(body).__name__}, not text")


def _encoded(value: Any, content_type: str) -> bytes:
    """What a serializer kept parsed, for people to read, as it was sent."""
    if isinstance(value, (str, bytes)) and "json" not in content_type:
        return _bytes(value, content_type)
    if isinstance(value, dict) and "x-www-form-urlencoded" in content_type:
        return urlencode(value, doseq=True).encode()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_odd).encode(
        "utf-8", "replace"
    )


def _odd(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    raise ValueError(f"a body with a {type(value).__name__} in it, which is no JSON")


def _from_base64(text: str | bytes) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise ValueError(f"a body that is no base64: {error}") from None


def unpacked(body: bytes, encoding: str) -> Unpacked:
    """`body` without the compression that `encoding` (the header's value) names, where it still has it.

    Recorders differ: some unpack and keep the header, some drop the header and keep what came.
    """
    named = {part.strip().lower() for part in encoding.split(",")}
    if body[:2] == _GZIP:
        return _inflated(body, zlib.MAX_WBITS | 32)
    if body[:4] == _ZSTD:
        return _by_library(body, "zstd")
    if body and "deflate" in named and not _readable(body):
        found = _inflated(body, zlib.MAX_WBITS)
        return found if found.body else _inflated(body, -zlib.MAX_WBITS)
    if body and "br" in named and not _readable(body):
        return _by_library(body, "br")
    return Unpacked(body)


def still_packed(body: bytes, encoding: str) -> bool:
    """Whether a body that was read is compressed still, since nothing here could unpack it."""
    named = {part.strip().lower() for part in encoding.split(",")}
    return bool(body) and bool(named & {"br", "zstd"}) and not _readable(body)


def _readable(body: bytes) -> bool:
    """Whether this is what an API sends, not something compressed."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return text.lstrip()[:1] in ("{", "[", "e", "d", ":", "<", '"')


def _inflated(body: bytes, window: int) -> Unpacked:
    unpacker = zlib.decompressobj(window)
    try:
        found = unpacker.decompress(body, LARGEST)
    except zlib.error:
        return Unpacked(body) if window > zlib.MAX_WBITS else Unpacked(b"", broken=True)
    return Unpacked(found, broken=not unpacker.eof)


_LIBRARIES: dict[str, tuple[tuple[str, str], ...]] = {
    # Whichever is there: clients that ask for these compressions bring one of them.
    "br": (("brotli", "decompress"), ("brotlicffi", "decompress")),
    "zstd": (
        ("compression.zstd", "decompress"),
        ("backports.zstd", "decompress"),
        ("zstandard", "decompress"),
    ),
}


def _by_library(body: bytes, kind: str) -> Unpacked:
    for name, function in _LIBRARIES[kind]:
        try:
            decompress: Callable[[bytes], bytes] = getattr(importlib.import_module(name), function)
        except (ImportError, AttributeError):
            continue
        try:
            return Unpacked(decompress(body))
        except Exception:  # noqa: BLE001 - each library has its own error, and an odd body is no reason to stop
            return Unpacked(body, packed=kind)
    return Unpacked(body, packed=kind)
