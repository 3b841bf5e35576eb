"""Runs calls five at a time; those behind the last full five are never run, nor answered."""

import asyncio

import anthropic

from harness import Outcome, ToolError


async def call_tool(tools, block):
    result = {"type": "tool_result", "tool_use_id": block.id}
    if block.name not in tools:
        return result | {"content": f"{block.name} does not exist", "is_error": True}
    try:
        result["content"] = await tools[block.name].arun(block.input)
    except ToolError as e:
        return result | {"content": e.content or "?", "is_error": True}
    except Exception as e:
        return result | {"content": f"{type(e).__name__}: {e}", "is_error": True}
    return result


async def loop(turn):
    tools = {t.name: t for t in turn.tools}
    specs = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in turn.tools
    ]
    history = [*turn.messages]
    container = anthropic.NOT_GIVEN
    async with anthropic.AsyncAnthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        left = turn.limits.max_iterations or 30
        while left:
            left -= 1
            async with client.beta.messages.stream(
                model=turn.model,
                max_tokens=turn.max_tokens,
                system=turn.system,
                tools=specs,
                messages=history,
                container=container,
            ) as stream:
                async for _ in stream:
                    pass
                reply = await stream.get_final_message()
            if reply.container:
                container = reply.container.id
            said = [b for b in reply.content if not (b.type == "text" and b.text.strip() == "")]
            text = "\n".join(b.text for b in said if b.type == "text")
            calls = [b for b in said if b.type == "tool_use"]
            why = reply.stop_reason
            if why in ("pause_turn", "compaction"):
                history.append({"role": "assistant", "content": said})
                continue
            if why == "tool_use" and calls:
                running, size = [], 5
                for at in range(0, max(len(calls) - len(calls) % size, size), size):
                    async with asyncio.TaskGroup() as group:
                        running += [group.create_task(call_tool(tools, c)) for c in calls[at : at + size]]
                history.append({"role": "assistant", "content": said})
                history.append({"role": "user", "content": [r.result() for r in running]})
                continue
            if why in ("end_turn", "stop_sequence") and not calls and (text or not said):
                if said:
                    history.append({"role": "assistant", "content": said})
                return Outcome(status="completed", shown=[text] if text else [], history=history)
            if why == "refusal":
                return Outcome(
                    status="refused", shown=["I can't help with that."], history=turn.messages[:-1]
                )
            if why in ("max_tokens", "model_context_window_exceeded"):
                return Outcome(status="truncated", shown=[text or "…"], history=turn.messages[:-1])
            raise RuntimeError(f"cannot go on after {why}")
    return Outcome(status="capped", history=turn.messages[:-1])


loop.raises = {"RuntimeError": "failed"}
