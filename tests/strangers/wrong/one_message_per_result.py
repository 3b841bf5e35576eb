"""Appends each result as a message of its own, as it is ready."""

import anthropic

from harness import Outcome, ToolError


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    messages = list(turn.messages)
    tools = {t.name: t for t in turn.tools}
    more = {}
    for _ in range(turn.limits.max_iterations or 20):
        reply = client.messages.create(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            **more,
            tools=[
                dict(name=t.name, description=t.description, input_schema=t.input_schema) for t in turn.tools
            ],
        )
        if reply.container:
            more["container"] = reply.container.id
        content = [b for b in reply.content if b.type != "text" or b.text.strip()]
        text = "".join(b.text for b in content if b.type == "text")
        if reply.stop_reason in ("max_tokens", "refusal", "model_context_window_exceeded"):
            raise RuntimeError(f"{reply.stop_reason}: {text}")
        if content:
            messages.append({"role": "assistant", "content": content})
        if reply.stop_reason == "pause_turn":
            continue
        if reply.stop_reason in ("end_turn", "stop_sequence"):
            open_calls = any(b.type == "tool_use" for b in content)
            history = turn.messages if open_calls else messages
            return Outcome(status="completed", shown=[text] if text else [], history=history)
        if reply.stop_reason != "tool_use" or not any(b.type == "tool_use" for b in content):
            raise RuntimeError(f"what now? {reply.stop_reason}")
        for block in content:
            if block.type != "tool_use":
                continue
            try:
                result = {"content": tools[block.name].run(block.input)}
            except KeyError:
                result = {"content": f"there is no {block.name}", "is_error": True}
            except ToolError as e:
                result = {"content": e.content or "failed", "is_error": True}
            result |= {"type": "tool_result", "tool_use_id": block.id}
            messages.append({"role": "user", "content": [result]})
    raise RuntimeError("too many steps")
