"""The endpoint of a badge: https://shields.io/badges/endpoint-badge."""

from __future__ import annotations

import json

from .grouped import breaches, known_of
from .kinds import View
from .lines import counted
from .model import LoopReport, Report


def render(report: Report, _view: View) -> str:
    """What shields.io reads: `{"schemaVersion": 1, "label": …, "message": …, "color": …}`."""
    message, colour = _said(report)
    badge = {"schemaVersion": 1, "label": "loop-harness", "message": message, "color": colour}
    return json.dumps(badge | ({"isError": True} if colour == "red" else {}), ensure_ascii=False) + "\n"


def _said(report: Report) -> tuple[str, str]:
    if not report.loops or all(loop.problem for loop in report.loops):
        return "not judged", "lightgrey"
    if report.incomplete and not any(map(_broken, report.loops)):
        return "incomplete", "lightgrey"
    if len(report.loops) > 1:
        red = sum(_broken(loop) > 0 for loop in report.loops)
        return f"{len(report.loops) - red} of {counted(len(report.loops), 'loop')} conform", _colour(red)
    [loop] = report.loops
    of = f"{loop.profile}: " if loop.profile else ""
    decided = f"{of}{len(loop.coverage.decided)} of {loop.coverage.clauses} clauses"
    broken = _broken(loop)
    if not loop.coverage.decided and not broken:
        return "not judged", "lightgrey"
    known = len(known_of(loop))
    told = [f"{broken} broken"] if broken else []
    told += [f"{known} known"] if known else []
    return decided + (", " + ", ".join(told) if told else " kept"), _colour(broken)


def _broken(loop: LoopReport) -> int:
    return 1 if loop.problem else len(breaches(loop))


def _colour(broken: int) -> str:
    return "red" if broken else "brightgreen"
