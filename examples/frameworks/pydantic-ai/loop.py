"""Pydantic AI's agent as a loop: `loop-harness run --loop examples/frameworks/pydantic-ai/loop.py:loop`.

The adapter translates and decides nothing. The history travels as `carry`, in the framework's own form.
"""

from __future__ import annotations

from typing import Any

from anthropic import AsyncAnthropic
from pydantic_ai import Agent, Tool
from pydantic_ai.exceptions import ToolFailed, UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.messages import TextPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.usage import RunUsage, UsageLimits

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
    """Play a turn by `agent.run`, streamed or not."""
    async with AsyncAnthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        agent = Agent(
            AnthropicModel(turn.model, provider=AnthropicProvider(anthropic_client=client)),
            system_prompt=turn.system or (),
            tools=[wrapped(tool) for tool in turn.tools],
            model_settings={"max_tokens": turn.max_tokens},
        )
        usage = RunUsage()
        try:
            result = await agent.run(
                turn.prompt,
                message_history=turn.carry or [],
                usage_limits=UsageLimits(request_limit=turn.limits.max_iterations),
                usage=usage,
                event_stream_handler=read_all if turn.stream else None,
            )
        finally:
            # The framework counts what was cached among the input; the API beside it.
            fresh = usage.input_tokens - usage.cache_write_tokens - usage.cache_read_tokens
            turn.record_usage(usage.requests, input_tokens=fresh, output_tokens=usage.output_tokens)
    parts = [part for message in result.new_messages() for part in message.parts]
    shown = [part.content for part in parts if isinstance(part, TextPart) and part.content.strip()]
    reason = (result.response.provider_details or {}).get("finish_reason")
    return Outcome(status=ENDS.get(reason), detail=reason, shown=shown, carry=result.all_messages())


loop.raises = {  # type: ignore[attr-defined]
    UsageLimitExceeded.__name__: "capped",
    "ContentFilterError": "refused",
    UnexpectedModelBehavior.__name__: "failed",
}


async def read_all(_context: Any, events: Any) -> None:
    async for _ in events:
        pass


def wrapped(tool: Any) -> Tool:
    async def call(**given: Any) -> Any:
        try:
            return await tool.arun(given)
        except ToolError as error:
            raise ToolFailed(str(error.content)) from error

    return Tool.from_schema(call, tool.name, tool.description, tool.input_schema)
