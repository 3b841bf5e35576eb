"""A loop that returns one string, what a small bot says to its user. It tells no status, keeps no history."""

from __future__ import annotations

from typing import Any

import anthropic

from harness.turn import ToolError, Turn

MOST = 25


def loop(turn: Turn) -> str:
    """Answer, or say why there is no answer."""
    messages: list[Any] = list(turn.messages)
    tools = {tool.name: tool for tool in turn.tools}
    offered: list[Any] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in turn.tools
    ]
    more: dict[str, Any] = {}
    with anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        for _ in range(MOST):
            # The stream helper that is not beta loses the input of `mcp_tool_use`.
            with client.beta.messages.stream(
                model=turn.model,
                max_tokens=turn.max_tokens,
                system=turn.system,
                messages=messages,
                tools=offered,
                **more,
            ) as stream:
                reply = stream.get_final_message()
            content = [block for block in reply.content if block.type != "text" or block.text.strip()]
            if content:
                messages.append({"role": "assistant", "content": content})
            if reply.container:
                more = {"container": reply.container.id}
            calls = [block for block in content if block.type == "tool_use"]
            if reply.stop_reason == "tool_use" and calls:
                messages.append({"role": "user", "content": [answered(tools, call) for call in calls]})
            elif reply.stop_reason != "pause_turn":
                return said(reply)
    return f"I gave up after {MOST} steps."


def said(reply: Any) -> str:
    """The last reply, as the user reads it."""
    text = "".join(block.text for block in reply.content if block.type == "text")
    if reply.stop_reason in ("end_turn", "stop_sequence"):
        return text
    if reply.stop_reason == "refusal":
        return "The model declined to answer that."
    return f"{text}\n\n(This is not a finished answer: {reply.stop_reason}.)"


def answered(tools: dict[str, Any], call: Any) -> Any:
    """The block that answers one call."""
    block = {"type": "tool_result", "tool_use_id": call.id}
    if call.name not in tools:
        return block | {"content": f"unknown tool {call.name}", "is_error": True}
    try:
        return block | {"content": tools[call.name].run(call.input)}
    except ToolError as error:
        return block | {"content": error.content or "failed", "is_error": True}
