"""Results as text. Pure: results in, lines out; what is printed where is somebody else's business."""

from __future__ import annotations

from collections.abc import Iterator

from ..clauses import CLAUSES
from ..history import Began
from ..judge import CheckResult
from ..runner import CaseResult
from .lines import Line, labelled
from .trace import trace_lines

_WORDS = {"recorded": "recorded", "documented": "documented", "construction": "by construction"}


def case_lines(result: CaseResult, again: str) -> Iterator[Line]:
    """The block of a case that failed: each broken clause, then the trace and the line to run it again."""
    broken = [check for check in result.checks if check.grade in ("fail", "error")]
    if not broken:
        yield Line(f"ERROR  {result.id}: {result.reason or 'the case could not be judged'}", "bad")
    for number, check in enumerate(broken):
        if number:
            yield Line("")
        yield from check_lines(check, result.id)
    yield Line("")
    yield Line("  trace", "head")
    yield from trace_lines(result.events)
    yield Line("")
    yield from labelled("seed", str(_seed(result)))
    if result.history:
        yield from labelled("history", result.history)
    yield Line(f"  {'again':<10}{again}")


def check_lines(check: CheckResult, case: str) -> Iterator[Line]:
    """What one clause says, what was expected of the loop, and what it did."""
    clause = CLAUSES.get(check.clause)
    yield Line(f"{check.grade.upper()}  {check.clause}  {check.message}", "bad")
    yield Line("")
    yield from labelled("scenario", case)
    if clause:
        ground = f"{check.level}, {_WORDS.get(check.ground, check.ground)}"
        yield from labelled("clause", f"{clause.sentence} ({ground})")
        if clause.source.startswith("http"):
            yield Line(f"  {'source':<10}{clause.source}", "dim")
    yield from labelled("expected", check.expected)
    yield from labelled("happened", check.happened)
    where = _where(check)
    if where:
        yield from labelled("where", where)
    if check.diff:
        yield Line("  diff", "head")
        yield from _diff_lines(check.diff)
    if check.advice:
        yield from labelled("advice", check.advice)


def _where(check: CheckResult) -> str:
    parts = [f"turn {check.turn + 1}"] if check.turn else []
    if check.request is not None:
        parts.append(f"request {check.request}")
    if check.block is not None:
        parts.append(f"block {check.block}")
    return ", ".join(parts)


def _diff_lines(diff: str) -> Iterator[Line]:
    for line in diff.splitlines():
        style = {"+": "added", "-": "removed"}.get(line[:1], "")
        yield Line(f"    {line}", style)


def _seed(result: CaseResult) -> int:
    first = result.events[0] if result.events else None
    return first.seed if isinstance(first, Began) else 0


def grouped_lines(found: dict[tuple[str, str], list[tuple[str, str]]]) -> Iterator[Line]:
    """One line for each grade and clause: the first case's message, and how many more say the same."""
    for (grade, clause), cases in sorted(found.items(), reverse=True):
        case, message = cases[0]
        more = f" (and in {len(cases) - 1} more)" if len(cases) > 1 else ""
        yield from labelled(grade, f"{clause}  {case}: {message}{more}", indent=0, column=14)
