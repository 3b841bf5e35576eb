"""Recordings of the real API, whatever kept them: vcrpy's YAML, stream data one object a line, error bodies.

The environment variable `HARNESS_RECORDINGS` names their folder. Where it is unset, nothing is found and the
tests skip and say so.
"""

from __future__ import annotations

import base64
import functools
import gzip
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

VARIABLE = "HARNESS_RECORDINGS"
HOST = "api.anthropic.com"
ABSENT = "recordings of the real API are not here: HARNESS_RECORDINGS is not set"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Plain YAML; a recorder's own tags are read as the text they hold."""


_Loader.add_multi_constructor(
    "tag:yaml.org,2002:python/", lambda loader, _tag, node: getattr(node, "value", None)
)


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One request and its answer."""

    source: str
    """File and place: `folder/test_x.yaml#0`."""
    method: str
    path: str
    """Without host and query: `/v1/messages`."""
    query: str
    request_headers: dict[str, str]
    """Lower-case names; recorders leave out the key, and some of them the version."""
    request: bytes
    status: int
    headers: dict[str, str]
    body: bytes
    """Of the answer, unpacked."""
    sorted_keys: bool
    """The recorder kept the answer's values alone: the order of its keys is not the API's."""

    @property
    def asked(self) -> Any:
        """The request's JSON; None where it has none."""
        return _json(self.request)

    @property
    def answered(self) -> Any:
        """The answer's JSON; None where it has none, as a stream."""
        return _json(self.body)

    @property
    def is_stream(self) -> bool:
        """Whether the answer is a stream of events."""
        return self.headers.get("content-type", "").startswith("text/event-stream")


@dataclass(frozen=True, kw_only=True)
class Chunks:
    """The data objects of a stream; padding and names of events were not kept."""

    source: str
    data: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Kept:
    """An answer in one piece whose request was not kept."""

    source: str
    body: dict[str, Any]


def folder() -> Path | None:
    """Where the recordings are."""
    name = os.environ.get(VARIABLE)
    return Path(name) if name else None


@functools.cache
def exchanges() -> tuple[Exchange, ...]:
    """Every recorded exchange with the API itself, in the order of files and within them."""
    return tuple(
        exchange
        for path in _files(".yaml", ".yml", ".yaml.gz", ".yml.gz")
        for exchange in read(path, _source(path))
    )


def conversations() -> list[Exchange]:
    """The exchanges of `POST /v1/messages`."""
    return [one for one in exchanges() if one.method == "POST" and one.path == "/v1/messages"]


def chunks() -> list[Chunks]:
    """The streams kept as `*.chunks.txt`."""
    return [
        Chunks(
            source=_source(path),
            data=[json.loads(line) for line in path.read_text("utf-8").splitlines() if line],
        )
        for path in _files(".chunks.txt")
    ]


def kept() -> list[Kept]:
    """The answers kept as `*.error.json` and `*.json`: errors, and messages around one."""
    found = []
    for path in _files(".json"):
        body = json.loads(path.read_text("utf-8"))
        if isinstance(body, dict) and body.get("type") in ("error", "message"):
            found.append(Kept(source=_source(path), body=body))
    return found


def params(items: list[Any]) -> list[Any]:
    """Parameters of a test, one each, named by source; one that is skipped where there are none."""
    if items:
        return [pytest.param(item, id=item.source) for item in items]
    reason = ABSENT if folder() is None else "there is no recording of this kind"
    return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]


def read(path: Path, source: str) -> Iterator[Exchange]:
    """The exchanges of one file."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    cassette = yaml.load(data.decode("utf-8"), _Loader) or {}
    pairs = [(one["request"], one["response"]) for one in cassette.get("interactions", [])]
    pairs += zip(cassette.get("requests", []), cassette.get("responses", []), strict=False)
    for place, (request, response) in enumerate(pairs):
        address = urlsplit(request.get("uri") or request.get("url") or "")
        if address.hostname == HOST:
            yield _exchange(f"{source}#{place}", request, response)


def _exchange(source: str, request: Mapping[str, Any], response: Mapping[str, Any]) -> Exchange:
    address = urlsplit(request.get("uri") or request.get("url") or "")
    headers = _headers(response.get("headers"))
    status = response.get("status") or response.get("status_code") or 200
    return Exchange(
        source=source,
        method=request.get("method", "POST"),
        path=address.path,
        query=address.query,
        request_headers=_headers(request.get("headers")),
        request=_bytes(request),
        status=int(status["code"] if isinstance(status, Mapping) else status),
        headers=headers,
        body=_unpacked(_bytes(response)),
        sorted_keys="parsed_body" in response,
    )


def _headers(headers: Any) -> dict[str, str]:
    items = headers.items() if isinstance(headers, Mapping) else (headers or [])
    return {
        str(name).lower(): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in items
    }


def _bytes(half: Mapping[str, Any]) -> bytes:
    """The body of a request or an answer in any of the forms recorders give it."""
    if "parsed_body" in half:
        return json.dumps(half["parsed_body"], ensure_ascii=False, separators=(",", ":")).encode()
    body: Any = half.get("body", half.get("content"))
    if isinstance(body, Mapping):
        if (encoded := body.get("base64_string")) is not None:
            return base64.b64decode(encoded)
        body = body.get("string", "")
    if body is None and (encoded := half.get("base64_body")) is not None:
        return base64.b64decode(encoded)
    return body.encode("utf-8", "surrogateescape") if isinstance(body, str) else bytes(body or b"")


def _unpacked(body: bytes) -> bytes:
    """Some recorders keep what came over the wire."""
    return zlib.decompressobj(47).decompress(body) if body[:2] == b"\x1f\x8b" else body


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _files(*ends: str) -> list[Path]:
    root = folder()
    if root is None:
        return []
    return sorted(path for path in root.rglob("*") if path.name.endswith(ends) and path.is_file())


def _source(path: Path) -> str:
    root = folder()
    return path.relative_to(root).as_posix() if root else path.name
