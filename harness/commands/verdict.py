"""What the results of a run come to, as an exit code."""

from __future__ import annotations

from collections.abc import Sequence

from ..report.coverage import DECIDING
from ..runner import CaseResult
from . import CANNOT_BE_DRIVEN

BROKEN = 1


def exit_code(results: Sequence[CaseResult], *, strict: bool) -> int:
    """0 nothing unexpected; 4 no clause was decided; 1 something failed, with `strict` also a remark."""
    if not any(check.grade in DECIDING for result in results for check in result.checks):
        return CANNOT_BE_DRIVEN
    unwanted = {"fail", "error"} | ({"warn", "inconclusive"} if strict else set())
    return BROKEN if any(result.grade in unwanted for result in results) else 0
