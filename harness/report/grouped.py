"""The breaches of a loop by clause: a clause broken in forty cases is one thing to mend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..clauses import CLAUSES
from ..judge import CheckResult
from ..runner import CaseResult
from .model import BAD, LoopReport
from .text import kinds_of


class Breach(NamedTuple):
    """A clause that is broken, with the first case that shows it."""

    clause: str
    """Empty for a case that could not be judged."""
    grade: str
    message: str
    result: CaseResult
    check: CheckResult | None
    also: list[str]
    """The further cases."""

    @property
    def title(self) -> str:
        """`PAUSE-1`, or for a case that could not be judged its id."""
        return self.clause or self.result.id

    @property
    def sentence(self) -> str:
        """What the clause asks for."""
        return CLAUSES[self.clause].sentence if self.clause in CLAUSES else ""


def breaches(loop: LoopReport) -> list[Breach]:
    """What is broken, in the order of the catalogue, errors of cases last."""
    found: dict[str, Breach] = {}
    for result in loop.bad:
        for kind, breach in _of(result):
            if kind in found:
                found[kind].also.append(result.id)
            else:
                found[kind] = breach
    return _in_order(found)


def remarks(loop: LoopReport) -> list[Breach]:
    """What is only remarked upon: SHOULDs that are broken."""
    found: dict[str, Breach] = {}
    for result in loop.results:
        for check in result.checks:
            if check.grade == "warn" and check.clause in found:
                found[check.clause].also.append(result.id)
            elif check.grade == "warn":
                found[check.clause] = _breach(result, check)
    return _in_order(found)


def known_of(loop: LoopReport) -> list[str]:
    """The clauses that are broken, and known to be, in the order of the catalogue."""
    found = {check.clause for result in loop.results for check in result.checks if check.grade == "known"}
    return [*(name for name in CLAUSES if name in found), *sorted(found - CLAUSES.keys())]


def _in_order(found: Mapping[str, Breach]) -> list[Breach]:
    """By the catalogue; what is of no clause comes last."""
    order = {name: place for place, name in enumerate(CLAUSES)}
    return sorted(found.values(), key=lambda breach: order.get(breach.clause, len(order)))


def _of(result: CaseResult) -> Iterator[tuple[str, Breach]]:
    kinds = kinds_of(result)
    checks: Sequence[CheckResult] = [check for check in result.checks if check.grade in BAD]
    for check in checks:
        if check.clause in kinds:
            yield check.clause, _breach(result, check)
    if not checks:
        reason = (result.reason or "the case could not be judged").splitlines()[0]
        yield f"error: {reason}", Breach("", "error", reason, result, None, [])


def _breach(result: CaseResult, check: CheckResult) -> Breach:
    return Breach(check.clause, check.grade, check.message, result, check, [])
