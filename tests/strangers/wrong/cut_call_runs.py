"""Runs every `tool_use` block it finds, before it looks at why the reply stopped."""

import anthropic

from harness import Outcome, ToolError


async def loop(turn):
    tools = {t.name: t for t in turn.tools}
    messages = list(turn.messages)
    extra = {}
    async with anthropic.AsyncAnthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        for _ in range(turn.limits.max_iterations or 12):
            msg = await client.messages.create(
                model=turn.model,
                max_tokens=turn.max_tokens,
                system=turn.system,
                messages=messages,
                tools=[
                    {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                    for t in tools.values()
                ],
                **extra,
            )
            if msg.container:
                extra["container"] = msg.container.id
            if msg.stop_reason == "refusal":
                return Outcome(status="refused", shown=["Declined."], history=turn.messages[:-1])
            blocks = [b for b in msg.content if b.type != "text" or b.text.strip()]
            calls = [b for b in blocks if b.type == "tool_use"]
            if blocks:
                messages.append({"role": "assistant", "content": blocks})
            if calls:
                results = []
                for c in calls:
                    r = {"type": "tool_result", "tool_use_id": c.id}
                    try:
                        r["content"] = await tools[c.name].arun(c.input)
                    except KeyError:
                        r.update(content=f"{c.name}: no such tool", is_error=True)
                    except ToolError as e:
                        r.update(content=e.content or "the tool failed", is_error=True)
                    results.append(r)
                messages.append({"role": "user", "content": results})
                continue
            if msg.stop_reason == "pause_turn":
                continue
            text = "".join(b.text for b in blocks if b.type == "text")
            if msg.stop_reason in ("end_turn", "stop_sequence"):
                return Outcome(status="completed", shown=[text] if text else [], history=messages)
            if msg.stop_reason in ("max_tokens", "model_context_window_exceeded"):
                shown = [{"role": "assistant", "content": text + " [cut]", "is_error": True}]
                return Outcome(status="truncated", shown=shown, history=turn.messages[:-1])
            return Outcome(status="failed", detail=str(msg.stop_reason), history=turn.messages[:-1])
    return Outcome(status="capped", history=turn.messages[:-1])
