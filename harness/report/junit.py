"""JUnit XML, in the form that CI servers read: a suite for each scenario, a case for each clause.

A MUST that is broken is a failure, what could not be judged is skipped, and a SHOULD that is broken passes
with a word in the suite's output: a viewer knows no colour between green and red.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from ..judge import CheckResult
from ..runner import CaseResult
from .kinds import View
from .lines import Line
from .model import BAD, LoopReport, Report
from .text import case_lines, check_lines

_SKIPPED = ("unsupported", "inconclusive", "known")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no way to write."""


class Suite(NamedTuple):
    """The cases of one scenario, for one loop."""

    loop: LoopReport
    package: str
    """The loop's name, where there are several."""
    name: str
    results: list[CaseResult]


def render(report: Report, _view: View) -> str:
    """The whole document."""
    suites = list(_suites(report))
    counts = [_counts(suite) for suite in suites]
    totals = {name: sum(each[name] for each in counts) for name in ("tests", "failures", "errors")}
    seconds = sum(result.seconds for suite in suites for result in suite.results)
    attributes = _attributes({"name": "loop-harness", **totals, "time": f"{seconds:.3f}"})
    body = "\n".join(line for number, suite in enumerate(suites) for line in _lines_of(report, suite, number))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites{attributes}>\n{body}\n</testsuites>\n'


def _suites(report: Report) -> Iterator[Suite]:
    for loop in report.loops:
        package = loop.name if len(report.loops) > 1 else ""
        if loop.problem:
            yield Suite(loop, package, loop.name, [])
        for scenario, results in groupby(loop.results, key=lambda result: result.scenario):
            yield Suite(loop, package, scenario, list(results))
        if loop.unplayed:
            yield Suite(loop, package, loop.name, [])


def _lines_of(report: Report, suite: Suite, number: int) -> Iterator[str]:
    loop, package, name, results = suite
    attributes = {
        "name": f"{package}: {name}" if package and results else name,
        "package": package or name.partition("/")[0],
        "id": number,
        "timestamp": report.made.removesuffix("Z") or "1970-01-01T00:00:00",
        "hostname": "localhost",
        **_counts(suite),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }
    properties = {"loop": loop.target or loop.name, "seed": loop.seed, "loop-harness": report.version}
    properties |= {"profile": loop.profile} if loop.profile else {}
    yield f"  <testsuite{_attributes(attributes)}>"
    yield "    <properties>"
    for key, value in properties.items():
        yield f"      <property{_attributes({'name': key, 'value': value})}/>"
    yield "    </properties>"
    if not results:
        yield _of_loop(loop)
    for result in results:
        yield from _cases(loop, result, package)
    yield f"    <system-out>{_text(_remarks(results))}</system-out>"
    yield "    <system-err></system-err>"
    yield "  </testsuite>"


def _remarks(results: list[CaseResult]) -> str:
    return "\n".join(
        f"warn  {check.clause}  {result.id}: {check.message}"
        for result in results
        for check in result.checks
        if check.grade == "warn"
    )


def _of_loop(loop: LoopReport) -> str:
    """The case of a loop that could not be driven, or whose run was cut short: that is never green."""
    name = "the loop can be driven" if loop.problem else "the run comes to its end"
    told = loop.problem or "\n".join([loop.cut_short, *loop.unplayed])
    case = {"classname": _dotless(loop.name), "name": name, "time": "0.000"}
    inner = _element("error", told.splitlines()[0], "error", told)
    return f"    <testcase{_attributes(case)}>{inner}</testcase>"


def _cases(loop: LoopReport, result: CaseResult, package: str) -> Iterator[str]:
    """The clauses that were judged in one case; its seconds are shared among them."""
    classname = ".".join([*([_dotless(package)] if package else []), result.id.replace("/", ".")])
    checks = _counted(result)
    seconds = result.seconds / max(1, len(checks))
    for check in checks:
        case = {"classname": classname, "name": check.clause, "time": f"{seconds:.3f}"}
        inner = _inner(loop, result, check)
        yield f"    <testcase{_attributes(case)}{f'>{inner}</testcase>' if inner else '/>'}"
    if not checks:
        case = {"classname": classname, "name": "the case can be judged", "time": f"{seconds:.3f}"}
        if result.grade in BAD:
            inner = _element("error", result.reason, "error", _lines(case_lines(result, loop.again(result))))
        else:
            inner = f"<skipped{_attributes({'message': result.reason})}/>"
        yield f"    <testcase{_attributes(case)}>{inner}</testcase>"


def _inner(loop: LoopReport, result: CaseResult, check: CheckResult) -> str:
    if check.grade in BAD:
        again = f"\n  again     {loop.again(result)}"
        kind = "failure" if check.grade == "fail" else "error"
        return _element(kind, check.message, check.level, _lines(check_lines(check, result.id)) + again)
    if check.grade in _SKIPPED:
        return f"<skipped{_attributes({'message': check.message})}/>"
    return ""


def _counted(result: CaseResult) -> list[CheckResult]:
    """What is worth a case: what the loop does not expose is the same everywhere, and no news."""
    return [check for check in result.checks if check.grade not in ("info", "unsupported")]


def _counts(suite: Suite) -> dict[str, int]:
    grades = [check.grade for result in suite.results for check in _counted(result)]
    # A case without a verdict stands for itself: an error, or skipped.
    alone = [result.grade for result in suite.results if not _counted(result)]
    grades += ["error" if grade in BAD else "unsupported" for grade in alone]
    grades += [] if suite.results else ["error"]
    return {
        "tests": len(grades),
        "failures": grades.count("fail"),
        "errors": grades.count("error"),
        "skipped": len([grade for grade in grades if grade in _SKIPPED]),
    }


def _element(name: str, message: str, kind: str, text: str) -> str:
    return f"<{name}{_attributes({'message': message, 'type': kind})}>{_text(text)}</{name}>"


def _lines(lines: Iterator[Line]) -> str:
    return "\n".join(line.text for line in lines)


def _attributes(values: Mapping[str, object]) -> str:
    return "".join(f" {name}={quoteattr(_sound(str(value)))}" for name, value in values.items())


def _text(text: str) -> str:
    return escape(_sound(text))


def _sound(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _dotless(name: str) -> str:
    """A name that viewers do not take for a path of packages."""
    return name.replace(".", "_")
