"""The report as one page that needs nothing but itself: no network, no other file.

The page opens with an index of all verdicts. What happened in each run is stored as JSON in an element of its
own, and read when somebody asks for it.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

import msgspec

from ...clauses import CLAUSES, FAMILIES
from ...judge import CheckResult
from ...runner import CaseResult
from ..kinds import View
from ..model import LoopReport, Report
from ..text import placed
from .timeline import timeline_of

ROOM = 24_000_000
"""Bytes of what happened in runs that passed; beyond it only their verdicts are in the page."""
_SCRIPTS = ("base.js", "home.js", "clause.js", "blocks.js", "timeline.js", "run.js", "main.js")
_LETTERS = {
    "pass": "p",
    "warn": "w",
    "fail": "f",
    "known": "k",
    "inconclusive": "i",
    "unsupported": "u",
    "error": "e",
}

_TELLING = ("error", "fail", "known", "warn", "inconclusive")


def render(report: Report, _view: View) -> str:
    """The page."""
    page = _file("page.html")
    style = "\n" + _file("style.css")
    script = "\n'use strict';\n(() => {\n" + "\n".join(map(_file, _SCRIPTS)) + "\n})();\n"
    parts = {
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
        "style": style,
        "script": script,
        "index": _embedded(_index(report)),
        "details": "\n".join(_details(report)),
    }
    before, *rest = page.split("{{")
    pieces = [before]
    for piece in rest:
        name, _, after = piece.partition("}}")
        pieces += [parts[name], after]
    return "".join(pieces)


def _index(report: Report) -> dict[str, Any]:
    """What the first view needs: every verdict as one letter, in the order of the clauses."""
    unknown = {
        c.clause: c
        for loop in report.loops
        for r in loop.results
        for c in r.checks
        if c.clause not in CLAUSES
    }
    names = [*CLAUSES, *unknown]
    return {
        "version": report.version,
        "made": report.made,
        "families": FAMILIES,
        "clauses": [_clause(name, unknown) for name in names],
        "loops": [_loop(loop, names) for loop in report.loops],
    }


def _clause(name: str, unknown: dict[str, CheckResult]) -> dict[str, Any]:
    if name in unknown:
        return {"id": name, "level": unknown[name].level, "sentence": "", "source": "", "family": ""}
    clause = CLAUSES[name]
    told = ("id", "level", "sentence", "reason", "ground", "source", "advice", "family")
    return {field: getattr(clause, field) for field in told}


def _loop(loop: LoopReport, names: list[str]) -> dict[str, Any]:
    return {
        "name": loop.name,
        "target": loop.target,
        "seed": loop.seed,
        "problem": loop.problem,
        "notes": loop.notes,
        "cutShort": loop.cut_short,
        "unplayed": loop.unplayed,
        "recorded": loop.recorded,
        "profile": loop.profile,
        "decided": len(loop.coverage.decided),
        "byWord": len(loop.coverage.by_word),
        "clauses": loop.coverage.clauses,
        "results": [
            [result.id, result.grade, result.seconds, _letters(result, names)] for result in loop.results
        ],
    }


def _letters(result: CaseResult, names: list[str]) -> str:
    grades = {check.clause: _LETTERS[check.grade] for check in result.checks if check.grade in _LETTERS}
    return "".join(grades.get(name, ".") for name in names).rstrip(".")


def _details(report: Report) -> list[str]:
    room = ROOM
    found = []
    for number, loop in enumerate(report.loops):
        for place, result in enumerate(loop.results):
            detail = _detail(loop, result)
            text = _embedded(detail)
            if result.grade == "pass":
                room -= len(text)
                if room < 0 and detail["timeline"]:
                    text = _embedded(detail | {"timeline": [], "spared": True})
            found.append(f'<script type="application/json" id="d-{number}-{place}">{text}</script>')
    return found


def _detail(loop: LoopReport, result: CaseResult) -> dict[str, Any]:
    telling = [check for check in result.checks if check.grade in _TELLING]
    broken = [check for check in telling if check.grade != "inconclusive"]
    return {
        "again": loop.again(result),
        "reason": result.reason,
        "history": result.history or "",
        "checks": [msgspec.to_builtins(check) | {"where": placed(check, result.id)} for check in telling],
        "timeline": timeline_of(result.events, broken),
    }


def _embedded(value: Any) -> str:
    """JSON that may stand in a `script` element, whatever texts are in it."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
