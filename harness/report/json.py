"""The report for programs. Its form is the model's, versioned, and has a JSON Schema of its own."""

from __future__ import annotations

import msgspec

from ..runner import CaseResult
from .kinds import View
from .model import LoopReport, Report
from .packed import packed

ROOM = 16_000_000
"""Bytes of what happened in runs that passed; beyond it only their verdicts are kept."""


def render(report: Report, _view: View) -> str:
    """The whole report; `harness.report.load` reads it again."""
    encoder = msgspec.json.Encoder()
    room = ROOM

    def stored(result: CaseResult) -> CaseResult:
        nonlocal room
        small = msgspec.structs.replace(result, events=packed(result.events))
        if result.grade == "pass":
            room -= len(encoder.encode(small.events))
            if room < 0:
                return msgspec.structs.replace(small, events=[])
        return small

    def told(loop: LoopReport) -> LoopReport:
        return msgspec.structs.replace(loop, results=[stored(result) for result in loop.results])

    small = msgspec.structs.replace(report, loops=[told(loop) for loop in report.loops])
    return encoder.encode(small).decode() + "\n"
