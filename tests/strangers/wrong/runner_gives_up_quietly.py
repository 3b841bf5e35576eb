"""The SDK's runner with `max_iterations`: it stops there without a word, and so does this."""

import anthropic
from anthropic.lib.tools import BetaFunctionTool
from anthropic.lib.tools import ToolError as SdkToolError

from harness import Outcome, ToolError


def wrap(tool):
    def call(**arguments):
        try:
            return tool.run(arguments)
        except ToolError as e:
            raise SdkToolError(e.content or "failed") from e

    return BetaFunctionTool(
        call, name=tool.name, description=tool.description, input_schema=tool.input_schema
    )


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    runner = client.beta.messages.tool_runner(
        model=turn.model,
        max_tokens=turn.max_tokens,
        system=turn.system,
        messages=turn.messages,
        tools=[wrap(t) for t in turn.tools],
        max_iterations=turn.limits.max_iterations or 20,
    )
    message = runner.until_done()
    if message.stop_reason == "refusal":
        return Outcome(status="refused", shown=["Declined."])
    if message.stop_reason not in ("end_turn", "stop_sequence", "tool_use"):
        return Outcome(status="truncated", shown=[f"({message.stop_reason})"], detail=message.stop_reason)
    text = "".join(b.text for b in message.content if b.type == "text")
    return Outcome(status="completed", shown=[text] if text.strip() else [])
