"""Goes on only while tools are called, so a pause ends the turn with what was said before it."""

import anthropic

from harness import Outcome, ToolError, Turn


def run_tool(tools, block):
    tool = tools.get(block.name)
    if tool is None:
        return {"type": "tool_result", "tool_use_id": block.id, "content": "no such tool", "is_error": True}
    try:
        return {"type": "tool_result", "tool_use_id": block.id, "content": tool.run(block.input)}
    except ToolError as e:
        return {
            "type": "tool_result",
            "tool_use_id": block.id,
            "content": e.content or "failed",
            "is_error": True,
        }


def loop(turn: Turn) -> Outcome:
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    tools = {t.name: t for t in turn.tools}
    params = dict(
        model=turn.model,
        max_tokens=turn.max_tokens,
        system=turn.system,
        tools=[
            {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in turn.tools
        ],
    )
    messages = list(turn.messages)
    response = client.messages.create(messages=messages, **params)
    n = 1
    while response.stop_reason == "tool_use" and n < (turn.limits.max_iterations or 20):
        blocks = [b for b in response.content if b.type != "text" or b.text.strip()]
        messages.append({"role": "assistant", "content": blocks})
        messages.append(
            {"role": "user", "content": [run_tool(tools, b) for b in blocks if b.type == "tool_use"]}
        )
        response = client.messages.create(messages=messages, **params)
        n += 1
    if response.stop_reason in ("max_tokens", "refusal", "model_context_window_exceeded", "tool_use"):
        raise RuntimeError(f"did not finish: {response.stop_reason}")
    text = "".join(b.text for b in response.content if b.type == "text")
    if text.strip():
        messages.append({"role": "assistant", "content": response.content})
    return Outcome(status="completed", shown=[text] if text.strip() else [], history=messages)
