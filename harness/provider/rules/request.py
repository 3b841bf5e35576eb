"""Rules about the request as a whole: credentials, address, version, JSON, model."""

from __future__ import annotations

from collections.abc import Iterator

from ...wire.models import is_known
from ..facts import Facts
from ..request import credential

VERSIONS = ("2023-01-01", "2023-06-01", "2026-10-21")
"""Values of `anthropic-version` known to exist."""

METHODS = {"messages": "POST", "count_tokens": "POST", "models": "GET"}


def credentials_missing(facts: Facts) -> Iterator[str]:
    """Neither of the two headers holds a key."""
    if credential(facts.request.headers) is None:
        yield "x-api-key header is required"


def endpoint_unknown(facts: Facts) -> Iterator[str]:
    """No such address."""
    if facts.request.endpoint == "unknown" or facts.request.method in ("HEAD", "OPTIONS"):
        yield "Not Found"


def method_unknown(facts: Facts) -> Iterator[str]:
    """The address is right, the method is not."""
    method = METHODS.get(facts.request.endpoint)
    if method is not None and facts.request.method != method:
        yield "Method Not Allowed"


def version_missing(facts: Facts) -> Iterator[str]:
    """The version has to be named."""
    if not facts.version:
        yield "anthropic-version: header is required"


def version_unknown(facts: Facts) -> Iterator[str]:
    """A version that was never heard of."""
    if facts.version not in VERSIONS:
        yield f"anthropic-version: {facts.version!r} is not a known version"


def body_not_json(facts: Facts) -> Iterator[str]:
    """Nothing else can be looked at then."""
    if facts.request.not_json is not None:
        yield f"The request body is not valid JSON: {facts.request.not_json}"
    elif facts.request.endpoint in ("messages", "count_tokens") and not facts.request.raw:
        yield "The request body is not valid JSON: unexpected end of data: line 1 column 1 (char 0)"


def model_unknown(facts: Facts) -> Iterator[str]:
    """No such model."""
    _, _, name = facts.request.path.partition("/v1/models/")
    name = name or facts.model
    if name and not is_known(name):
        yield f"model: {name}"
