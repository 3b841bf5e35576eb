"""The scripts that a probe plays: short, fixed, and never judged."""

from __future__ import annotations

import msgspec

from .scenario.model import Block, Cancel, Reply, Scenario, Step, Task, TurnScript
from .turn import Behaviour, Limits, ToolSpec

FIRST_DEADLINE = 20.0
"""Seconds for the first run, in which a loop may still be importing its libraries."""
INTERRUPTED = 3.0
"""Seconds a loop may take to end that was interrupted."""
ENDLESS = 8
"""Steps of a script that a loop without the limit in question follows to its end."""


def scenario_of(
    name: str,
    steps: list[Step],
    limits: Limits | None = None,
    cancel: Cancel | None = None,
    deadline: float = 10.0,
) -> Scenario:
    """A scenario of one turn with these steps."""
    turn = TurnScript(prompt="Say hello.", script=steps, limits=limits or Limits(), cancel=cancel)
    return Scenario(
        id=f"probe/{name}",
        title="The probe",
        clauses=[],
        why="finds out what the loop exposes",
        task=Task(system="You are a probe."),
        turns=[turn],
        tools=[LOOK_UP],
        deadline=deadline,
    )


LOOK_UP = ToolSpec(
    name="look_up",
    description="Look something up.",
    input_schema={"type": "object", "properties": {"key": {"type": "string"}}},
    answers=[Behaviour(result="found")],
)
CALL: list[Block] = [{"type": "tool_use", "name": "look_up", "input": {"key": "a"}}]
PAUSED: list[Block] = [{"type": "text", "text": "Working on it."}]


def step_of(stop: str, content: list[Block], repeat: int = 1, delay: float = 0.0) -> Step:
    """A step that replies."""
    return Step(reply=Reply(stop_reason=stop, content=content, delay=delay), repeat=repeat)


HELLO = step_of("end_turn", [{"type": "text", "text": "Hello from the probe."}])
_CALLS = step_of("tool_use", CALL, ENDLESS)
_PAUSES = step_of("pause_turn", PAUSED, ENDLESS)
_BRIEF = Limits(wall_clock=0.2, max_iterations=50)
TEXT = scenario_of("text", [HELLO], deadline=FIRST_DEADLINE)
TOOLS = scenario_of("tools", [_CALLS], Limits(max_iterations=2))
RESUMED = scenario_of("resumed", [_PAUSES], Limits(max_iterations=2))
PAUSES = scenario_of("pauses", [_PAUSES], Limits(pauses=1))
CLOCK = scenario_of("clock", [step_of("tool_use", CALL, ENDLESS, delay=0.12)], _BRIEF)
RESUMED_CLOCK = scenario_of("resumed-clock", [step_of("pause_turn", PAUSED, ENDLESS, delay=0.12)], _BRIEF)
CANCEL = scenario_of("cancel", [_CALLS], cancel=Cancel(at="request 1"))
RESUMED_CANCEL = scenario_of("resumed-cancel", [_PAUSES], cancel=Cancel(at="request 1"))


def interrupted_by(via: str, *, offers: bool) -> Scenario:
    """A script in which the turn is interrupted while it waits for its second reply."""
    waits = step_of("tool_use", CALL, 2, 0.2) if offers else step_of("pause_turn", PAUSED, 2, 0.2)
    first = msgspec.structs.replace(waits, repeat=1)
    cancel = msgspec.convert({"at": "first byte 2", "via": via}, Cancel)
    return scenario_of(via, [first, waits], cancel=cancel, deadline=INTERRUPTED)


CUT = scenario_of("cut", [step_of("max_tokens", [{"type": "text", "text": "Half an ans"}]), HELLO])
