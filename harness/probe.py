"""The short fixed runs at the start that find out what a loop exposes, and whether it can be driven at all.

What is used once here is a hook the loop has: leaving it out later is a fault. What is not seen here is
`unsupported`, said once, with how to expose it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec

from .case import Case
from .history import (
    Answered,
    AnyEvent,
    Cancelled,
    CancelPolled,
    Claimed,
    Ended,
    Lost,
    Overran,
    Published,
    Reported,
    RequestSeen,
    StoreDeleted,
    StoreSet,
    TurnBegan,
    UsageRecorded,
)
from .keys import is_key
from .loops.driver import Driver
from .scenario.model import Block, Cancel, Reply, Scenario, Step, Task, TurnScript
from .turn import EXPOSABLE, INTERRUPTS, Behaviour, Declaration, Limits, ToolSpec

FIRST_DEADLINE = 20.0
"""Seconds for the first run, in which a loop may still be importing its libraries."""
INTERRUPTED = 3.0
"""Seconds a loop may take to end that was interrupted."""
ENDLESS = 8
"""Steps of a script that a loop without the limit in question follows to its end."""


class Probe(msgspec.Struct, kw_only=True):
    """What the probe found."""

    exposes: list[str] = []
    """Names of `harness.turn.EXPOSABLE`."""
    variants: tuple[str, ...] = ("json", "sse")
    """The variants that differ for this loop."""
    startup: float = 0.0
    """Seconds from the call of the warm loop to its first request."""
    problem: str | None = None
    """Why the loop cannot be driven."""
    notes: list[str] = []
    """What the owner should know, each said once."""


Play: TypeAlias = Callable[[Case], Awaitable[list[AnyEvent]]]
"""Plays a case on one driver, to the end of its history."""


async def explore(play: Play, driver: Driver, url: str) -> Probe:
    """Run the probe's scripts, in order. `driver` is the one that plays them, `url` the provider's."""
    first = await play(Case(TEXT, "json"))
    problem = _cannot_be_driven(first, driver.name, url)
    if problem:
        return Probe(problem=problem)
    second = await play(Case(TEXT, "sse"))
    tools = await play(Case(TOOLS, "json"))
    offers = "tools" in _hooks_used(tools, driver.declaration)
    counted = tools if offers else await play(Case(RESUMED, "json"))
    paused = await play(Case(PAUSES, "json"))
    clocked = await play(Case(CLOCK if offers else RESUMED_CLOCK, "json"))
    cancelled = await play(Case(CANCEL if offers else RESUMED_CANCEL, "json"))
    cut = await play(Case(CUT, "json"))
    interrupted = {
        via: await play(Case(_interrupted(via, offers=offers), "json"))
        for via in INTERRUPTS
        if not driver.cannot_cancel(via)
    }

    exposes = set(driver.declaration.exposes) | set(driver.declaration.caps) & set(EXPOSABLE)
    for run in (first, second, tools, counted, paused, clocked, cancelled, cut):
        exposes |= set(_hooks_used(run, driver.declaration))
    if _stopped_after(counted, 2, 3):
        exposes.add("iterations")
    if _stopped_after(paused, 2, 3):
        exposes.add("pauses")
    # A loop that stops at its first tool call or pause by itself tells nothing by stopping there again.
    if _replies(counted) > 1 and (_stopped_after(clocked, 1, 3) or _capped(clocked)):
        exposes.add("wall_clock")
    if _replies(counted) > 1 and _stopped_after(cancelled, 1, 2):
        exposes.add("cancel")
    exposes |= {via for via, run in interrupted.items() if _landed(run)}
    variants = _variants(first, second)
    return Probe(
        exposes=sorted(exposes),
        variants=variants,
        startup=round(_startup(second), 3),
        notes=_notes(variants),
    )


def _cannot_be_driven(events: list[AnyEvent], name: str, url: str) -> str | None:
    asked = any(isinstance(event, RequestSeen) for event in events)
    for event in events:
        if isinstance(event, Lost):
            return f"{name}: {event.reason}" + (f"\n{event.output.rstrip()}" if event.output else "")
        if isinstance(event, Overran):
            did = (
                "asked the provider and had its answer, but did not return"
                if asked
                else ("neither asked the provider nor returned")
            )
            return f"{name}: called with a turn, it {did} within {event.deadline:.0f} s"
        if isinstance(event, Ended) and not asked:
            if event.raised:
                return (
                    f"{name}: raised {event.raised.type} before it asked the provider: {event.raised.message}"
                    f"\n{event.raised.traceback.rstrip()}"
                )
            return (
                f"{name}: returned without asking the provider; point its client at turn.base_url "
                f"(here {url}/…) and give it turn.api_key"
            )
    refused = [event for event in events if isinstance(event, Answered) and event.kind == "rejected"]
    answered = [event for event in events if isinstance(event, Answered) and event.kind == "reply"]
    if refused and not answered:
        body = refused[0].body or {}
        return f"{name}: the API rejects its first request: {body.get('error', {}).get('message', body)}"
    return None


def _hooks_used(events: list[AnyEvent], declaration: Declaration) -> list[str]:
    used: list[str] = []
    offered: set[str] = set()
    conversation = ""
    for event in events:
        match event:
            case TurnBegan():
                conversation = event.conversation
                offered = set(event.tools)
            case Published():
                used += ["publish"] + (["done"] if event.done else [])
                used += ["history"] if event.history is not None else []
            case Reported():
                used.append("report")
            case UsageRecorded():
                used.append("usage")
            case CancelPolled():
                used.append("cancel")
            case Claimed():
                used.append("claim")
            case StoreSet() if is_key("checkpoint", event.key, conversation, declaration):
                used.append("checkpoint")
            case RequestSeen() if offered & _tool_names(event.body):
                used.append("tools")
            case Ended():
                told = {
                    "status": event.status,
                    "shown": event.shown,
                    "history": event.history,
                    "usage": event.usage,
                }
                used += [name for name, value in told.items() if value is not None]
                used += ["arguments"] if event.changed is not None else []
            case _:
                pass
    return used


def _tool_names(body: object) -> set[str]:
    tools = body.get("tools") if isinstance(body, dict) else None
    return {tool.get("name", "") for tool in tools or () if isinstance(tool, dict)}


def _replies(events: list[AnyEvent]) -> int:
    return sum(isinstance(event, Answered) and event.kind == "reply" for event in events)


def _stopped_after(events: list[AnyEvent], least: int, most: int) -> bool:
    """The loop ended by itself, before the end of the script, after this many replies."""
    ended = any(isinstance(event, Ended) for event in events)
    refused = any(isinstance(event, Answered) and event.kind in ("over", "rejected") for event in events)
    return ended and not refused and least <= _replies(events) <= most


def _capped(events: list[AnyEvent]) -> bool:
    """The loop says that it stopped at a limit, be it before the first reply: a machine may be slow."""
    refused = any(isinstance(event, Answered) and event.kind in ("over", "rejected") for event in events)
    return not refused and any(isinstance(event, Ended) and event.status == "capped" for event in events)


def _landed(events: list[AnyEvent]) -> bool:
    """The loop came to an end of its own after it was interrupted: it said so, or at least cleaned up."""
    ended = next((event for event in events if isinstance(event, Ended)), None)
    if ended is None or not any(isinstance(event, Cancelled) for event in events):
        return False
    return ended.raised is None or any(
        isinstance(event, (UsageRecorded, StoreDeleted)) or (isinstance(event, Published) and event.done)
        for event in events
    )


def _startup(events: list[AnyEvent]) -> float:
    began = next((event.at for event in events if isinstance(event, TurnBegan)), 0.0)
    return next((event.at - began for event in events if isinstance(event, RequestSeen)), 0.0)


def _variants(plain: list[AnyEvent], streamed: list[AnyEvent]) -> tuple[str, ...]:
    kinds = [_streams(events) for events in (plain, streamed)]
    if kinds == [True, True]:
        return ("sse",)
    if kinds == [False, False]:
        return ("json",)
    return ("json", "sse")


def _streams(events: list[AnyEvent]) -> bool | None:
    bodies = [event.body for event in events if isinstance(event, RequestSeen) and not event.lane]
    return bool(bodies[0].get("stream")) if bodies and isinstance(bodies[0], dict) else None


def _notes(variants: tuple[str, ...]) -> list[str]:
    if len(variants) == 1:
        always = "always" if variants == ("sse",) else "never"
        return [f"the loop {always} streams: each scenario is run once, as [{variants[0]}]"]
    return []


def _scenario(
    name: str,
    steps: list[Step],
    limits: Limits | None = None,
    cancel: Cancel | None = None,
    deadline: float = 10.0,
) -> Scenario:
    turn = TurnScript(prompt="Say hello.", script=steps, limits=limits or Limits(), cancel=cancel)
    return Scenario(
        id=f"probe/{name}",
        title="The probe",
        clauses=[],
        why="finds out what the loop exposes",
        task=Task(system="You are a probe."),
        turns=[turn],
        tools=[_TOOL],
        deadline=deadline,
    )


_TOOL = ToolSpec(
    name="look_up",
    description="Look something up.",
    input_schema={"type": "object", "properties": {"key": {"type": "string"}}},
    answers=[Behaviour(result="found")],
)
_CALL: list[Block] = [{"type": "tool_use", "name": "look_up", "input": {"key": "a"}}]
_PAUSED: list[Block] = [{"type": "text", "text": "Working on it."}]


def _step(stop: str, content: list[Block], repeat: int = 1, delay: float = 0.0) -> Step:
    return Step(reply=Reply(stop_reason=stop, content=content, delay=delay), repeat=repeat)


_HELLO = _step("end_turn", [{"type": "text", "text": "Hello from the probe."}])
_CALLS = _step("tool_use", _CALL, ENDLESS)
_PAUSES = _step("pause_turn", _PAUSED, ENDLESS)
_BRIEF = Limits(wall_clock=0.2, max_iterations=50)
TEXT = _scenario("text", [_HELLO], deadline=FIRST_DEADLINE)
TOOLS = _scenario("tools", [_CALLS], Limits(max_iterations=2))
RESUMED = _scenario("resumed", [_PAUSES], Limits(max_iterations=2))
PAUSES = _scenario("pauses", [_PAUSES], Limits(pauses=1))
CLOCK = _scenario("clock", [_step("tool_use", _CALL, ENDLESS, delay=0.12)], _BRIEF)
RESUMED_CLOCK = _scenario("resumed-clock", [_step("pause_turn", _PAUSED, ENDLESS, delay=0.12)], _BRIEF)
CANCEL = _scenario("cancel", [_CALLS], cancel=Cancel(at="request 1"))
RESUMED_CANCEL = _scenario("resumed-cancel", [_PAUSES], cancel=Cancel(at="request 1"))


def _interrupted(via: str, *, offers: bool) -> Scenario:
    """A script in which the turn is interrupted while it waits for its second reply."""
    waits = _step("tool_use", _CALL, 2, 0.2) if offers else _step("pause_turn", _PAUSED, 2, 0.2)
    first = msgspec.structs.replace(waits, repeat=1)
    cancel = msgspec.convert({"at": "first byte 2", "via": via}, Cancel)
    return _scenario(via, [first, waits], cancel=cancel, deadline=INTERRUPTED)


CUT = _scenario("cut", [_step("max_tokens", [{"type": "text", "text": "Half an ans"}]), _HELLO])
