"""A tool's exception is nobody's business here: it ends the turn."""

import anthropic

from harness import Outcome


def run_all(turn, content):
    tools = {t.name: t for t in turn.tools}
    for b in content:
        if b.type == "tool_use" and b.name in tools:
            yield {"type": "tool_result", "tool_use_id": b.id, "content": tools[b.name].run(b.input)}
        elif b.type == "tool_use":
            yield {
                "type": "tool_result",
                "tool_use_id": b.id,
                "content": f"no {b.name} here",
                "is_error": True,
            }


def loop(turn):
    messages, container = [*turn.messages], None
    with anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        for _ in range(turn.limits.max_iterations or 20):
            extra = {"container": container} if container else {}
            reply = client.messages.create(
                model=turn.model,
                max_tokens=turn.max_tokens,
                system=turn.system,
                messages=messages,
                **extra,
                tools=[
                    dict(name=t.name, description=t.description, input_schema=t.input_schema)
                    for t in turn.tools
                ],
            )
            container = reply.container.id if reply.container else container
            content = [b for b in reply.content if b.type != "text" or b.text.strip()]
            if reply.stop_reason in ("pause_turn", "tool_use"):
                messages.append({"role": "assistant", "content": content})
                if results := list(run_all(turn, content)):
                    messages.append({"role": "user", "content": results})
                elif reply.stop_reason == "tool_use":
                    return Outcome(
                        status="failed", detail="tool_use without a call", history=turn.messages[:-1]
                    )
                continue
            break
        else:
            return Outcome(status="capped", history=turn.messages[:-1])
    text = "".join(b.text for b in content if b.type == "text")
    if reply.stop_reason in ("end_turn", "stop_sequence"):
        kept = [b for b in content if b.type != "tool_use"]
        messages += [{"role": "assistant", "content": kept}] if kept else []
        return Outcome(status="completed", shown=[text] if text else [], history=messages)
    status = {"refusal": "refused", "max_tokens": "truncated", "model_context_window_exceeded": "truncated"}
    return Outcome(
        status=status.get(reply.stop_reason, "failed"),
        shown=[f"{text} ({reply.stop_reason})"],
        detail=reply.stop_reason,
        history=turn.messages[:-1],
    )
