"""The end of a run, summed up. Works on digests: plain data that travels between pytest-xdist's processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..history import Began
from ..loops.exposing import how_to_expose
from ..profiles.model import catalogue_of
from ..runner import CaseResult
from .coverage import Judged, coverage_of, unexposed
from .lines import Line, counted, labelled
from .notices import notice_lines, remarks_on
from .text import remark_lines

_ORDER = ("error", "fail", "known", "warn", "inconclusive", "unsupported", "pass")


def digest(loop: str, exposes: Sequence[str], result: CaseResult, profile: str = "") -> dict[str, Any]:
    """What the summary needs of a result, as JSON types."""
    return {
        "loop": loop,
        "profile": profile,
        "exposes": list(exposes),
        "case": result.id,
        "grade": result.grade,
        "kind": next((event.kind for event in result.events if isinstance(event, Began)), "python"),
        "remarks": remarks_on(result.events),
        "checks": [[check.clause, check.grade, check.evidence, check.message] for check in result.checks],
    }


def summary_lines(results: Sequence[dict[str, Any]]) -> Iterator[Line]:
    """Remarks, then what was not judged and why, then the coverage. What failed has been said already."""
    yield from remarks_of(results)
    yield from notice_lines([(result["case"], result.get("remarks", [])) for result in results])
    exposes = {name for result in results for name in result["exposes"]}
    kinds = {result.get("kind", "python") for result in results}
    missing = unexposed(exposes, catalogue_of(_profile(results)))
    yield from _unexposed_lines(missing, how_to_expose(kinds.pop() if len(kinds) == 1 else "python"))
    yield from _spared_lines(results, missing)
    yield last_line(results)


def remarks_of(results: Sequence[dict[str, Any]]) -> Iterator[Line]:
    """What is worth a remark, a line for each clause."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for result in results:
        for clause, grade, _, message in result["checks"]:
            if grade in ("warn", "inconclusive"):
                found.setdefault((grade, clause), []).append((result["case"], message))
    yield from remark_lines(found)


def last_line(results: Sequence[dict[str, Any]], what: str = "case") -> Line:
    """The coverage, and how many cases have which grade."""
    judged = [Judged(*check[:3]) for result in results for check in result["checks"]]
    profile = _profile(results)
    of = f"{profile}: " if profile else ""
    coverage = coverage_of(judged, catalogue_of(profile))
    return Line(f"{of}{coverage}; {tally((result['grade'] for result in results), what)}")


def _profile(results: Sequence[dict[str, Any]]) -> str:
    """The profile that all of them were judged by."""
    names = {str(result.get("profile", "")) for result in results}
    return names.pop() if len(names) == 1 else ""


def _unexposed_lines(unexposed: Mapping[str, list[str]], how: Mapping[str, str]) -> Iterator[Line]:
    for name, clauses in unexposed.items():
        them = "it" if len(clauses) == 1 else "them"
        text = f"{', '.join(clauses)}; to have {them} judged, {how[name]}"
        yield from labelled("not judged", text, indent=0, column=14)


def _spared_lines(results: Sequence[dict[str, Any]], unexposed: Mapping[str, list[str]]) -> Iterator[Line]:
    """Clauses that no case could be played for, whatever the loop exposes."""
    missing = {clause for clauses in unexposed.values() for clause in clauses}
    checks = [check for result in results for check in result["checks"]]
    others = {clause for clause, grade, *_ in checks if grade != "unsupported"}
    spared: dict[str, list[str]] = {}
    for clause, grade, _, message in checks:
        if grade == "unsupported" and clause not in missing | others:
            clauses = spared.setdefault(message, [])
            clauses += [] if clause in clauses else [clause]
    for message, clauses in spared.items():
        yield from labelled("not judged", f"{', '.join(clauses)}: {message}", indent=0, column=14)


def tally(grades: Iterator[str], what: str = "case") -> str:
    """`40 cases: 1 fail, 2 warn, 37 pass`."""
    counts = Counter(grades)
    parts = [f"{counts[grade]} {grade}" for grade in _ORDER if counts[grade]]
    every = counted(sum(counts.values()), what)
    return f"{every}: {', '.join(parts)}" if parts else every
