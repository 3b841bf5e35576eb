"""Each failure as a script that shows it without loop-harness, to put into a bug report.

It serves the recorded replies with the standard library, and compares what is asked with what was recorded.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from importlib.resources import files
from random import Random

from ..clauses import CLAUSES
from ..history import Answered, AnyEvent, Broken, RequestSeen, ToolEnded, ToolStarted, TurnBegan
from ..judge import CheckResult
from ..retrial import hangs_on_time
from ..runner import CaseResult
from ..wire.codec import dumps
from ..wire.events import encode, events_of
from .kinds import View
from .lines import shortened
from .model import BAD, LoopReport, Report
from .text import kinds_of
from .trace import compact

LINES = 40
"""Lines a script may have."""
WIDTH = 110
MOST = 30
"""Requests that are told; a loop that asks for ever shows that in fewer."""
_TEMPLATE = "repro.py.txt"
_OVERLOADED = (
    'event: error\ndata: {"type":"error","error":{"details":null,"type":"overloaded_error",'
    '"message":"Overloaded"}}\n\n'
)
"""What a stream says that breaks off with an error."""


_SHOWN = ("The fault:", 1)
_UNSEEN = (
    "It asked as recorded; whether the fault is there shows in what came of the answers, or when:",
    2,
)
"""What a script says in the end, and its exit code: 2 where requests alone cannot tell."""


_BESIDE = ("HIST-7",)
"""Clauses about what stands beside the messages: those of another client are its own."""


def render(report: Report, _view: View) -> dict[str, str]:
    """The scripts by the names of their files; cases whose events are not stored have none."""
    several = len(report.loops) > 1
    found: dict[str, str] = {}
    for loop in report.loops:
        for result in loop.bad:
            if any(isinstance(event, RequestSeen) for event in result.events):
                told = f"{loop.name}-{result.id}" if several else result.id
                name = re.sub(r"[^\w.]+", "-", told).strip("-") + ".py"
                found[name] = script(loop, result, name)
    return found


def script(loop: LoopReport, result: CaseResult, name: str = "repro.py") -> str:
    """The script that shows what is broken in one case; `name` is what its file is called."""
    checks = [check for check in result.checks if check.grade in BAD and check.clause in kinds_of(result)]
    most = _last(checks)
    # As they were sent: what a thread keeps is not sent again, and a client of the script's has one as well.
    asked = [event.body for event in result.events if isinstance(event, RequestSeen)]
    seen = [body.get("messages") if isinstance(body, dict) else None for body in asked[:most]]
    replies = _replies(result.events)[:most]
    on_wire = [check for check in checks if _shows_in_messages(check)]
    first = next(iter(on_wire or checks), None)
    fault = first.message if first else result.reason.splitlines()[0] if result.reason else result.id
    code = files(__package__).joinpath(_TEMPLATE).read_text(encoding="utf-8")
    every = len(seen) == len(asked)
    # Where the fault is what was not asked any more, whoever asks more does not have it.
    code = code.replace("{SAME}", "asked == SEEN" if every else "asked[: len(SEEN)] == SEEN")
    says, number = _SHOWN if on_wire else _UNSEEN
    code = code.replace("{SAYS}", says).replace("{CODE}", str(number)).replace("{FAULT}", repr(fault))
    values = [f"REPLIES = {replies!r}", f"SEEN = {seen!r}"]
    usage = [
        f"Found by loop-harness in {result.id} of {loop.name}; this script does without it.",
        f"python3 {name} COMMAND... runs COMMAND with ANTHROPIC_BASE_URL set; without it any client may ask.",
    ]
    head = _head(result, checks, usage, LINES - code.count("\n") + 2 - len(values))
    for place, lines in (("{VALUES}\n", values), ("{HEAD}\n", head)):
        code = code.replace(place, "".join(f"{line}\n" for line in lines))
    return code


def _shows_in_messages(check: CheckResult) -> bool:
    """Whether a client that has the fault sends other messages than one that has it not."""
    return check.evidence == "wire" and check.clause not in _BESIDE and not hangs_on_time([check])


def _last(checks: Sequence[CheckResult]) -> int:
    """How many requests it takes to show what is broken: up to the last that is named, and the next."""
    named = [check.request for check in checks]
    return min(MOST, max((number or MOST for number in named), default=MOST) + 1)


def _head(result: CaseResult, checks: Sequence[CheckResult], usage: Sequence[str], room: int) -> list[str]:
    """What is wrong, as comments of at most `room` lines."""
    told: list[str] = []
    for check in checks:
        clause = CLAUSES.get(check.clause)
        told.append(f"{check.clause}: {check.message}")
        told += [f"Expected: {check.expected}"] if check.expected else []
        told += [f"Ground: {clause.source}"] if clause else []
    told += [result.reason] if not checks else []
    task = [
        f"The user says: {shortened(event.prompt, 200)}" if isinstance(event, TurnBegan) else event
        for event in [*_tools(result.events), *result.events]
        if isinstance(event, TurnBegan | str)
    ]
    last = [line for text in [*task, *usage] for line in _comment(text)]
    first = [line for text in told for line in _comment(text)]
    return first[: max(1, room - len(last))] + last[: room - 1]


def _comment(text: str) -> list[str]:
    """A text as lines of comments: whatever is in it, it is no code."""
    flat = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return [f"# {line}" for line in textwrap.wrap(flat, WIDTH - 2)[:2]]


def _tools(events: Sequence[AnyEvent]) -> Iterator[str]:
    """What the tools that ran returned: whoever tries this needs the same."""
    started = {event.call: event for event in events if isinstance(event, ToolStarted)}
    said: dict[str, str] = {}
    for event in events:
        if isinstance(event, ToolEnded) and event.call in started:
            result = (
                f"raises {event.error}" if event.error is not None else f"returns {compact(event.result)}"
            )
            said.setdefault(started[event.call].name, result)
    if said:
        yield "Tools: " + "; ".join(f"{name} {shortened(result, 60)}" for name, result in said.items())


def _replies(events: Sequence[AnyEvent]) -> list[tuple[int, dict[str, str], str]]:
    """Status, headers and body of each answer; the status is 0 where the connection ended instead."""
    broken = {event.request: event for event in events if isinstance(event, Broken) and event.by == "script"}
    return [_reply(event, broken.get(event.request)) for event in events if isinstance(event, Answered)]


def _reply(event: Answered, broken: Broken | None) -> tuple[int, dict[str, str], str]:
    kept = {name: value for name, value in event.headers.items() if name in ("retry-after", "x-should-retry")}
    if event.stream and isinstance(event.body, dict) and "usage" in event.body:
        pieces = [encode(each, Random(0)).decode() for each in events_of(event.body, Random(0))]  # noqa: S311
        if broken is not None:
            pieces = pieces[: broken.events]
            if broken.how == "error":
                pieces.append(_OVERLOADED)
        return event.status, {"content-type": "text/event-stream", **kept}, "".join(pieces)
    body = event.body if isinstance(event.body, str) else dumps(event.body).decode()
    if broken is not None and not event.stream:
        body = body.encode()[: broken.bytes].decode("utf-8", "ignore")
    return event.status, {"content-type": "application/json", **kept}, body
