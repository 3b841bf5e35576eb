"""Errors as the API words them: status to type and text, and the body around them."""

from __future__ import annotations

from typing import Any

TYPES: dict[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""HTTP status to `error.type`."""

TEXTS: dict[int, str] = {
    400: "Error",
    401: "invalid x-api-key",
    402: "Your credit balance is too low to access the Anthropic API.",
    403: "Request not allowed",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request timed out",
    409: "Conflict",
    413: "Request exceeds the maximum size",
    429: "This request would exceed your organization's rate limit of 30,000 input tokens per minute. "
    "For details, refer to: https://docs.claude.com/en/api/rate-limits. "
    "You can see the response headers for current usage.",
    500: "Internal server error",
    504: "Request timed out",
    529: "Overloaded",
}
"""HTTP status to the text given where a scenario writes none."""

NOT_RETRYABLE = frozenset({400, 401, 402, 403, 404, 405, 422})
"""Statuses answered with `x-should-retry: false`."""


RETRY_AFTER = frozenset({429})
"""Statuses whose answer says when to come back."""

SPENT = frozenset({"enforced_spend_limit_reached", "contract_spend_limit_reached"})
"""Error codes of a 429 that waiting does not help: there is no word about coming back."""


def status_of(kind: str) -> int:
    """The HTTP status that goes with an error type; 500 for one that is not known."""
    return next((status for status, name in TYPES.items() if name == kind), 500)


def error_type(status: int) -> str:
    """The API's error type of `status`."""
    return TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")


def error_body(
    status: int,
    *,
    request_id: str,
    kind: str | None = None,
    message: str | None = None,
    details: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The body of an error. A 413 is answered in front of the API, without `type` and `request_id`."""
    error: dict[str, Any] = {
        "type": kind or error_type(status),
        "message": message if message is not None else TEXTS.get(status, "Error"),
    }
    if details is not None:
        error["details"] = details
    elif status >= 500:
        error = {"details": None, **error}
    if status == 413:
        return {"error": error}
    return {"type": "error", "error": error, "request_id": request_id}


def stream_error(kind: str, message: str, request_id: str) -> dict[str, Any]:
    """The data of an `error` event inside a stream: `details` first and always there."""
    return {
        "type": "error",
        "error": {"details": None, "type": kind, "message": message},
        "request_id": request_id,
    }
