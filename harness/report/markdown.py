"""The report in Markdown, as GitHub and GitLab show it: a table of the loops, then what is broken."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from ..clauses import CLAUSES
from .grouped import Breach, breaches, known_of, remarks
from .kinds import View
from .lines import counted, listed
from .model import LoopReport, Report
from .summary import tally
from .trace import trace_lines

ROOM = 900_000
"""Characters: GitHub takes a summary of at most 1 MiB for a step."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#])")


def render(report: Report, view: View) -> str:
    """Failures first; what is behind each folds out."""
    lines = ["## loop-harness", ""]
    lines += _table(report)
    room = ROOM
    for part in _parts(report, view):
        room -= sum(len(line) + 1 for line in part)
        if room < 0:
            lines += ["", "There is more than fits here; the other reports have all of it."]
            break
        lines += part
    return "\n".join(lines) + "\n"


def _table(report: Report) -> Iterator[str]:
    yield "| loop | | clauses decided | cases |"
    yield "|---|---|---|---|"
    for loop in report.loops:
        if loop.problem:
            yield f"| {_plain(loop.name)} | ❌ cannot be driven | | |"
            continue
        broken = len(breaches(loop))
        mark = f"❌ {counted(broken, 'clause')} broken" if broken else "✅ nothing broken"
        if known := len(known_of(loop)):
            mark = f"{mark if broken else '✅ nothing new'}, {known} known"
        if loop.unplayed:
            mark = f"{mark}, incomplete" if broken else "⚠️ incomplete"
        decided = f"{len(loop.coverage.decided)} of {loop.coverage.clauses}"
        decided += f" of {_plain(loop.profile)}" if loop.profile else ""
        yield f"| {_plain(loop.name)} | {mark} | {decided} | {tally(r.grade for r in loop.results)} |"


def _parts(report: Report, view: View) -> Iterator[list[str]]:
    for loop in report.loops:
        if len(report.loops) > 1 and (loop.problem or any(loop.bad)):
            yield ["", f"### {_plain(loop.name)}"]
        if loop.problem:
            yield ["", *_fenced(loop.problem)]
        if loop.unplayed:
            of = f"{_plain(loop.name)}: " if len(report.loops) > 1 else ""
            yield ["", f"⚠️ {of}{loop.cut_short}: {listed([f'`{case}`' for case in loop.unplayed])}"]
        for breach in breaches(loop):
            yield list(_broken(loop, breach, view))
    if not view.only_failures:
        for loop in report.loops:
            said = remarks(loop)
            if said:
                of = f" of {_plain(loop.name)}" if len(report.loops) > 1 else ""
                yield ["", f"**Remarks{of}**", ""]
                yield [f"- {_named(remark)}: {_plain(remark.message)}" for remark in said]


def _broken(loop: LoopReport, breach: Breach, view: View) -> Iterator[str]:
    yield ""
    yield f"❌ {_named(breach)}: {_plain(breach.message)}"
    yield ""
    check = breach.check
    where = f"in `{breach.result.id}`"
    if check and check.request is not None:
        where += f", request {check.request}"
    also = f", also in {listed([f'`{case}`' for case in breach.also])}" if breach.also else ""
    yield f"{where}{also}"
    if view.detail == "quiet":
        return
    yield ""
    yield "<details><summary>What happened</summary>"
    yield ""
    if check:
        yield from _told(check.expected, check.happened, check.advice, breach.sentence)
        if check.diff:
            yield from _fenced(check.diff, "diff")
            yield ""
    if breach.result.events:
        yield from _fenced("\n".join(line.text for line in trace_lines(breach.result.events, indent=0)))
        yield ""
    yield from _fenced(loop.again(breach.result), "sh")
    yield ""
    yield "</details>"


def _told(expected: str, happened: str, advice: str, sentence: str) -> Iterator[str]:
    rows = {"clause": sentence, "expected": expected, "happened": happened, "advice": advice}
    for name, text in rows.items():
        if text:
            yield f"- **{name}**: {_plain(text)}"
    yield ""


def _named(breach: Breach) -> str:
    clause = CLAUSES.get(breach.clause)
    if clause and clause.source.startswith("http"):
        return f"[{breach.clause}]({clause.source})"
    return f"**{_plain(breach.title)}**"


def _fenced(text: str, kind: str = "") -> Iterator[str]:
    """Code, in a fence that is longer than any within it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    yield fence + kind
    yield from text.splitlines()
    yield fence


def _plain(text: str) -> str:
    """Text that means nothing but itself, on one line."""
    return _SPECIAL.sub(r"\\\1", html.unescape(" ".join(text.split())))
