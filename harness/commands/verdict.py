"""What the results of a run come to, as an exit code."""

from __future__ import annotations

from collections.abc import Sequence

from ..report.coverage import DECIDING
from ..report.model import LoopReport
from ..runner import CaseResult
from . import BROKEN, CANNOT_BE_DRIVEN


def exit_code(results: Sequence[CaseResult], *, strict: bool, part: bool = False) -> int:
    """0 nothing unexpected; 4 no clause was decided; 1 something failed, with `strict` also a remark.

    Of a `part` of a run nothing can be said that only the whole of it shows.
    """
    if not part and not any(check.grade in DECIDING for result in results for check in result.checks):
        return CANNOT_BE_DRIVEN
    unwanted = {"fail", "error"} | ({"warn", "inconclusive"} if strict else set())
    return BROKEN if any(result.grade in unwanted for result in results) else 0


def worst(loops: Sequence[LoopReport], *, strict: bool, part: bool = False) -> int:
    """The exit code of a run with these loops: of several codes the one that says most is wrong."""
    codes = {
        CANNOT_BE_DRIVEN if loop.problem else exit_code(loop.results, strict=strict, part=part)
        for loop in loops
    }
    return next((code for code in (CANNOT_BE_DRIVEN, BROKEN) if code in codes), 0)
