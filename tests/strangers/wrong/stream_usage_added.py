"""Adds up the usage of every event of a stream, though the later ones are totals."""

import anthropic

from harness import Outcome, ToolError


def one(tools, call):
    result = {"type": "tool_result", "tool_use_id": call.id}
    try:
        return result | {"content": tools[call.name].run(call.input)}
    except KeyError:
        return result | {"content": "unknown tool", "is_error": True}
    except ToolError as e:
        return result | {"content": e.content or "failed", "is_error": True}


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    tools = {t.name: t for t in turn.tools}
    messages, container = list(turn.messages), anthropic.omit
    used = {"input_tokens": 0, "output_tokens": 0}
    for _ in range(turn.limits.max_iterations or 20):
        with client.messages.stream(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            container=container,
            tools=[
                dict(name=t.name, description=t.description, input_schema=t.input_schema) for t in turn.tools
            ],
        ) as stream:
            for event in stream:
                usage = None
                if event.type == "message_start":
                    usage = event.message.usage
                elif event.type == "message_delta":
                    usage = event.usage
                if usage:
                    used["input_tokens"] += usage.input_tokens or 0
                    used["output_tokens"] += usage.output_tokens or 0
            reply = stream.get_final_message()
        container = reply.container.id if reply.container else container
        content = [b for b in reply.content if b.type != "text" or b.text.strip()]
        calls = [b for b in content if b.type == "tool_use"]
        if reply.stop_reason == "pause_turn":
            messages.append({"role": "assistant", "content": content})
        elif reply.stop_reason == "tool_use" and calls:
            messages.append({"role": "assistant", "content": content})
            messages.append({"role": "user", "content": [one(tools, c) for c in calls]})
        else:
            good = reply.stop_reason in ("end_turn", "stop_sequence") and not calls
            text = "".join(b.text for b in content if b.type == "text")
            if good and content:
                messages.append({"role": "assistant", "content": content})
            return Outcome(
                status="completed" if good else "failed",
                detail=reply.stop_reason,
                usage=used,
                shown=[text] if text and good else [],
                history=messages if good else turn.messages[:-1],
            )
    return Outcome(status="capped", usage=used, history=turn.messages[:-1])
