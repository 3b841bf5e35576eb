"""Runs the checks that apply to a history, safely, and sums up what they found.

A check that is wrong about itself (it raises) is an `error` that names it, never a crash. A clause whose
`needs` the loop does not expose is `unsupported` and its check is not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from .arrange import EvidenceError, arrange
from .checks import Check, Finding, registered
from .clauses import CLAUSES, Clause
from .evidence import Run
from .history import AnyEvent, Lost
from .turn import EXPOSABLE

GRADES = ("error", "fail", "inconclusive", "warn", "pass")
"""The grades that count, the strongest first."""
_RANK = {"fail": 0, "warn": 1, "inconclusive": 2, "pass": 3, "info": 4}
_STRENGTH = {"wire": 0, "hook": 1, "outcome": 2}


class CheckResult(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What became of one clause in one run."""

    clause: str
    level: str
    """Of what was broken, which may be weaker than the clause; else the clause's."""
    grade: str
    """`fail`, `warn`, `pass`, `inconclusive`, `unsupported`, `error` or `info`."""
    evidence: str = "wire"
    """`wire`, `outcome` or `hook`: what the grade rests on."""
    ground: str = ""
    """Why the clause holds: `recorded`, `documented` or `construction`."""
    message: str = ""
    """One line: the defect, the reason, or the clause's sentence where it was kept."""
    expected: str = ""
    happened: str = ""
    turn: int = 0
    """Index of the turn, from 0."""
    request: int | None = None
    """Number of the request that shows it, from 1 over the run."""
    line: int | None = None
    """Of a recording: the line in which that request begins."""
    block: int | None = None
    """Index of the block within its message."""
    diff: str = ""
    advice: str = ""


class Verdict(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The grade of one run, and the clauses it is made of."""

    grade: str
    """The strongest of `error`, `fail`, `inconclusive`, `warn` and `pass` that counts, else `unsupported`."""
    checks: list[CheckResult] = []
    """In the order of the catalogue, notes last."""
    reason: str = ""
    """One line for `error` and `unsupported`."""


def judge(  # noqa: PLR0911 - one for each reason why nothing can be judged
    events: Sequence[AnyEvent],
    *,
    checks: Mapping[str, Check] | None = None,
    catalogue: Mapping[str, Clause] = CLAUSES,
) -> Verdict:
    """Judge one run. `checks` replaces the registered ones."""
    try:
        run = arrange(events)
    except EvidenceError as error:
        return Verdict(grade="error", reason=str(error))
    unplayable = next((note for note in run.notes if note.kind == "unplayable"), None)
    if unplayable is not None:
        named = [catalogue[name] for name in run.scenario.clauses if name in catalogue]
        spared = [_plain(clause, "unsupported", unplayable.detail) for clause in named]
        return Verdict(grade="unsupported", checks=spared, reason=unplayable.detail)
    lost = next((event for event in events if isinstance(event, Lost)), None)
    if lost is not None:
        return Verdict(grade="error", reason=lost.reason)
    own = next((note for note in run.notes if note.kind == "error"), None)
    if own is not None:
        return Verdict(grade="error", reason=f"the provider failed, not the loop: {_last_line(own.detail)}")
    if not run.complete:
        return Verdict(grade="error", reason="the history is incomplete: its last event is not 'finished'")
    unbound = _unbound(run)
    if unbound:
        return Verdict(grade="unsupported", reason=unbound)
    results = _results(run, registered() if checks is None else checks, catalogue)
    grade = scenario_grade(results, frozenset(run.scenario.clauses))
    return Verdict(grade=grade, checks=results, reason=_reason(grade, results))


def _last_line(traceback: str) -> str:
    lines = traceback.strip().splitlines()
    return lines[-1] if lines else "it does not say why"


def _results(run: Run, checks: Mapping[str, Check], catalogue: Mapping[str, Clause]) -> list[CheckResult]:
    results: list[CheckResult] = []
    notes: list[CheckResult] = []
    for clause in catalogue.values():
        function = checks.get(clause.id)
        if function is None:
            continue
        lacking = _lacking(clause, run)
        if lacking:
            results.append(_plain(clause, "unsupported", f"the loop does not expose {lacking}"))
            continue
        try:
            findings = list(function(run))
        except Exception as error:  # noqa: BLE001 - a wrong check must not take the run down
            results.append(_wrong(clause, function, error))
            continue
        summed = _sum_up(clause, findings, named=clause.id in run.scenario.clauses)
        results += [summed] if summed else []
        notes += [_result(clause, one, "info") for one in findings if one.kind == "note"]
    for unknown in checks.keys() - catalogue.keys():
        results.append(
            CheckResult(
                clause=unknown, level="MUST", grade="error", message="the catalogue does not have this clause"
            )
        )
    return results + notes


def _lacking(clause: Clause, run: Run) -> str:
    """What the clause needs and the loop does not expose, and how to expose it; empty where nothing lacks."""
    for need in clause.needs:
        choice = need.split("|")
        if not run.exposed(*choice):
            how = "; or ".join(EXPOSABLE.get(name, name) for name in choice)
            return f"{' or '.join(choice)} ({how})"
    return ""


def _sum_up(clause: Clause, findings: Sequence[Finding], *, named: bool) -> CheckResult | None:
    """The clause's result: its worst finding. None where it never applied and nobody asked for it."""
    counting = [(_grade(clause, one), one) for one in findings if one.kind != "note"]
    if not counting:
        why = "the run never got to what this clause is about"
        return _plain(clause, "inconclusive", why) if named else None
    # Of equals the first; a pass is known by its best evidence.
    grade, finding = min(
        counting,
        key=lambda pair: (_RANK[pair[0]], _STRENGTH[pair[1].evidence] if pair[0] == "pass" else 0),
    )
    return _result(clause, finding, grade)


def _grade(clause: Clause, finding: Finding) -> str:
    if finding.kind == "held":
        return "pass"
    if finding.kind == "unclear":
        return "inconclusive"
    return {"MUST": "fail", "SHOULD": "warn"}.get(finding.level or clause.level, "info")


def _result(clause: Clause, finding: Finding, grade: str) -> CheckResult:
    broken = finding.kind == "broken"
    return CheckResult(
        clause=clause.id,
        level=finding.level or clause.level,
        grade=grade,
        evidence=finding.evidence,
        ground=clause.ground,
        message=finding.happened or clause.sentence,
        expected=finding.expected,
        happened=finding.happened if broken else "",
        turn=finding.turn,
        request=finding.request,
        block=finding.block,
        diff=finding.diff,
        advice=(finding.advice or clause.advice) if broken else "",
    )


def _plain(clause: Clause, grade: str, message: str) -> CheckResult:
    return CheckResult(
        clause=clause.id, level=clause.level, grade=grade, ground=clause.ground, message=message
    )


def _wrong(clause: Clause, function: Check, error: Exception) -> CheckResult:
    name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
    return _plain(clause, "error", f"the check {name} is wrong about itself: {type(error).__name__}: {error}")


def scenario_grade(results: Sequence[CheckResult], named: frozenset[str]) -> str:
    """The strongest grade that counts; `named` are the clauses the scenario is about."""
    grades = {result.grade for result in results if result.grade != "inconclusive" or result.clause in named}
    return next((grade for grade in GRADES if grade in grades), "unsupported")


def _reason(grade: str, results: Sequence[CheckResult]) -> str:
    if grade not in ("error", "unsupported"):
        return ""
    first = next((result for result in results if result.grade == grade), None)
    return f"{first.clause}: {first.message}" if first else NOTHING


NOTHING = "no clause applied"
UNNAMED = "the loop offers tools of its own; name the one that stands for the scenarios' with `own_tool`"
UNBOUND = "the loop offers no client tool that the script's calls could be bound to"


def _unbound(run: Run) -> str:
    """Why the script could not be played to this loop, empty where it could.

    A loop that offered tools in one request and not in the next has lost them: that is judged.
    """
    rounds = [exchange for _, exchange in run.rounds()]
    unbound = any(one.answer is not None and one.answer.kind == "unbound" for one in rounds)
    if unbound and run.declaration.tools == "own":
        return UNNAMED
    return UNBOUND if unbound and not any(_offers_tools(one.body) for one in rounds) else ""


def _offers_tools(body: Mapping[str, object]) -> bool:
    """Whether a request offers a client tool: one with a schema of its own."""
    tools = body.get("tools")
    return isinstance(tools, list) and any("input_schema" in tool for tool in tools if isinstance(tool, dict))
