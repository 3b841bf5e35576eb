"""Message batches: each item is asked like a request of its own, and answered by the same script.

A batch is in progress until the slowest of its replies would have been there (`delay`), then it has ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import msgspec

from .. import clock
from ..wire.codec import dumps
from ..wire.errors import error_body
from ..wire.ids import Ids
from .answer import Answer
from .pages import Bad, page
from .request import Request

_CUSTOM_ID = r"^[a-zA-Z0-9_-]{1,64}$"
COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


class Item(msgspec.Struct, frozen=True):
    """What became of one request of a batch: its `result`, ready after `delay` seconds."""

    result: dict[str, Any]
    delay: float


class Batch(msgspec.Struct, kw_only=True):
    """One batch."""

    id: str
    created: datetime
    began: float
    """The same on the clock."""
    items: dict[str, Item]
    canceled: datetime | None = None

    @property
    def ended(self) -> bool:
        """Whether its results are there."""
        return self.canceled is not None or clock.now() - self.began >= self.length

    @property
    def length(self) -> float:
        """Seconds the slowest of its items takes."""
        return max(item.delay for item in self.items.values())


class Batches:
    """The batches of one session. `ask` answers one item: it gets its `params`."""

    def __init__(self, ids: Ids, seed: int, ask: Callable[[Request], Item]) -> None:
        self._ids = ids
        self._seed = seed
        self._ask = ask
        self._kept: dict[str, Batch] = {}

    def answer(
        self, request: Request, batch_id: str | None, part: str | None, base: str
    ) -> dict[str, Any] | bytes:
        """The body that answers `request`; bytes are lines of JSON. Raises `Bad`."""
        if batch_id is None:
            if request.method == "POST":
                return self._shown(self._create(request), base)
            return page([self._shown(each, base) for each in reversed(self._kept.values())], request.query)
        batch = self._kept.get(batch_id)
        if batch is None:
            raise Bad(404, f"Message batch {batch_id} not found.")
        if request.method == "DELETE":
            if not batch.ended:
                raise Bad(400, f"Message batch {batch_id} cannot be deleted while it is in progress.")
            del self._kept[batch_id]
            return {"id": batch_id, "type": "message_batch_deleted"}
        if part == "results":
            return self._results(batch)
        if part == "cancel":
            return self._cancel(batch, base)
        return self._shown(batch, base)

    def _create(self, request: Request) -> Batch:
        asked = _checked(request.body)
        items = {each["custom_id"]: self._ask(_alone(request, each["params"])) for each in asked}
        batch = Batch(
            id=self._ids.next("msgbatch_"),
            created=datetime.now(UTC),
            began=clock.now(),
            items=items,
        )
        self._kept[batch.id] = batch
        return batch

    def _cancel(self, batch: Batch, base: str) -> dict[str, Any]:
        if batch.ended:
            raise Bad(400, f"Message batch {batch.id} has already ended.")
        batch.canceled = datetime.now(UTC)
        passed = clock.now() - batch.began
        for name, item in batch.items.items():
            if item.delay > passed:
                batch.items[name] = Item({"type": "canceled"}, 0)
        return self._shown(batch, base) | {"processing_status": "canceling", "results_url": None}

    def _results(self, batch: Batch) -> bytes:
        if not batch.ended:
            raise Bad(404, f"Message batch {batch.id} has no results yet: it has not ended.")
        lines = [{"custom_id": name, "result": item.result} for name, item in batch.items.items()]
        # The API promises no order, so nobody may rely on one.
        Random(f"{self._seed}/{batch.id}").shuffle(lines)  # noqa: S311 - no secret
        if len(lines) > 1 and [line["custom_id"] for line in lines] == list(batch.items):
            lines.reverse()
        return b"".join(dumps(line) + b"\n" for line in lines)

    def _shown(self, batch: Batch, base: str) -> dict[str, Any]:
        ended = batch.ended
        counts = dict.fromkeys(COUNTS, 0)
        for item in batch.items.values():
            counts[str(item.result["type"]) if ended else "processing"] += 1
        done = batch.canceled or batch.created + timedelta(seconds=batch.length)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "ended_at": stamp(done) if ended else None,
            "created_at": stamp(batch.created),
            "expires_at": stamp(batch.created + timedelta(hours=24)),
            "archived_at": None,
            "cancel_initiated_at": stamp(batch.canceled) if batch.canceled else None,
            "results_url": f"{base}/v1/messages/batches/{batch.id}/results" if ended else None,
        }


def stamp(when: datetime) -> str:
    """A time as the API writes it."""
    return when.isoformat(timespec="microseconds")


def item_of(answer: Answer) -> Item:
    """What an answer is as the result of a batch's request."""
    body = answer.body if isinstance(answer.body, dict) else {}
    if answer.status == 200:
        answer.delivered()
        usage = body["usage"] | {"service_tier": "batch"}
        return Item({"type": "succeeded", "message": body | {"usage": usage}}, answer.delay)
    if (kind := body.get("error", {}).get("type")) in ("canceled", "expired"):
        return Item({"type": kind}, answer.delay)
    if answer.connection is not None or not body:
        body = error_body(500, request_id=answer.headers.get("request-id", ""))
    return Item({"type": "errored", "error": body}, answer.delay)


def _checked(body: Any) -> list[dict[str, Any]]:
    """The items of a batch to create. Raises `Bad`."""
    if not isinstance(body, dict) or "requests" not in body:
        raise Bad(400, "requests: Field required")
    asked = body["requests"]
    if not isinstance(asked, list):
        raise Bad(400, "requests: Input should be a valid list")
    if not asked:
        raise Bad(400, "requests: List should have at least 1 item after validation, not 0")
    seen: set[str] = set()
    for index, each in enumerate(asked):
        where = f"requests.{index}"
        for field in ("custom_id", "params"):
            if not isinstance(each, dict) or field not in each:
                raise Bad(400, f"{where}.{field}: Field required")
        name = each["custom_id"]
        if not isinstance(name, str) or not re.fullmatch(_CUSTOM_ID, name):
            raise Bad(400, f"{where}.custom_id: String should match pattern '{_CUSTOM_ID}'")
        if name in seen:
            raise Bad(400, f"{where}.custom_id: {name!r} is given twice")
        seen.add(name)
    return asked


def _alone(request: Request, params: Any) -> Request:
    """One item of a batch as the request it stands for."""
    whole = params
    if isinstance(params, dict):
        whole = {name: value for name, value in params.items() if name != "stream"}
    return Request(
        method="POST",
        path="/v1/messages",
        headers={name: value for name, value in request.headers.items() if name != "x-stainless-retry-count"},
        raw=dumps(whole),
        body=whole,
    )
