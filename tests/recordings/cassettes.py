"""Recordings of the real API, whatever kept them: vcrpy's YAML, stream data one object a line, error bodies.

The environment variable `HARNESS_RECORDINGS` names their folder. Where it is unset, nothing is found and the
tests skip and say so.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness.cassettes.model import Headers, header
from harness.cassettes.read import SUFFIXES
from harness.cassettes.read import read as read_cassette
from harness.cassettes.source import load
from tests.every import every

VARIABLE = "HARNESS_RECORDINGS"
HOST = "api.anthropic.com"
ABSENT = "recordings of the real API are not here: HARNESS_RECORDINGS is not set"


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
        for path in _files(*(suffix for suffix in SUFFIXES if "json" not in suffix))
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
    return [pytest.param(None, marks=_nothing())]


def each_of(items: list[Any]) -> Callable[[Callable[..., None]], Any]:
    """One test over all of them, where there are hundreds; one that is skipped where there are none."""
    if items:
        return every(items, lambda item: item.source)
    return lambda check: _nothing()(every([None])(check))


def _nothing() -> pytest.MarkDecorator:
    return pytest.mark.skip(reason=ABSENT if folder() is None else "there is no recording of this kind")


def read(path: Path, source: str) -> Iterator[Exchange]:
    """The exchanges of one file."""
    kept = load(path).interactions
    for place, one in enumerate(read_cassette(path).interactions):
        address = urlsplit(one.request.uri)
        if address.hostname != HOST:
            continue
        yield Exchange(
            source=f"{source}#{place}",
            method=one.request.method,
            path=address.path,
            query=address.query,
            request_headers=_headers(one.request.headers),
            request=one.request.body,
            status=one.response.status,
            headers=_headers(one.response.headers),
            body=one.response.body,
            sorted_keys="parsed_body" in kept[place]["response"],
        )


def _headers(headers: Headers) -> dict[str, str]:
    return {name.lower(): header(headers, name.lower()) for name, _ in headers}


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
