"""A function from messages to text. It has no memory, and raises what it cannot answer."""

import anthropic

from harness import ToolError


def loop(turn) -> str:
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    tools = {t.name: t for t in turn.tools}
    messages, more = list(turn.messages), {}
    for _ in range(turn.limits.max_iterations or 20):
        reply = client.messages.create(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            tools=[
                dict(name=t.name, description=t.description, input_schema=t.input_schema) for t in turn.tools
            ],
            **more,
        )
        if reply.container:
            more["container"] = reply.container.id
        content = [b for b in reply.content if b.type != "text" or b.text.strip()]
        calls = [b for b in content if b.type == "tool_use"]
        if reply.stop_reason in ("end_turn", "stop_sequence"):
            return "".join(b.text for b in content if b.type == "text")
        if reply.stop_reason == "pause_turn" or (reply.stop_reason == "tool_use" and calls):
            messages.append({"role": "assistant", "content": content})
        else:
            raise RuntimeError(f"no answer: the model stopped for {reply.stop_reason}")
        if not calls:
            continue
        results = []
        for call in calls:
            try:
                results.append({"content": tools[call.name].run(call.input)})
            except KeyError:
                results.append({"content": f"no tool {call.name}", "is_error": True})
            except ToolError as e:
                results.append({"content": e.content or "it failed", "is_error": True})
            results[-1] |= {"type": "tool_result", "tool_use_id": call.id}
        messages.append({"role": "user", "content": results})
    raise RuntimeError("no answer: too many steps")
