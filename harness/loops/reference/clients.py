"""The `anthropic` clients of the reference loop: made when first needed, one for each base URL.

The API key is given with each request. A client for each key would keep a connection pool for each key.
"""

from __future__ import annotations

import asyncio
import atexit
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .effects import Ask, Failed
from .receive import BrokenStreamError

if TYPE_CHECKING:
    import anthropic

_sync: dict[str, anthropic.Anthropic] = {}
_async: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, anthropic.AsyncAnthropic]] = (
    WeakKeyDictionary()
)


def client(base_url: str) -> anthropic.Anthropic:
    """The blocking client. It retries nothing by itself: the turn decides."""
    found = _sync.get(base_url)
    if found is None:
        import anthropic

        found = _sync[base_url] = anthropic.Anthropic(base_url=base_url, api_key="per-request", max_retries=0)
        atexit.register(found.close)
    return found


def async_client(base_url: str) -> anthropic.AsyncAnthropic:
    """The client of the running event loop."""
    clients = _async.setdefault(asyncio.get_running_loop(), {})
    found = clients.get(base_url)
    if found is None:
        import anthropic

        # A kept connection would outlive an event loop that nobody told this module is closing.
        found = clients[base_url] = anthropic.AsyncAnthropic(
            base_url=base_url, api_key="per-request", max_retries=0, default_headers={"connection": "close"}
        )
    return found


def arguments(request: Ask, api_key: str) -> dict[str, Any]:
    """The arguments of `messages.create`.

    The whole body is given as `extra_body`, which goes out as it is; typed arguments would be rewritten.
    """
    return {
        "model": request.body["model"],
        "max_tokens": request.body["max_tokens"],
        "messages": (),
        "extra_body": request.body,
        "extra_headers": {
            "authorization": f"Bearer {api_key}",
            "x-stainless-retry-count": str(request.attempt),
            **request.headers,
        },
        "timeout": max(request.timeout, 0.001),
    }


def failure(error: Exception, usage: dict[str, Any]) -> Failed:
    """What an exception of a request means for the turn."""
    import anthropic

    if isinstance(error, BrokenStreamError) or not isinstance(error, anthropic.APIStatusError):
        transient = isinstance(error, (BrokenStreamError, anthropic.APIConnectionError))
        return Failed(error, retryable=transient, usage=usage)
    headers = error.response.headers
    advice = headers.get("x-should-retry")
    retryable = error.status_code in (408, 409, 429) or error.status_code >= 500
    if advice in ("true", "false"):
        retryable = advice == "true"
    return Failed(error, retryable=retryable, wait=_retry_after(headers), usage=usage)


def _retry_after(headers: Any) -> float | None:
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(float(headers[name]) / unit, 0.0)
        except (KeyError, ValueError):
            continue
    return None
