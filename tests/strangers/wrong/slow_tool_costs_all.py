"""One time limit around all the tools of a reply: when one is late, all of them failed."""

import asyncio

import anthropic

from harness import ToolError


async def use(tools, call):
    result = {"type": "tool_result", "tool_use_id": call.id}
    try:
        return result | {"content": await tools[call.name].arun(call.input)}
    except KeyError:
        return result | {"content": "unknown tool", "is_error": True}
    except ToolError as e:
        return result | {"content": e.content or "failed", "is_error": True}


async def use_all(tools, calls):
    try:
        return await asyncio.wait_for(asyncio.gather(*(use(tools, c) for c in calls)), timeout=0.3)
    except TimeoutError:
        return [
            {"type": "tool_result", "tool_use_id": c.id, "content": "timed out", "is_error": True}
            for c in calls
        ]


async def loop(turn):
    client = anthropic.AsyncAnthropic(base_url=turn.base_url, api_key=turn.api_key)
    tools, messages, container = {t.name: t for t in turn.tools}, list(turn.messages), anthropic.omit
    for _ in range(turn.limits.max_iterations or 20):
        reply = await client.messages.create(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            container=container,
            tools=[
                dict(name=t.name, description=t.description, input_schema=t.input_schema) for t in turn.tools
            ],
        )
        container = reply.container.id if reply.container else container
        content = [b for b in reply.content if b.type != "text" or b.text.strip()]
        calls = [b for b in content if b.type == "tool_use"]
        if reply.stop_reason == "pause_turn":
            messages.append({"role": "assistant", "content": content})
            continue
        if reply.stop_reason == "tool_use" and calls:
            messages.append({"role": "assistant", "content": content})
            messages.append({"role": "user", "content": await use_all(tools, calls)})
            continue
        if reply.stop_reason not in ("end_turn", "stop_sequence"):
            raise RuntimeError(f"stopped for {reply.stop_reason}")
        text = "".join(b.text for b in content if b.type == "text")
        return text if text.strip() else None
    raise RuntimeError("too many steps")
