"""A scenario file's values to the `Scenario` they stand for: defaults filled in, short forms written out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..turn import Behaviour, Limits, ToolSpec
from .file import ScenarioFile, ToolFile, TurnFile
from .model import Expect, Scenario, Step, TurnScript

_JSON_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def expand(values: dict[str, Any], *, scenario_id: str, path: str, seed: int) -> Scenario:
    """The scenario that a file's sound values stand for."""
    file = msgspec.convert(values, ScenarioFile)
    turns = file.turns or [
        TurnFile(
            prompt=file.task.prompt or None,
            script=file.script or [],
            expect=file.expect or Expect(),
            cancel=file.cancel,
            limits=file.limits or Limits(),
            crash=file.crash,
            rival=file.rival,
        )
    ]
    scripts = [_turn(turn, f"{scenario_id} {index}", seed) for index, turn in enumerate(turns)]
    calls = list(tool_calls([step for turn in scripts for step in turn.script]))
    return Scenario(
        id=scenario_id,
        title=file.title,
        clauses=file.clauses,
        why=file.why,
        task=msgspec.structs.replace(file.task, prompt=scripts[0].prompt),
        turns=scripts,
        tools=[_tool(name, tool, calls) for name, tool in file.tools.items()],
        hooks=file.hooks,
        lanes=file.lanes,
        streams=file.streams,
        rules=file.rules,
        era=file.era,
        deadline=file.deadline,
        path=path,
    )


def tool_calls(script: list[Step]) -> Iterator[dict[str, Any]]:
    """The client tool calls of a script, in order."""
    for step in script:
        for block in step.reply.content if step.reply else []:
            if block.get("type") == "tool_use":
                yield block


def _turn(turn: TurnFile, key: str, seed: int) -> TurnScript:
    prompt = turn.prompt
    if prompt is None:
        # Faker takes a fifth of a second to import, and most files leave nothing out.
        from .filler import prompt as generated

        prompt = generated(seed, key)
    return TurnScript(
        prompt=prompt,
        script=turn.script,
        expect=turn.expect,
        cancel=turn.cancel,
        limits=turn.limits,
        crash=turn.crash,
        rival=turn.rival,
    )


def _tool(name: str, tool: ToolFile, calls: list[dict[str, Any]]) -> ToolSpec:
    inputs = [
        call["input"] for call in calls if call.get("name") == name and isinstance(call.get("input"), dict)
    ]
    return ToolSpec(
        name=name,
        description=tool.description or f"Runs {name.replace('_', ' ')}.",
        input_schema=tool.input_schema or _schema_of([each for each in inputs if isinstance(each, dict)]),
        answers=tool.answers
        or [
            Behaviour(
                result=tool.result,
                raises=tool.raises,
                exception=tool.exception,
                delay=tool.delay,
                hangs=tool.hangs,
            )
        ],
        own=tool.own or {},
    )


def _schema_of(inputs: list[dict[str, Any]]) -> dict[str, Any]:
    """A schema that every scripted input satisfies, so that loops which validate run the tool."""
    kinds: dict[str, set[str]] = {}
    for given in inputs:
        for key, value in given.items():
            kinds.setdefault(key, set()).add(_JSON_TYPES[type(value)])
    properties = {key: {"type": kind.pop()} if len(kind) == 1 else {} for key, kind in kinds.items()}
    return {"type": "object", "properties": properties}
