"""The report for machines. Its form is versioned: `schema` is raised when an old reader would misread it."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..runner import CaseResult
from .coverage import Judged, coverage_of

SCHEMA = 1


def report(loop: str, seed: int, results: Sequence[CaseResult]) -> dict[str, Any]:
    """The whole report as JSON types."""
    judged = [Judged(each.clause, each.grade, each.evidence) for result in results for each in result.checks]
    coverage = coverage_of(judged)
    return {
        "schema": SCHEMA,
        "loop": loop,
        "seed": seed,
        "results": [_result(result) for result in results],
        "coverage": {
            "clauses": coverage.clauses,
            "decided": len(coverage.decided),
            "by_adapters_word": len(coverage.by_word),
            "undecided": coverage.undecided,
        },
    }


def _result(result: CaseResult) -> dict[str, Any]:
    return {
        "scenario": result.id,
        "grade": result.grade,
        "seconds": result.seconds,
        "checks": [
            {
                "clause": check.clause,
                "level": check.level,
                "grade": check.grade,
                "evidence": check.evidence,
                "message": check.message,
            }
            for check in result.checks
        ],
    }


def check_writable(path: Path) -> None:
    """Raise the `OSError` that writing the report would: better before a run than after it."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    Path(name).unlink()


def write(path: Path, content: dict[str, Any]) -> None:
    """Write the report so that a reader finds the old file or the whole new one. Raises `OSError`."""
    data = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The mask of this process: what `mkstemp` makes only its owner can read, and a report is for others."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
