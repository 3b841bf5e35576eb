"""What judging recordings came to, as text, and as a report. Pure: verdicts in, lines or a report out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from ..cassettes.verdicts import Judged
from ..judge import CheckResult
from ..runner import CaseResult
from .coverage import Coverage, coverage_of
from .coverage import Judged as Decided
from .lines import Line, counted, labelled, shortened
from .model import BAD, LoopReport, covered
from .text import check_lines, remark_lines

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


def recordings_report(recordings: Sequence[Judged]) -> LoopReport:
    """The recordings as one report: each is a case, and what was found has the line of its request."""
    results = [_as_case(judged) for judged in recordings]
    return LoopReport(
        name="recordings",
        recorded=True,
        command=["loop-harness", "judge", "{history}"],
        notes=[line.text for line in _sum(recordings)],
        results=results,
        coverage=covered(results),
    )


def _as_case(judged: Judged) -> CaseResult:
    path = str(judged.path)
    checks = [
        check if check.request is None else msgspec.structs.replace(check, line=judged.line(check))
        for check in judged.checks
    ]
    return CaseResult(scenario=path, variant="", grade=judged.grade, checks=checks, history=path)
