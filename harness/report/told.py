"""What a run has to say as lines: the first breach of each clause in full, the others by name, the sum."""

from __future__ import annotations

from collections.abc import Iterator

from ..judge import CheckResult
from ..runner import CaseResult
from .kinds import View
from .lines import Line, counted, labelled, listed
from .model import BAD, LoopReport, Report
from .summary import digest, last_line, remarks_of, summary_lines
from .text import also_lines, case_lines, kinds_of


class Teller:
    """Tells the results of one loop as they come."""

    def __init__(self, loop: LoopReport, view: View) -> None:
        """`loop` need not have its results yet."""
        self._loop = loop
        self._view = view
        self._also: dict[str, list[str]] = {}
        """For each kind of breach shown in full, the further cases it was found in."""

    def result(self, result: CaseResult) -> Iterator[Line]:
        """The result, if it is a failure of a new kind; with `verbose` whatever it is."""
        kinds = kinds_of(result)
        known = set() if self._view.detail == "verbose" else kinds & self._also.keys()
        if self._view.detail == "quiet":
            yield from _in_short(result)
        elif kinds - known:
            again = self._loop.again(result)
            yield from case_lines(result, again, known, whole=self._view.detail == "verbose")
            yield Line("")
        elif self._view.detail == "verbose" and not self._view.only_failures:
            yield Line(f"{result.grade:<14}{result.id}  {result.seconds:.2f} s", "dim")
        for kind in known:
            self._also[kind].append(result.id)
        self._also |= {kind: [] for kind in kinds - known}

    def rest(self, results: list[CaseResult]) -> Iterator[Line]:
        """Where else each clause is broken, the remarks, what was not judged, and the sum of the results."""
        digests = [
            digest(self._loop.name, self._loop.exposes, result, self._loop.profile) for result in results
        ]
        yield from unplayed_lines(self._loop)
        if not results and self._loop.unplayed:
            return
        if self._view.detail != "quiet":
            yield from also_lines(self._also)
            if self._loop.recorded and not self._view.only_failures:
                yield from remarks_of(digests)
            yield from (Line(note, "dim") for note in self._loop.notes)
            if not self._view.only_failures and not self._loop.recorded:
                yield from summary_lines(digests)
                return
        yield last_line(digests, "recording" if self._loop.recorded else "case")


def heading(loop: LoopReport) -> Iterator[Line]:
    """What stands above the results of a loop, where there are several."""
    of = f" ({loop.target})" if loop.target not in ("", loop.name) else ""
    yield Line(f"== {loop.name}{of}", "head")
    yield Line("")


def problem_lines(loop: LoopReport) -> Iterator[Line]:
    """Why a loop could not be driven."""
    first, *more = loop.problem.splitlines()
    yield Line("ERROR  the loop cannot be driven, so nothing was judged", "bad")
    yield from (Line(f"  {line}") for line in [first, *more])


def unplayed_lines(loop: LoopReport) -> Iterator[Line]:
    """What a run that was cut short did not get to."""
    if loop.unplayed:
        text = f"{loop.cut_short}: {listed(loop.unplayed, 3)}"
        for number, line in enumerate(labelled("INCOMPLETE", text, indent=0, column=14)):
            yield Line(line.text, "" if number else "bad")


def render(report: Report, view: View) -> str:
    """The lines of all loops, as plain text."""
    lines: list[Line] = []
    for loop in report.loops:
        lines += [Line("")] if lines else []
        lines += heading(loop) if len(report.loops) > 1 else []
        if loop.problem:
            lines += problem_lines(loop)
            continue
        teller = Teller(loop, view)
        for result in loop.results:
            lines += teller.result(result)
        lines += teller.rest(loop.results)
    return "".join(line.text + "\n" for line in lines)


def _in_short(result: CaseResult) -> Iterator[Line]:
    """A failure as one line a clause."""
    broken: list[CheckResult] = [check for check in result.checks if check.clause in kinds_of(result)]
    for check in broken:
        yield Line(f"{check.grade.upper():<7}{check.clause}  {result.id}: {check.message}", "bad")
    if not broken and result.grade in BAD:
        reason = (result.reason or "the case could not be judged").splitlines()[0]
        yield Line(f"{result.grade.upper():<7}{result.id}: {reason}", "bad")


def loops_line(report: Report) -> Line:
    """How the loops of a report ended, where there are several."""
    red = sum(bool(loop.problem) or any(loop.bad) for loop in report.loops)
    of = f"{red} of {counted(len(report.loops), 'loop')}"
    cut = "; the run was cut short" if report.incomplete else ""
    return Line(
        f"{of} with failures{cut}"
        if red or cut
        else f"{counted(len(report.loops), 'loop')} without a failure"
    )
