"""Results as text. Pure: results in, lines out; what is printed where is somebody else's business."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ..clauses import CLAUSES
from ..history import Began
from ..judge import CheckResult
from ..runner import CaseResult
from .lines import Line, labelled, listed, shortened
from .model import BAD
from .trace import LONGEST, trace_lines

_GROUNDS = {"recorded": "recorded", "documented": "documented", "construction": "by construction"}
OWN = "EXPECT"
"""The clause for what only the scenario expects: where another one is broken, that one says more."""


def kinds_of(result: CaseResult) -> set[str]:
    """What is wrong with a result, by clause; an error without one by its reason. Empty where nothing is."""
    if result.grade not in BAD:
        return set()
    broken = {check.clause for check in result.checks if check.grade in BAD}
    return (broken - {OWN}) or broken or {f"error: {result.reason}"}


def case_lines(
    result: CaseResult, again: str, known: Collection[str] = (), *, whole: bool = False
) -> Iterator[Line]:
    """The block of a case that failed: each broken clause, then the trace and the line to run it again.

    Clauses that are `known` to be broken are only named. Of a long trace the middle is left out, unless the
    `whole` is wanted.
    """
    broken = [check for check in result.checks if check.grade in BAD]
    told = [check for check in broken if check.clause in kinds_of(result) and check.clause not in known]
    if not broken:
        yield from _error_lines(result)
    for check in told:
        yield from check_lines(check, result.id)
        yield Line("")
    others = [check.clause for check in broken if check not in told]
    if others:
        yield from labelled("also", f"broken in this case: {', '.join(others)}")
        yield Line("")
    if result.events:
        yield Line("  trace", "head")
        yield from trace_lines(result.events, most=None if whole else LONGEST)
        yield Line("")
    yield from labelled("seed", str(_seed(result)))
    if result.history:
        yield from labelled("history", result.history)
    yield Line(f"  {'again':<10}{again}")


def _error_lines(result: CaseResult) -> Iterator[Line]:
    first, *more = (result.reason or "the case could not be judged").splitlines()
    yield Line(f"ERROR  {result.id}  {first}", "bad")
    yield from (Line(f"  {line}") for line in more)
    yield Line("")


def check_lines(check: CheckResult, case: str) -> Iterator[Line]:
    """What one clause says, what was expected of the loop, and what it did."""
    clause = CLAUSES.get(check.clause)
    yield Line(f"{check.grade.upper()}  {check.clause}  {shortened(check.message, 90)}", "bad")
    yield Line("")
    yield from labelled("where", ", ".join([placed(check, case), *_place(check)]))
    if clause:
        yield from labelled("clause", f"{clause.sentence} ({check.level})")
        yield Line(f"  {'ground':<10}{_GROUNDS.get(check.ground, check.ground)}: {clause.source}")
    yield from labelled("expected", check.expected)
    yield from labelled("happened", check.happened)
    if check.diff:
        yield Line("  diff", "head")
        yield from _diff_lines(check.diff)
    if check.advice:
        yield from labelled("advice", check.advice)


def placed(check: CheckResult, case: str) -> str:
    """The case, of a recording with the line."""
    return f"{case}:{check.line}" if check.line else case


def _place(check: CheckResult) -> Iterator[str]:
    if check.turn:
        yield f"turn {check.turn + 1}"
    if check.request is not None:
        yield f"request {check.request}"
    if check.block is not None:
        yield f"block {check.block}"


def _diff_lines(diff: str) -> Iterator[Line]:
    for line in diff.splitlines():
        style = {"+": "added", "-": "removed"}.get(line[:1], "")
        yield Line(f"    {line}", style)


def _seed(result: CaseResult) -> int:
    first = result.events[0] if result.events else None
    return first.seed if isinstance(first, Began) else 0


def remark_lines(found: Mapping[tuple[str, str], Sequence[tuple[str, str]]]) -> Iterator[Line]:
    """One line for each grade and clause: the first case's message, and how many more say the same."""
    for (grade, clause), cases in sorted(found.items(), reverse=True):
        case, message = cases[0]
        more = f" (and in {len(cases) - 1} more)" if len(cases) > 1 else ""
        yield from labelled(grade, f"{clause}  {case}: {message}{more}", indent=0, column=14)


def also_lines(found: Mapping[str, Sequence[str]]) -> Iterator[Line]:
    """Where else what was shown in full is wrong, too."""
    for kind, cases in sorted(found.items()):
        if cases:
            yield from labelled("also", f"{shortened(kind)} in {listed(cases)}", indent=0, column=14)
