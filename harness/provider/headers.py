"""Response headers as the API sends them, with values that depend on the run alone."""

from __future__ import annotations

import functools
import time
import zlib
from typing import Any

from ..wire.errors import NOT_RETRYABLE, RETRY_AFTER, SPENT
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
    return _of_reply(int(time.time()), stream=stream) | _of_request(request_id)


@functools.lru_cache(maxsize=4)
def _of_reply(second: int, *, stream: bool) -> dict[str, str]:
    """What the replies of one second have in common. Not to be changed."""
    kind = {"content-type": STREAM_TYPE, "cache-control": "no-cache"} if stream else {}
    return for_error("") | _rate_limits(second) | kind


def _of_request(request_id: str) -> dict[str, str]:
    return {"request-id": request_id, "cf-ray": _ray(request_id)}


def for_failure(
    status: int, request_id: str, details: dict[str, Any] | None = None, body: str | None = None
) -> dict[str, str]:
    """The headers of an HTTP error. A 413, and HTML, come from what stands in front of the API."""
    if body is not None and body.lstrip().startswith("<"):
        return _edge(request_id) | {"content-type": "text/html"}
    if status == 413:
        return _edge(request_id) | {"content-type": "application/json"}
    headers = for_error(request_id, retryable=status not in NOT_RETRYABLE)
    if status in RETRY_AFTER and (details or {}).get("error_code") not in SPENT:
        headers |= _rate_limits(int(time.time()), spent=True) | {"retry-after": "1"}
    return headers


def for_error(request_id: str, *, retryable: bool = True) -> dict[str, str]:
    """The headers of the API: no rate limits, and a word about retrying where that is in vain."""
    headers = {
        "date": _date(int(time.time())),
        "content-type": "application/json",
        "request-id": request_id,
        "anthropic-organization-id": ORGANIZATION,
        "anthropic-workspace-id": WORKSPACE,
        "cf-ray": _ray(request_id),
        **EDGE,
    }
    if not retryable:
        headers["x-should-retry"] = "false"
    return headers


def _edge(request_id: str) -> dict[str, str]:
    """What stands in front of the API knows nothing of organizations and requests."""
    return {"date": _date(int(time.time())), "server": "cloudflare", "cf-ray": _ray(request_id)}


def _ray(request_id: str) -> str:
    spelled = request_id.encode()
    return f"{zlib.crc32(spelled):08x}{zlib.adler32(spelled):08x}-FRA"


# English, whatever the locale of the process.
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@functools.lru_cache(maxsize=2)
def _date(second: int) -> str:
    """As HTTP has it. `email.utils` has it, too, and takes milliseconds to import."""
    moment = time.gmtime(second)
    day, month = _DAYS[moment.tm_wday], _MONTHS[moment.tm_mon - 1]
    return time.strftime(f"{day}, %d {month} %Y %H:%M:%S GMT", moment)


@functools.lru_cache(maxsize=4)
def _rate_limits(second: int, *, spent: bool = False) -> dict[str, str]:
    reset = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
    headers: dict[str, str] = {}
    for name, limit in _LIMITS.items():
        prefix = f"anthropic-ratelimit-{name}"
        headers |= {
            f"{prefix}-limit": str(limit),
            f"{prefix}-remaining": "0" if spent else str(limit),
            f"{prefix}-reset": reset,
        }
    return headers
