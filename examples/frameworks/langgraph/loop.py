"""LangGraph's agent as a loop: `loop-harness run --loop examples/frameworks/langgraph/loop.py:loop`.

The adapter translates and decides nothing. The history travels as `carry`, in the framework's own form.
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool, ToolException
from langgraph.errors import GraphRecursionError

from harness import Outcome, ToolError, Turn

ENDS = {
    "end_turn": "completed",
    "stop_sequence": "completed",
    "refusal": "refused",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
}
"""What the stop reason that the framework hands out tells its caller. Of any other, it is told nothing."""


async def loop(turn: Turn) -> Outcome:
    """Play a turn by the agent's `ainvoke`."""
    model = ChatAnthropic(
        model=turn.model,
        base_url=turn.base_url,
        api_key=turn.api_key,
        max_tokens=turn.max_tokens,
        streaming=turn.stream,
    )
    agent = create_agent(model, [wrapped(tool) for tool in turn.tools], system_prompt=turn.system or None)
    before: list[Any] = turn.carry or []
    given: dict[str, Any] = {"messages": [*before, HumanMessage(turn.prompt)]}
    if turn.limits.max_iterations is None:
        result = await agent.ainvoke(given)
    else:
        # A step is a request or a round of tools.
        result = await agent.ainvoke(given, {"recursion_limit": 2 * turn.limits.max_iterations})
    new = result["messages"][len(before) + 1 :]
    answers = [message for message in new if isinstance(message, AIMessage)]
    reason = answers[-1].response_metadata.get("stop_reason")
    return Outcome(
        status=ENDS.get(reason),
        detail=reason,
        shown=[message.text for message in answers if message.text.strip()],
        carry=result["messages"],
    )


loop.raises = {GraphRecursionError.__name__: "capped"}  # type: ignore[attr-defined]


def wrapped(tool: Any) -> StructuredTool:
    async def call(**given: Any) -> Any:
        try:
            return await tool.arun(given)
        except ToolError as error:
            raise ToolException(str(error.content)) from error

    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.input_schema,
        coroutine=call,
        handle_tool_error=True,
    )
