"""Which session a request belongs to, what the API's own path is, and what stands there."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

_PREFIX = re.compile(r"/(?:s/(?P<key>[^/]+)|(?P<worker>w\d+))(?=/|$)")


class Route(NamedTuple):
    """A path taken apart."""

    key: str | None
    """Of a session, from `/s/KEY/…`."""
    worker: str | None
    """From `/w3/…`."""
    path: str
    """The API's own: `/v1/messages`, also where the base URL was given with `/v1`."""


@functools.lru_cache(maxsize=256)
def route(path: str) -> Route:
    """Take `path` (without its query) apart."""
    key = worker = None
    if found := _PREFIX.match(path):
        key, worker = found["key"], found["worker"]
        path = path[found.end() :] or "/"
    return Route(key, worker, path.removeprefix("/v1") if path.startswith("/v1/v1/") else path)


class Endpoint(NamedTuple):
    """Addresses that one part of the provider answers."""

    name: str
    path: re.Pattern[str]
    methods: tuple[str, ...]


def _at(name: str, path: str, *methods: str) -> Endpoint:
    pattern = re.sub(r"(?<!P)<(\w+)>", r"(?P<\1>[^/]+)", path)
    return Endpoint(name, re.compile(f"/v1/{pattern}/?"), methods)


ENDPOINTS: tuple[Endpoint, ...] = (
    _at("messages", "messages", "POST"),
    _at("count_tokens", "messages/count_tokens", "POST"),
    _at("models", "models", "GET"),
    _at("models", "models/<id>", "GET"),
    _at("batches", "messages/batches", "POST", "GET"),
    _at("batches", "messages/batches/<id>", "GET", "DELETE"),
    _at("batches", "messages/batches/<id>/(?P<part>cancel)", "POST"),
    _at("batches", "messages/batches/<id>/(?P<part>results)", "GET"),
    _at("files", "files", "POST", "GET"),
    _at("files", "files/<id>", "GET", "DELETE"),
    _at("files", "files/<id>/(?P<part>content)", "GET"),
    _at("complete", "complete", "POST"),
)
"""All that the provider serves."""

UNKNOWN = Endpoint("unknown", re.compile(""), ())


@functools.lru_cache(maxsize=256)
def endpoint_of(path: str) -> Endpoint:
    """What stands at the API's own `path`."""
    return next((each for each in ENDPOINTS if each.path.fullmatch(path)), UNKNOWN)
