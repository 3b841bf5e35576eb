"""Names the stop reasons it must act on; whatever else there is counts as done."""

import anthropic

from harness import Outcome, ToolError


def to_result(turn, block):
    by_name = {t.name: t.run for t in turn.tools}
    if block.name not in by_name:
        return dict(type="tool_result", tool_use_id=block.id, content=f"{block.name}?", is_error=True)
    try:
        return dict(type="tool_result", tool_use_id=block.id, content=by_name[block.name](block.input))
    except ToolError as e:
        return dict(type="tool_result", tool_use_id=block.id, content=e.content or "failed", is_error=True)


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    messages = list(turn.messages)
    container = anthropic.NOT_GIVEN
    for _ in range(turn.limits.max_iterations or 40):
        with client.messages.stream(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            container=container,
            tools=[
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in turn.tools
            ],
        ) as stream:
            message = stream.get_final_message()
        content = [b for b in message.content if b.type != "text" or b.text.strip()]
        text = "".join(b.text for b in content if b.type == "text")
        if message.container:
            container = message.container.id
        calls = [b for b in content if b.type == "tool_use"]
        match message.stop_reason:
            case "refusal":
                return Outcome(status="refused", shown=["The model declined."], history=turn.messages[:-1])
            case "max_tokens" | "model_context_window_exceeded":
                return Outcome(status="truncated", shown=[text + "\n(cut off)"], history=turn.messages[:-1])
            case "pause_turn":
                messages.append({"role": "assistant", "content": content})
            case "tool_use" if calls:
                messages.append({"role": "assistant", "content": content})
                messages.append({"role": "user", "content": [to_result(turn, c) for c in calls]})
            case "tool_use":
                return Outcome(status="failed", detail="tool_use without a call", history=turn.messages[:-1])
            case _:
                kept = [b for b in content if b.type != "tool_use"]
                if kept:
                    messages.append({"role": "assistant", "content": kept})
                return Outcome(status="completed", shown=[text] if text else [], history=messages)
    return Outcome(status="capped", history=turn.messages[:-1])
