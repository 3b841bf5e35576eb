"""A clause judged by the clock is tried twice before it may fail: a busy machine is no fault of the loop."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from .clauses import CLAUSES
from .clock import SLACK
from .history import AnyEvent, Finished
from .judge import CheckResult


def hangs_on_time(checks: Sequence[CheckResult]) -> bool:
    """Whether a verdict is worse only because of when something happened."""
    return any(_timed(check) for check in checks)


def settle(
    first: Sequence[AnyEvent], second: Sequence[AnyEvent], checks: Sequence[CheckResult]
) -> list[CheckResult]:
    """The `checks` of the second run, where a timed one is `inconclusive` if the machine was late in both."""
    late = min(_lateness(first), _lateness(second))
    if late <= SLACK:
        return list(checks)
    why = f"the machine was late by {late:.2f} s or more, twice"
    return [
        msgspec.structs.replace(check, grade="inconclusive", message=why) if _timed(check) else check
        for check in checks
    ]


def _timed(check: CheckResult) -> bool:
    clause = CLAUSES.get(check.clause)
    return check.grade in ("fail", "warn") and clause is not None and clause.timed


def _lateness(events: Sequence[AnyEvent]) -> float:
    return max((event.lateness for event in events if isinstance(event, Finished)), default=0.0)
