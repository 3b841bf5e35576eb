"""Agno's agent as a loop: `loop-harness run --loop examples/frameworks/agno/loop.py:loop`.

The adapter translates and decides nothing. The history travels as `carry`, in the framework's own form.
"""

from __future__ import annotations

from typing import Any

from agno.agent import Agent
from agno.models.anthropic import Claude
from agno.models.message import Message
from agno.run.base import RunStatus
from agno.tools.function import Function

from harness import Outcome, ToolError, Turn

ENDS = {RunStatus.completed: "completed", RunStatus.cancelled: "cancelled", RunStatus.error: "failed"}
"""What the status of a run tells its caller; why the model stopped is not handed out."""


async def loop(turn: Turn) -> Outcome:
    """Play a turn by the agent's `arun`, streamed or not."""
    model = Claude(
        id=turn.model,
        max_tokens=turn.max_tokens,
        api_key=turn.api_key,
        client_params={"base_url": turn.base_url},
    )
    agent = Agent(
        model=model,
        system_message=turn.system or None,
        tools=[wrapped(tool) for tool in turn.tools],
        telemetry=False,
    )
    before: list[Message] = turn.carry or []
    asked = [*before, Message(role="user", content=turn.prompt)]
    if turn.stream:
        events = [event async for event in agent.arun(asked, stream=True, yield_run_output=True)]
        result: Any = events[-1]
    else:
        result = await agent.arun(asked)
    kept = [message for message in result.messages or [] if message.role != "system"]
    said = [one for one in kept[len(asked) :] if one.role == "assistant"]
    shown = [str(one.content) for one in said if str(one.content or "").strip()]
    return Outcome(status=ENDS.get(result.status), shown=shown, carry=kept)


def wrapped(tool: Any) -> Function:
    async def call(**given: Any) -> Any:
        try:
            return await tool.arun(given)
        except ToolError as error:
            raise RuntimeError(error.content) from error

    return Function(
        name=tool.name,
        description=tool.description,
        parameters=tool.input_schema,
        entrypoint=call,
        skip_entrypoint_processing=True,
    )
