"""Which session a request belongs to, and what the API's own path is."""

from __future__ import annotations

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


def route(path: str) -> Route:
    """Take `path` (without its query) apart."""
    key = worker = None
    if found := _PREFIX.match(path):
        key, worker = found["key"], found["worker"]
        path = path[found.end() :] or "/"
    return Route(key, worker, path.removeprefix("/v1") if path.startswith("/v1/v1/") else path)
