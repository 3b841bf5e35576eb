"""Annotations of a GitHub workflow: commands it finds in the output of a step.

GitHub shows ten errors and ten warnings of a step: each clause gets one, and the tenth tells of the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from .grouped import Breach, breaches, remarks
from .kinds import View
from .lines import counted, listed
from .model import LoopReport, Report

MOST = 10
"""Annotations of a level that GitHub keeps of one step."""


def render(report: Report, view: View) -> str:
    """One line an annotation."""
    errors: list[str] = []
    warnings: list[str] = []
    several = len(report.loops) > 1
    for loop in report.loops:
        name = f"{loop.name}: " if several else ""
        if loop.problem:
            errors.append(_command("error", _place(loop), f"{name}the loop cannot be driven", loop.problem))
        if loop.unplayed:
            told = f"{loop.cut_short}: {listed(loop.unplayed)}"
            errors.append(_command("error", _place(loop), f"{name}the report is incomplete", told))
        errors += (_annotation("error", loop, name, breach) for breach in breaches(loop))
        if not view.only_failures:
            warnings += (_annotation("warning", loop, name, remark) for remark in remarks(loop))
    return "".join(f"{line}\n" for line in [*_kept(errors, "error"), *_kept(warnings, "warning")])


def _kept(lines: list[str], level: str) -> Iterator[str]:
    if len(lines) <= MOST:
        yield from lines
        return
    yield from lines[: MOST - 1]
    more = counted(len(lines) - MOST + 1, "more clause")
    yield f"::{level} title=loop-harness::{more}; the report names them"


def _annotation(level: str, loop: LoopReport, name: str, breach: Breach) -> str:
    title = f"{name}{breach.title} in {breach.result.id}" if breach.clause else f"{name}{breach.title}"
    told = [breach.message]
    if breach.check:
        told += [f"Expected: {breach.check.expected}"] if breach.check.expected else []
        told += [breach.check.advice] if breach.check.advice else []
    if breach.also:
        told.append(f"Also in {listed(breach.also)}.")
    told.append(f"Again: {loop.again(breach.result)}")
    place = _place(loop)
    if loop.recorded:
        place = {"file": breach.result.scenario}
        place |= {"line": str(breach.check.line)} if breach.check and breach.check.line else {}
    return _command(level, place, title, "\n".join(told))


def _place(loop: LoopReport) -> dict[str, str]:
    """The file of a loop, where it is known."""
    path, _, attribute = loop.target.partition(":")
    return {"file": path} if attribute and path.endswith(".py") else {}


def _command(level: str, place: dict[str, str], title: str, message: str) -> str:
    properties = {**place, "title": title}
    said = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{level} {said}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
