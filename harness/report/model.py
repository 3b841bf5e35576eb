"""A report: what every kind of report is made from, and what the JSON report stores.

Whoever has a `Report`, from a run or read from a file, can render it as any kind.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from .. import __version__
from ..profiles.model import catalogue_of
from ..runner import CaseResult
from .coverage import Coverage, Judged, coverage_of
from .lines import counted

SCHEMA = 2
"""Version of the stored form; raised when an old reader would misread a new file."""

BAD = ("error", "fail")
"""The grades that make a run red."""


class LoopReport(msgspec.Struct, kw_only=True):
    """What became of one loop."""

    name: str
    """What the loop is called in this run; unique in the report."""
    target: str = ""
    """How it was reached: `my_agent.conformance:loop`."""
    seed: int = 0
    """Decided the text that does not matter."""
    command: list[str] = []
    """The words of the line that runs a case again, `{case}` and `{history}` standing for the case's own.

    Of a run by pytest it is `pytest`, and a node id in which `{test}` stands for the case."""
    exposes: list[str] = []
    """What the probe found the loop to expose; the names are those of `harness.turn.EXPOSABLE`."""
    notes: list[str] = []
    """What the owner should know, each said once."""
    recorded: bool = False
    """These are no runs of a loop but recordings, each of which is a result named by its file."""
    problem: str = ""
    """Why the loop could not be driven; then there are no results."""
    coverage: Coverage = Coverage(clauses=0, decided=[], by_word=[], undecided=[])
    """What the run decided about the clauses of the catalogue."""
    results: list[CaseResult] = []
    """In the order in which they were played."""
    profile: str = ""
    """The frozen set of clauses and scenarios that was asked for: `core-1`; empty where all was."""
    shard: str = ""
    """`2/3`, where this is the second of three parts of a run."""
    cases: list[str] = []
    """Of a shard: all the cases of the whole run, in their order."""
    unplayed: list[str] = []
    """Cases that were to be played and were not, since the run was cut short: the report is incomplete."""

    def again(self, result: CaseResult) -> str:
        """The line that runs a case again."""
        if self.command[:1] == ["pytest"]:
            test = f"{result.scenario}-{result.variant}"
            return shlex.join(word.replace("{test}", test) for word in self.command)
        own = {"{case}": result.id, "{history}": result.history or ""}
        return shlex.join(own.get(word, word) for word in self.command)

    @property
    def cut_short(self) -> str:
        """`the run was cut short: 3 cases were not played`; empty where all were."""
        if not self.unplayed:
            return ""
        were = "was" if len(self.unplayed) == 1 else "were"
        return f"the run was cut short: {counted(len(self.unplayed), 'case')} {were} not played"

    @property
    def bad(self) -> Iterator[CaseResult]:
        """The results that are `error` or `fail`."""
        return (result for result in self.results if result.grade in BAD)


class Report(msgspec.Struct, kw_only=True):
    """One run: the results of one loop or of several, over the same cases."""

    schema: int = SCHEMA
    """Version of this form."""
    version: str = __version__
    """Of the loop-harness that judged."""
    made: str = ""
    """When, in UTC: `2026-05-04T12:00:00Z`."""
    loops: list[LoopReport] = []

    @property
    def incomplete(self) -> bool:
        """Whether the run was cut short."""
        return any(loop.unplayed for loop in self.loops)


def report_of(loops: Iterable[LoopReport]) -> Report:
    """A report made now."""
    return Report(made=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", loops=list(loops))


def covered(results: Sequence[CaseResult], profile: str = "") -> Coverage:
    """What the results decided together, of the clauses of a profile."""
    judged = (
        Judged(check.clause, check.grade, check.evidence) for result in results for check in result.checks
    )
    return coverage_of(judged, catalogue_of(profile))


def narrowed(report: Report) -> Report:
    """The report with nothing but the results that failed; what was decided stays as it was."""
    return msgspec.structs.replace(
        report,
        loops=[msgspec.structs.replace(loop, results=list(loop.bad)) for loop in report.loops],
    )
