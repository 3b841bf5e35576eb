"""Response headers as the API sends them, with values that depend on the run alone."""

from __future__ import annotations

import functools
import time
from email.utils import formatdate

from ..wire.ids import opaque_id, uuid_like

ORGANIZATION = uuid_like("organization")
WORKSPACE = opaque_id("wrkspc_", "workspace")

EDGE: dict[str, str] = {
    "server": "cloudflare",
    "cf-cache-status": "DYNAMIC",
    "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-robots-tag": "none",
    "vary": "Accept-Encoding",
}
"""Put on by what stands in front of the API."""

_LIMITS = {"requests": 4000, "tokens": 2_400_000, "input-tokens": 2_000_000, "output-tokens": 400_000}
STREAM_TYPE = "text/event-stream; charset=utf-8"


def for_reply(request_id: str, *, stream: bool) -> dict[str, str]:
    """The headers of a reply."""
    headers = for_error(request_id)
    headers |= _rate_limits(int(time.time()))
    if stream:
        headers |= {"content-type": STREAM_TYPE, "cache-control": "no-cache"}
    return headers


def for_error(request_id: str, *, retryable: bool = True) -> dict[str, str]:
    """The headers of an error: no rate limits, and a word about retrying where that is in vain."""
    headers = {
        "date": _date(int(time.time())),
        "content-type": "application/json",
        "request-id": request_id,
        "anthropic-organization-id": ORGANIZATION,
        "anthropic-workspace-id": WORKSPACE,
        "cf-ray": f"{uuid_like(request_id).replace('-', '')[:16]}-FRA",
        **EDGE,
    }
    if not retryable:
        headers["x-should-retry"] = "false"
    return headers


@functools.lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


@functools.lru_cache(maxsize=2)
def _rate_limits(second: int) -> dict[str, str]:
    reset = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
    headers: dict[str, str] = {}
    for name, limit in _LIMITS.items():
        prefix = f"anthropic-ratelimit-{name}"
        headers |= {
            f"{prefix}-limit": str(limit),
            f"{prefix}-remaining": str(limit),
            f"{prefix}-reset": reset,
        }
    return headers
