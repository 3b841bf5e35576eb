"""What a reply looked like when: the API adds fields and moves them, and clients meet replies of any date.

An era begins with the first recording that shows its difference, and lasts until the next one. What a reply
holds beside that (thinking counted apart, a container that ran code) depends on the request, not on the era.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import msgspec

EraName: TypeAlias = Literal[
    "2024", "2024-09", "2025-03", "2025-05", "2025-08", "2025-11",
    "2026-02", "2026-02-18", "2026-03", "2026-07", "2026-09-14", "2026-09",
]  # fmt: skip
"""The eras by name, oldest first; the last one is today's."""

CURRENT: EraName = "2026-09"

_CACHE_COUNTS = ("cache_creation_input_tokens", "cache_read_input_tokens")

USAGE_ORDER: tuple[str, ...] = (
    "input_tokens", *_CACHE_COUNTS, "cache_creation", "iterations", "fallback_credit", "output_tokens",
    "output_tokens_details", "service_tier", "inference_geo", "speed", "server_tool_use",
)  # fmt: skip
"""The parts of `usage` in a whole message, in their order; an era has some of them."""

DELTA_USAGE_ORDER: tuple[str, ...] = (
    "input_tokens", *_CACHE_COUNTS, "output_tokens", "output_tokens_details", "server_tool_use",
    "iterations", "fallback_credit",
)  # fmt: skip
"""The parts of `usage` in a `message_delta`, in their order."""

LATE_USAGE = frozenset({"output_tokens_details", "server_tool_use", "iterations", "fallback_credit"})
"""Parts of the usage that come with the last count only."""

_END = (
    "container", "stop_reason", "stop_sequence", "stop_details", "usage", "diagnostics",
    "context_management", "input_transformations",
)  # fmt: skip


class Era(msgspec.Struct, frozen=True, kw_only=True):
    """The key set and key order of one era."""

    name: EraName
    since: str
    """The day of the first recording of it, as `2025-05-29`."""
    front: tuple[str, ...] = ("model", "id", "type", "role", "content")
    """How a message begins."""
    nulls: frozenset[str] = frozenset()
    """Fields that are there, as null, where there is nothing to say."""
    usage: frozenset[str]
    """What is counted in every reply."""
    running: bool = True
    """The last event of a stream counts everything anew, not the output alone."""
    callers: frozenset[str] = frozenset()
    """Types of blocks that say who called for them."""

    @property
    def details(self) -> bool:
        """Whether thinking is counted apart, for those who ask for it."""
        return self.since >= _DETAILED

    @property
    def order(self) -> tuple[str, ...]:
        """The fields of a message in their order."""
        return (*self.front, *_END)


_OLD_FRONT = ("id", "type", "role", "model", "content")
_COUNTS = frozenset({"input_tokens", "output_tokens"})
_CACHED = _COUNTS | set(_CACHE_COUNTS)
_TIERED = _CACHED | {"service_tier"}
_BY_AGE = _TIERED | {"cache_creation"}
_PLACED = _BY_AGE | {"inference_geo"}
_STOP = frozenset({"stop_details"})
_DETAILED = "2026-07-01"
"""Since when thinking is counted apart, for those who ask for it."""
_WEB_RESULTS = frozenset({"web_search_tool_result", "web_fetch_tool_result"})
_CALLERS = frozenset({"tool_use"})

ERAS: tuple[Era, ...] = (
    Era(
        name="2024",
        since="2024-03-04",
        front=("id", "type", "role", "content", "model"),
        usage=_COUNTS,
        running=False,
    ),
    Era(name="2024-09", since="2024-09-27", front=_OLD_FRONT, usage=_COUNTS, running=False),
    Era(name="2025-03", since="2025-03-15", front=_OLD_FRONT, usage=_CACHED, running=False),
    Era(name="2025-05", since="2025-05-29", front=_OLD_FRONT, usage=_TIERED, running=False),
    Era(name="2025-08", since="2025-08-14", front=_OLD_FRONT, usage=_BY_AGE),
    Era(name="2025-11", since="2025-10-14", usage=_BY_AGE),
    Era(name="2026-02", since="2026-02-05", usage=_PLACED),
    Era(name="2026-02-18", since="2026-02-18", usage=_PLACED, callers=_CALLERS),
    Era(name="2026-03", since="2026-03-30", nulls=_STOP, usage=_PLACED, callers=_CALLERS),
    Era(name="2026-07", since=_DETAILED, nulls=_STOP, usage=_PLACED, callers=_CALLERS | _WEB_RESULTS),
    Era(
        name="2026-09-14",
        since="2026-09-14",
        nulls=_STOP | {"container"},
        usage=_PLACED,
        callers=_CALLERS | _WEB_RESULTS,
    ),
    Era(
        name="2026-09",
        since="2026-09-28",
        nulls=_STOP | {"container", "diagnostics"},
        usage=_PLACED,
        callers=_CALLERS | _WEB_RESULTS,
    ),
)
"""Oldest first."""

_BY_NAME = {each.name: each for each in ERAS}
assert tuple(_BY_NAME) == get_args(EraName)  # noqa: S101 - the names and the eras are one list


def era(name: EraName = CURRENT) -> Era:
    """The era called `name`."""
    return _BY_NAME[name]


def era_on(day: str) -> Era:
    """The era of a day, as `2026-04-05`; the first one for any day before."""
    return next((each for each in reversed(ERAS) if each.since <= day), ERAS[0])


def era_of(message: Mapping[str, Any]) -> Era:
    """The oldest era in which a message has these fields in this order: how a recording is dated."""
    counted = message.get("usage", {})
    usage = _PLACED.intersection(counted)
    if "inference_geo" in usage:
        # What was refused before it began was served in no tier.
        usage |= {"service_tier"}
    empty = {field for field in ("container", "diagnostics", "stop_details") if message.get(field, 0) is None}
    since = _DETAILED if "output_tokens_details" in counted else ""
    for each in ERAS:
        if each.since < since:
            continue
        front = [field for field in message if field in each.front]
        if usage == each.usage and empty <= each.nulls and _in_order(front, each.front):
            return each
    return era()


def _in_order(fields: list[str], order: tuple[str, ...]) -> bool:
    return fields == [field for field in order if field in fields]


def arranged(message: Mapping[str, Any], of: Era) -> dict[str, Any]:
    """`message` with the fields of an era in its order, nulls filled in or left out; others follow."""
    known: dict[str, Any] = {}
    for field in of.order:
        value = message.get(field)
        # Fields of no era's own, as the list of transformations, are there when they were written.
        if value is not None or field in of.nulls or field in ("stop_reason", "stop_sequence"):
            known[field] = value
    rest = {k: v for k, v in message.items() if k not in known and k not in of.order}
    if isinstance(known.get("usage"), Mapping):
        known["usage"] = in_order(known["usage"], USAGE_ORDER)
    return {**known, **rest}


def in_order(values: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    """The values in an order; those it does not name follow as they were."""
    known = {key: values[key] for key in order if key in values}
    return {**known, **{key: value for key, value in values.items() if key not in known}}
