"""What judging recordings came to, as text and as JSON. Pure: verdicts in, lines or JSON types out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ..cassettes.verdicts import Judged
from ..judge import CheckResult
from .coverage import Coverage, coverage_of
from .coverage import Judged as Decided
from .lines import Line, counted, labelled, shortened
from .text import BAD, check_lines, remark_lines

_ORDER = ("error", "fail", "warn", "inconclusive", "pass", "unsupported")


def traffic_lines(recordings: Sequence[Judged]) -> Iterator[Line]:
    """The first breach of each clause in full, every other with its place; remarks; what there was."""
    shown: set[str] = set()
    others: list[tuple[str, CheckResult]] = []
    for judged in recordings:
        for check in judged.checks:
            if check.grade not in BAD:
                continue
            if check.clause in shown:
                others.append((judged.where(check), check))
                continue
            shown.add(check.clause)
            yield from check_lines(check, judged.where(check))
            yield Line("")
    for where, check in others:
        yield from labelled("also", f"{check.clause}  {where}: {shortened(check.message, 200)}", 0, 14)
    yield from remark_lines(_remarks(recordings))
    yield from _sum(recordings)


def _remarks(recordings: Sequence[Judged]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for judged in recordings:
        for check in judged.checks:
            if check.grade in ("warn", "inconclusive"):
                found.setdefault((check.grade, check.clause), []).append((judged.where(check), check.message))
    return found


def _sum(recordings: Sequence[Judged]) -> Iterator[Line]:
    skipped = sum((judged.skipped for judged in recordings), Counter[str]())
    if skipped:
        told = ", ".join(f"{count} {reason}" for reason, count in skipped.most_common())
        what = counted(skipped.total(), "other interaction")
        yield from labelled("passed over", f"{what}: {told}", 0, 14)
    grades = Counter(judged.grade for judged in recordings)
    counts = ", ".join(f"{grades[grade]} {grade}" for grade in _ORDER if grades[grade])
    requests = counted(sum(judged.requests for judged in recordings), "request")
    conversations = counted(sum(judged.conversations for judged in recordings), "conversation")
    yield Line(f"{_coverage(recordings)} by {requests} in {conversations}")
    yield Line(f"{counted(len(recordings), 'recording')}: {counts}")


def _coverage(recordings: Sequence[Judged]) -> Coverage:
    return coverage_of(
        Decided(check.clause, check.grade, check.evidence) for judged in recordings for check in judged.checks
    )


def traffic_json(judged: Judged) -> dict[str, Any]:
    """One recording for machines: what it holds, and everything that was found with its place."""
    return {
        "file": str(judged.cassette.path),
        "grade": judged.grade,
        "requests": judged.requests,
        "conversations": judged.conversations,
        "passed_over": dict(judged.skipped),
        "checks": [_check(judged, check) for check in judged.checks],
    }


def _check(judged: Judged, check: CheckResult) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(check)
    told.pop("turn", None)
    if check.request is not None:
        told["line"] = judged.line(check)
    return told
