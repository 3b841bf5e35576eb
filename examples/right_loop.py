"""The right twin of `wrong_loop.py`: the stop reason decides, and what goes on stands above what ends."""

from __future__ import annotations

from typing import Any

import anthropic

from harness import Outcome, Tool, ToolError, Turn

CUT = "(The answer is incomplete: the model reached a limit.)"
DECLINED = "The model declined to answer this request."


def loop(turn: Turn) -> Outcome:
    """Ask until the model is done. A turn that ends in any other way keeps none of its replies."""
    messages: list[Any] = list(turn.messages)
    more: dict[str, Any] = {}
    with anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        allowed = turn.limits.max_iterations or 30
        for _ in range(allowed):
            reply = client.messages.create(
                model=turn.model,
                max_tokens=turn.max_tokens,
                system=turn.system,
                messages=messages,
                tools=[
                    {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
                    for tool in turn.tools
                ],
                **more,
            )
            # Sent back as it came, but for blank text, which the API does not take back.
            content = [block for block in reply.content if block.type != "text" or block.text.strip()]
            if content:
                messages.append({"role": "assistant", "content": content})
            if reply.container:
                more = {"container": reply.container.id}
            calls = [block for block in content if block.type == "tool_use"]
            if reply.stop_reason == "pause_turn":
                continue
            if reply.stop_reason == "tool_use" and calls:
                messages.append({"role": "user", "content": [result(turn, call) for call in calls]})
                continue
            return ended(turn, reply, messages)
    return Outcome(status="capped", shown=[f"(Stopped after {allowed} requests.)"], history=turn.messages)


def ended(turn: Turn, reply: Any, messages: list[Any]) -> Outcome:
    """What the caller gets for the last reply."""
    text = "".join(block.text for block in reply.content if block.type == "text")
    shown = [text] if text.strip() else []
    if reply.stop_reason in ("end_turn", "stop_sequence"):
        if reply.content and all("thinking" in block.type for block in reply.content):
            return Outcome(status="failed", detail="the model said nothing", history=turn.messages)
        unanswered = any(block.type == "tool_use" for block in reply.content)
        return Outcome(status="completed", shown=shown, history=turn.messages if unanswered else messages)
    if reply.stop_reason == "refusal":
        return Outcome(status="refused", shown=[DECLINED], history=turn.messages[:-1])
    if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        return Outcome(status="truncated", shown=[*shown, CUT], history=turn.messages)
    return Outcome(status="failed", detail=f"stop reason {reply.stop_reason}", history=turn.messages)


def result(turn: Turn, call: Any) -> dict[str, Any]:
    """Run one call; whatever goes wrong is for the model to know."""
    tools: dict[str, Tool] = {tool.name: tool for tool in turn.tools}
    answer = {"type": "tool_result", "tool_use_id": call.id}
    if call.name not in tools:
        return {**answer, "content": f"There is no tool {call.name}.", "is_error": True}
    try:
        return {**answer, "content": tools[call.name].run(call.input)}
    except ToolError as error:
        return {**answer, "content": error.content or "The tool failed.", "is_error": True}
