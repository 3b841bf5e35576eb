"""The report for machines."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from harness.judge import CheckResult
from harness.report import json as json_report
from harness.runner import CaseResult


def test_it_has_the_documented_form() -> None:
    check = CheckResult(clause="END-1", level="MUST", grade="pass", message="kept")
    result = CaseResult(scenario="text/one", variant="sse", grade="pass", seconds=0.25, checks=[check])

    report = json_report.report("mine:loop", 3, [result])

    coverage = report.pop("coverage")
    assert report == {
        "schema": 1,
        "loop": "mine:loop",
        "seed": 3,
        "results": [
            {
                "scenario": "text/one[sse]",
                "grade": "pass",
                "seconds": 0.25,
                "checks": [
                    {
                        "clause": "END-1",
                        "level": "MUST",
                        "grade": "pass",
                        "evidence": "wire",
                        "message": "kept",
                    }
                ],
            }
        ],
    }
    assert coverage["decided"] == 1
    assert "END-1" not in coverage["undecided"]
    assert coverage["clauses"] == coverage["decided"] + len(coverage["undecided"])


def test_it_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    json_report.write(path, {"first": True})

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            json_report.write(path, {"second": True})

    assert json.loads(path.read_text()) == {"first": True}
    assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_it(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        json_report.write(tmp_path / "report.json", {})
    finally:
        os.umask(mask)

    assert stat.S_IMODE((tmp_path / "report.json").stat().st_mode) == 0o644
