"""Runs the calls side by side and pairs results with ids in the order in which they finish."""

import asyncio

import anthropic

from harness import Outcome, ToolError


async def run(tools, call):
    try:
        return {"content": await tools[call.name].arun(call.input)}
    except KeyError:
        return {"content": "no such tool", "is_error": True}
    except ToolError as e:
        return {"content": e.content or "failed", "is_error": True}


async def loop(turn):
    client = anthropic.AsyncAnthropic(base_url=turn.base_url, api_key=turn.api_key)
    messages, tools, container = list(turn.messages), {t.name: t for t in turn.tools}, anthropic.omit
    for _ in range(turn.limits.max_iterations or 20):
        async with client.messages.stream(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            container=container,
            tools=[
                dict(name=t.name, description=t.description, input_schema=t.input_schema) for t in turn.tools
            ],
        ) as stream:
            reply = await stream.get_final_message()
        container = reply.container.id if reply.container else container
        content = [b for b in reply.content if b.type != "text" or b.text.strip()]
        calls = [b for b in content if b.type == "tool_use"]
        if reply.stop_reason == "pause_turn":
            messages.append({"role": "assistant", "content": content})
        elif reply.stop_reason == "tool_use" and calls:
            tasks = [asyncio.create_task(run(tools, c)) for c in calls]
            done = [await result for result in asyncio.as_completed(tasks)]
            results = [{"type": "tool_result", "tool_use_id": c.id, **r} for c, r in zip(calls, done)]
            messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
        elif reply.stop_reason in ("end_turn", "stop_sequence") and not calls:
            text = "".join(b.text for b in content if b.type == "text")
            messages += [{"role": "assistant", "content": content}] if content else []
            return Outcome(status="completed", shown=[text] if text else [], history=messages)
        else:
            known = {
                "refusal": "refused",
                "max_tokens": "truncated",
                "model_context_window_exceeded": "truncated",
            }
            return Outcome(
                status=known.get(reply.stop_reason, "failed"),
                shown=["(no answer)"],
                detail=reply.stop_reason,
                history=turn.messages[:-1],
            )
    return Outcome(status="capped", shown=["(cap)"], history=turn.messages[:-1])
