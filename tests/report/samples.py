"""Reports of a few results, made by hand."""

from __future__ import annotations

from harness.history import (
    Answered,
    AnyEvent,
    Began,
    Delivered,
    Ended,
    Finished,
    RequestSeen,
    ToolEnded,
    ToolStarted,
    TurnBegan,
)
from harness.judge import CheckResult
from harness.report.model import LoopReport, Report, covered
from harness.runner import CaseResult

ASKED = {"role": "user", "content": "Look it up."}
CALL = {"type": "tool_use", "id": "toolu_01A", "name": "look_up", "input": {"key": "</script><b>"}}
SAID = {"role": "assistant", "content": [{"type": "text", "text": "One moment."}, CALL]}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_01B", "content": "a thing"}
GIVEN = {"role": "user", "content": [RESULT]}
LOST = CheckResult(
    clause="TOOL-2",
    level="MUST",
    grade="fail",
    ground="recorded",
    message="The call toolu_01A has no result | `in` request 2 <b>.",
    expected="One result for toolu_01A in request 2.",
    happened="The call toolu_01A has no result | `in` request 2 <b>.",
    request=2,
    block=0,
    diff='-  "tool_use_id": "toolu_01A"\n+  "tool_use_id": "toolu_01B"',
    advice="Answer every call, with its own id.",
)
SLIGHT = CheckResult(clause="HIST-7", level="SHOULD", grade="warn", message="The model changed.")
UNCLEAR = CheckResult(clause="CANCEL-1", level="MUST", grade="inconclusive", message="It never got there.")
UNSUPPORTED = CheckResult(clause="CAP-1", level="MUST", grade="unsupported", message="no iterations")
KNOWN = CheckResult(
    clause="PAUSE-1", level="MUST", grade="known", message="known to fail: not yet: It ended."
)
KEPT = CheckResult(clause="END-1", level="MUST", grade="pass", message="kept")


def reply(stop_reason: str, content: list[dict[str, object]]) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "stop_reason": stop_reason, "content": content}


def text(said: str) -> dict[str, object]:
    return {"type": "text", "text": said}


def events(shown: str = "It is a thing.") -> list[AnyEvent]:
    """A turn with a tool, whose result went back under the wrong id."""
    return [
        Began(scenario_id="tool/one", variant="json", scenario={"title": "A tool"}, seed=7, loop="mine:loop"),
        TurnBegan(at=0.001, prompt="Look it up.", messages=[ASKED], tools=["look_up"]),
        RequestSeen(at=0.01, request=1, body={"model": "m", "messages": [ASKED]}),
        Answered(at=0.011, request=1, kind="reply", body=reply("tool_use", SAID["content"])),  # type: ignore[arg-type]
        Delivered(at=0.012, request=1),
        ToolStarted(at=0.02, call=1, name="look_up", input={"key": "a"}),
        ToolEnded(at=0.03, call=1, result="a thing"),
        RequestSeen(at=0.04, request=2, body={"model": "m", "messages": [ASKED, SAID, GIVEN]}),
        Answered(at=0.041, request=2, kind="reply", body=reply("end_turn", [text(shown)])),
        Delivered(at=0.042, request=2),
        Ended(at=0.05, status="completed", shown=[shown], history=[ASKED, SAID, GIVEN]),
        Finished(at=0.06),
    ]  # fmt: skip


def result(case: str = "tool/one", variant: str = "json", *checks: CheckResult, **more: object) -> CaseResult:
    """A result with the grade its checks come to."""
    grades = [check.grade for check in checks]
    grade = next((each for each in ("error", "fail", "warn", "pass") if each in grades), "unsupported")
    given: dict[str, object] = {"grade": grade, "seconds": 0.5, "events": events()} | more
    return CaseResult(scenario=case, variant=variant, checks=list(checks), **given)  # type: ignore[arg-type]


def loop(name: str = "mine", *results: CaseResult, **more: object) -> LoopReport:
    """A loop with these results."""
    command = ["loop-harness", "run", "{case}", "--loop", "mine:loop", "--seed", "7"]
    given: dict[str, object] = {"target": "mine:loop", "seed": 7, "command": command} | more
    return LoopReport(name=name, results=list(results), coverage=covered(results), **given)  # type: ignore[arg-type]


def wrong(name: str = "wrong") -> LoopReport:
    """A loop that breaks a clause in two cases, and is remarked upon in one."""
    return loop(
        name,
        result("tool/one", "json", LOST, KEPT, UNSUPPORTED),
        result("tool/one", "sse", LOST, KEPT, UNSUPPORTED),
        result("text/one", "json", KEPT, SLIGHT, UNCLEAR),
        result("cap/all", "json", UNSUPPORTED, events=[], reason="CAP-1: no iterations"),
        result("end/odd", "json", grade="error", reason="the host died\nits last words"),
    )


def right(name: str = "right") -> LoopReport:
    """A loop without a fault."""
    return loop(name, result("tool/one", "json", KEPT), result("text/one", "json", KEPT))


def undriven(name: str = "gone") -> LoopReport:
    """A loop that cannot be driven."""
    return loop(name, problem="there is no module 'gone'\nlook again", target="gone.py:loop")


def cut(name: str = "cut") -> LoopReport:
    """A loop whose run was cut short."""
    return loop(name, result("tool/one", "json", KEPT), unplayed=["tool/one[sse]", "text/one[json]"])


def report(*loops: LoopReport) -> Report:
    """A report of these loops, or of a wrong one alone."""
    return Report(made="2026-05-04T12:00:00Z", loops=list(loops or (wrong(),)))
