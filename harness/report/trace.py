"""What happened in a run, one line an event, with times: the part of a report that shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..history import (
    Answered,
    AnyEvent,
    Broken,
    Cancelled,
    Crashed,
    Ended,
    Exited,
    Lost,
    Noted,
    Overran,
    Published,
    Reported,
    RequestSeen,
    StoreDeleted,
    StoreSet,
    ToolEnded,
    ToolStarted,
    TurnBegan,
    UsageRecorded,
)
from .lines import Line, counted, shortened

LONGEST = 40
"""Lines a trace may have before its middle is left out."""


def trace_lines(events: Sequence[AnyEvent], indent: int = 4, *, most: int | None = LONGEST) -> Iterator[Line]:
    """One line for each event worth showing, times in seconds since the run began.

    Of more than `most` lines the middle is left out; None: they are all told.
    """
    shown = [(event.at, *line) for event in events if (line := told(event)) is not None]
    most = len(shown) if most is None else most
    left_out = len(shown) - most
    for number, (at, what, detail) in enumerate(shown):
        if left_out > 0 and most // 2 <= number < most // 2 + left_out:
            if number == most // 2:
                yield Line(f"{' ' * indent}{'…':>7}  {counted(left_out, 'more line')}", "dim")
            continue
        yield Line(f"{' ' * indent}{at:7.3f}  {what:<12} {detail}".rstrip())


def told(event: AnyEvent) -> tuple[str, str] | None:  # noqa: C901, PLR0911, PLR0912 - a table of the kinds
    """What an event is called and what it says, on a line; None where it is not worth one."""
    match event:
        case TurnBegan() if event.rerun:
            return f"turn {event.turn + 1}", "again, in a new process"
        case TurnBegan():
            return f"turn {event.turn + 1}", f'"{shortened(event.prompt)}"'
        case RequestSeen():
            return f"request {event.request}", _request(event)
        case Answered():
            return f"answer {event.request}", said_in(event)
        case Broken():
            return f"answer {event.request}", f"broken off by the {event.by} after {event.events} events"
        case ToolStarted():
            return "tool", f"{event.name}({compact(event.input)})"
        case ToolEnded():
            return "tool", _tool_end(event)
        case Published():
            return "publish", _published(event)
        case Reported():
            return "report", shortened(f"{event.exception + ': ' if event.exception else ''}{event.problem}")
        case UsageRecorded():
            return "usage", _usage(event)
        case StoreSet() if event.by == "loop":
            return "store", f"{event.key} set"
        case StoreDeleted() if event.by == "loop":
            return "store", f"{event.key} removed"
        case Cancelled():
            return "cancel", f"at {event.point}"
        case Crashed():
            return "killed", f"after {event.after}"
        case Ended():
            return "outcome", _outcome(event)
        case Overran():
            return "overran", _overran(event)
        case Exited():
            return "process", _exit(event)
        case Lost():
            return "lost", shortened(event.reason, 80)
        case Noted() if event.kind != "late":
            return "note", shortened(f"{event.kind}: {event.detail}", 80)
        case _:
            return None


def _overran(event: Overran) -> str:
    where = f" at {event.stood}" if event.stood else ""
    return shortened(f"had not returned after {event.deadline:g} s and was stopped{where}", 120)


def _exit(event: Exited) -> str:
    """How a process ended, and the last it said in its errors."""
    end = "it was stopped" if event.code is event.signal is None else f"exit {event.code}"
    end = f"signal {event.signal}" if event.signal else end
    said = [line for line in event.stderr.splitlines() if line.strip()][-1:]
    left = [f"left running: {command}" for command in event.left]
    return shortened("; ".join([end, *left, *said]), 80)


def _request(event: RequestSeen) -> str:
    if event.endpoint != "messages" or not isinstance(event.body, dict):
        return f"{event.method} {event.path}"
    messages = event.transcript if event.transcript is not None else event.body.get("messages")
    parts = [counted(len(messages), "message") if isinstance(messages, list) else "no messages"]
    if isinstance(messages, list) and messages:
        parts.append(f"the last: {_message(messages[-1])}")
    if event.lane:
        parts.append(f"({event.lane})")
    if event.retry:
        parts.append(f"(retry {event.retry})")
    return shortened(", ".join(parts), 88)


def _message(message: object) -> str:
    if not isinstance(message, dict):
        return "not a message"
    return f"{message.get('role', '?')} {blocks(message.get('content'))}"


def blocks(content: object) -> str:
    """Content in short: the kinds of its blocks, with the text or the name that tells them apart."""
    if isinstance(content, str):
        return f'"{shortened(content, 40)}"'
    if not isinstance(content, list):
        return "nothing" if content is None else shortened(str(content), 40)
    return "[" + ", ".join(_block(block) for block in content) + "]"


def _block(block: object) -> str:
    if not isinstance(block, dict):
        return shortened(str(block), 30)
    kind = str(block.get("type", "?"))
    if kind == "text":
        return f'"{shortened(str(block.get("text", "")), 40)}"'
    if kind == "tool_result" and block.get("is_error"):
        return "tool_result (error)"
    name = block.get("name")
    return f"{kind} {name}" if isinstance(name, str) else kind


def said_in(event: Answered) -> str:
    """An answer on a line: why it stopped and its blocks, or what went wrong."""
    body: Any = event.body if isinstance(event.body, dict) else {}
    if event.kind == "over":
        return f"{event.status}: the script had ended"
    if not event.status:
        return "none came"
    if event.status != 200:
        error = body.get("error") if isinstance(body.get("error"), dict) else {}
        return shortened(f"{event.status} {error.get('type', '')}: {error.get('message', '')}", 88)
    if body and not {"stop_reason", "content"} & body.keys():
        return shortened(compact(body), 88)  # no message: tokens that were counted, or a list of models
    return shortened(f"{body.get('stop_reason')}: {blocks(body.get('content'))}", 88)


def _tool_end(event: ToolEnded) -> str:
    if event.abandoned:
        return "abandoned"
    if event.error is not None:
        return f"raised: {shortened(event.error)}"
    return f"-> {shortened(event.result if isinstance(event.result, str) else compact(event.result))}"


def _published(event: Published) -> str:
    messages = event.state.get("messages")
    said = [counted(len(messages), "message") if isinstance(messages, list) else "no messages"]
    marks = {name: event.state.get(name) for name in ("activity", "stopped", "has_error")}
    said += [f"{name}: {shortened(str(value), 30)}" for name, value in marks.items() if value]
    return ", ".join(said + (["done"] if event.done else []))


def _usage(event: UsageRecorded) -> str:
    counts = [f"{name} {count}" for name, count in event.tokens.items()]
    if event.iterations is not None:
        counts.insert(0, counted(event.iterations, "iteration"))
    return shortened(", ".join(counts), 88)


def _outcome(event: Ended) -> str:
    if event.raised:
        return shortened(f"raised {event.raised.type}: {event.raised.message}", 88)
    said = [event.status] if event.status else []
    if event.shown is not None:
        said.append("shown: " + (", ".join(map(_shown, event.shown)) or "nothing"))
    if event.detail:
        said.append(f"detail: {event.detail}")
    return shortened("; ".join(said) or "returned nothing", 88)


def _shown(item: object) -> str:
    if not isinstance(item, dict):
        return f'"{shortened(str(item), 40)}"'
    mark = " (error)" if item.get("is_error") else ""
    return f'"{shortened(str(item.get("content", "")), 40)}"{mark}'


def compact(value: object) -> str:
    """A value on a line, cut where it is long."""
    return shortened(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")), 60)
