"""Baselines in a few lines, and results as a run gives them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.baseline.ledger import Ledger, Played
from harness.baseline.load import Baseline, Known, load
from harness.judge import CheckResult
from harness.runner import CaseResult

KNOWN = Known(
    {"pause/twice": ("json", "sse"), "pause/no-tools": ("json", "sse"), "fault/cut": ("sse",)},
    ("PAUSE-1", "PAUSE-5", "FAULT-5"),
)


def baseline(folder: Path, text: str) -> Baseline:
    path = folder / "conformance.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path, KNOWN)


def ledger(
    folder: Path, *entries: str, loop: str = "mine", coverage: str = "{}", whole: Iterable[str] = ()
) -> Ledger:
    """A ledger of a baseline with these entries, each written as `scenario: …, grade: …` without a reason.

    `whole`: the cases of a run of everything.
    """
    lines = [f"\n  - {{{entry}, reason: because}}" for entry in entries]
    text = f"coverage: {coverage}\nknown: {''.join(lines) or '[]'}\n"
    return Ledger(baseline(folder, text), loop, [Played(*named(case)) for case in whole])


def named(case: str) -> tuple[str, str]:
    """`pause/twice[json]` as a scenario and a variant."""
    scenario, _, variant = case.removesuffix("]").partition("[")
    return scenario, variant


def result(case: str = "pause/twice[json]", **grades: str) -> CaseResult:
    """A case with these grades: `PAUSE_1="fail"`. Its own is the strongest."""
    checks = [
        CheckResult(clause=name.replace("_", "-"), level="MUST", grade=grade, message="the message")
        for name, grade in grades.items()
    ]
    order = ("error", "fail", "inconclusive", "warn", "pass")
    own = next((grade for grade in order if grade in grades.values()), "unsupported")
    scenario, variant = named(case)
    return CaseResult(scenario=scenario, variant=variant, grade=own, checks=checks)
