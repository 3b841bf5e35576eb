"""The cancel sweep: a turn stopped at every point, in every way it can be stopped, from one description.

`cancel/first-byte-asyncio` is a turn whose task is cancelled while it waits for the first byte of a reply;
the turn after it shows what is left. What has a scenario file of its own is left out here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from .expand import expand
from .model import Scenario

Json: TypeAlias = dict[str, Any]

BY_FLAG: Final = ("CLEAN-2",)
WAYS: Final[dict[str, tuple[str, str]]] = {
    "flag": ("stopped by its flag", "a loop that looks at the flag elsewhere does not look while"),
    "store": ("stopped by its key in the store", "a loop that asks only the hook does not see the key while"),
    "asyncio": (
        "whose task is cancelled",
        "an `except` takes the end of a task for an error, and goes on, while",
    ),
    "interrupt": ("stopped by Ctrl-C", "Ctrl-C tears a loop down without a clean-up while"),
    "signal": ("stopped by a signal", "a worker that is told to end leaves half a turn behind while"),
}
"""Every way, what a title says of it, and what goes wrong."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A point of a turn, with a script that gets there."""

    name: str
    at: str
    when: str
    script: tuple[Json, ...]
    ways: tuple[str, ...]
    clauses: tuple[str, ...] = ()
    streams: str = "both"
    requests: int = 1
    tools: Json = field(default_factory=dict)


def scenarios() -> list[Scenario]:
    """All of the sweep, ordered by id."""
    made = [
        expand(values(point, via), scenario_id=f"cancel/{point.name}-{via}", path="", seed=0)
        for point in POINTS
        for via in point.ways
    ]
    return sorted(made, key=lambda scenario: scenario.id)


def values(point: Point, via: str) -> Json:
    """What the scenario's file would hold, blocks written out."""
    how, why = WAYS[via]
    by_flag = BY_FLAG if via in ("flag", "store") else ()
    stopped = {
        "prompt": "Begin the work.",
        "cancel": {"at": point.at, "via": via},
        "script": list(point.script),
        "expect": {"requests": point.requests, "status": "cancelled"},
    }
    following = {
        "prompt": "Leave it at that.",
        "script": [_reply("end_turn", _text("It is left at that."))],
        "expect": {"requests": 1, "status": "completed", "answer": ["It is left at that."]},
    }
    return {
        "title": f"A turn {how} {point.when} ends, and the next works",
        "clauses": ["CANCEL-1", "CANCEL-4", "CANCEL-5", "HIST-8", *point.clauses, *by_flag],
        "why": f"{why} {point.when.removeprefix('while ')}",
        "turns": [stopped, following],
        "tools": point.tools,
        "streams": point.streams,
    }


def _reply(stop_reason: str, *content: Json, **more: Any) -> Json:
    return {"reply": {"stop_reason": stop_reason, "content": list(content), **more}}


def _text(words: str) -> Json:
    return {"type": "text", "text": words}


def _call(name: str, part: int) -> Json:
    return {"type": "tool_use", "name": name, "input": {"part": part}}


_TOOLS: Final[Json] = {
    "dig": {"description": "Digs a part.", "result": "dug", "delay": 0.2},
    "fill": {"description": "Fills a part.", "result": "filled"},
}
_CALLS: Final = _reply("tool_use", _call("dig", 1), _call("fill", 2))
_NEVER: Final = _reply("end_turn", _text("The work is done."))
_LONG: Final = _text("The work has begun, and will take its time: a day, a week, a month, or a year.")
_EXCEPTIONS: Final = ("asyncio", "interrupt", "signal")

POINTS: Final[tuple[Point, ...]] = (
    Point(
        name="first-byte",
        at="first byte 1",
        when="while it waits for the first byte",
        script=(_reply("end_turn", _text("The work is done."), delay=0.5),),
        ways=("flag", *_EXCEPTIONS),
    ),
    Point(
        name="mid-stream",
        at="event 5",
        when="while a reply streams",
        script=(
            _reply("end_turn", _LONG, breaks=[{"at": "event 5", "by": "stall", "seconds": 2, "pings": 0.1}]),
        ),
        ways=("flag", "asyncio", "interrupt"),
        clauses=("CANCEL-2",),
        streams="only",
    ),
    Point(
        name="tool",
        at="tool dig",
        when="while a tool runs",
        script=(_CALLS, _NEVER),
        ways=("store", *_EXCEPTIONS),
        clauses=("CANCEL-3",),
        tools=_TOOLS,
    ),
    Point(
        name="between-tools",
        at="after tool dig",
        when="while one of two tools is still to run",
        script=(_CALLS, _NEVER),
        ways=("flag", "asyncio", "interrupt"),
        clauses=("CANCEL-3",),
        tools=_TOOLS,
    ),
    Point(
        name="retry",
        at="retry",
        when="while it waits to try again",
        script=({"fault": {"status": 529, "headers": {"retry-after": "2"}}}, _NEVER),
        ways=("flag", "asyncio", "interrupt"),
        clauses=("CANCEL-2",),
    ),
)
"""Every point that is not the start or a request, which scenario files have."""
