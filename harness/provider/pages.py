"""Lists a page at a time, as the API gives them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs

from .answer import Failure

MOST = 1000


class Bad(Exception):  # noqa: N818 - it becomes an answer
    """A request that gets an error; `failure` says which."""

    def __init__(self, status: int, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.failure = Failure(status=status, message=message, **fields)


def queried(query: str) -> dict[str, str]:
    """The last value of each parameter."""
    return {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}


def page(items: Sequence[dict[str, Any]], query: str) -> dict[str, Any]:
    """The page of `items` (newest first) that `limit`, `after_id` and `before_id` ask for. Raises `Bad`."""
    asked = queried(query)
    size = limit(asked)
    ids = [item["id"] for item in items]
    start, end = 0, len(items)
    if after := asked.get("after_id"):
        start = _place(ids, after, "after_id") + 1
    if before := asked.get("before_id"):
        end = _place(ids, before, "before_id")
        if "after_id" not in asked:
            start = max(0, end - size)
    shown = list(items[start:end][:size])
    more = start > 0 if "before_id" in asked and "after_id" not in asked else start + size < end
    return {
        "data": shown,
        "has_more": more,
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
    }


def limit(asked: dict[str, str]) -> int:
    """How many items a page holds. Raises `Bad`."""
    text = asked.get("limit", "20")
    if not text.isascii() or not text.isdigit():
        message = "limit: Input should be a valid integer, unable to parse string as an integer"
        raise Bad(400, message)
    size = int(text[:9])
    if size < 1:
        raise Bad(400, "limit: Input should be greater than or equal to 1")
    if size > MOST:
        raise Bad(400, f"limit: Input should be less than or equal to {MOST}")
    return size


def _place(ids: list[str], wanted: str, name: str) -> int:
    if wanted not in ids:
        raise Bad(400, f"{name}: {wanted!r} is not in the list")
    return ids.index(wanted)
