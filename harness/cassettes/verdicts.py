"""Judges what was recorded, without running anything: every clause that shows on the wire."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ..checks import registered
from ..judge import CheckResult, judge, scenario_grade
from .conversations import told_apart
from .exchanges import talk_of
from .model import Cassette
from .traffic import WIRE, history

_KEPT = ("error", "fail", "warn")


@dataclass
class Judged:
    """What became of one recording."""

    path: Path
    lines: list[int]
    """Where each interaction begins; what was recorded is not kept, since there may be many recordings."""
    grade: str = "unsupported"
    checks: list[CheckResult] = field(default_factory=list)
    """Of all its conversations; what is wrong is there once, although conversations may share requests."""
    conversations: int = 0
    requests: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """How many interactions are none of the Messages API, or cannot be read, by the reason."""

    def line(self, check: CheckResult) -> int:
        """The line of the interaction that shows it."""
        return self.lines[(check.request or 1) - 1]

    def where(self, check: CheckResult) -> str:
        """`file:line` of the interaction that shows it."""
        return f"{self.path}:{self.line(check)}"


def judge_cassette(cassette: Cassette) -> Judged:
    """Judge every conversation of a recording by what was on the wire."""
    talk = talk_of(cassette)
    lines = [one.line for one in cassette.interactions]
    found = Judged(cassette.path, lines, requests=len(talk.exchanges), skipped=talk.skipped)
    checks = {clause: check for clause, check in registered().items() if clause in WIRE}
    known: set[tuple[str, int | None, str]] = set()
    for conversation in told_apart(talk.exchanges):
        found.conversations += 1
        for result in judge(history(conversation, str(cassette.path)), checks=checks).checks:
            same = (result.clause, result.request, result.message)
            if result.grade in _KEPT and same in known:
                continue
            known.add(same)
            found.checks.append(result)
    found.grade = scenario_grade(found.checks, frozenset())
    return found
