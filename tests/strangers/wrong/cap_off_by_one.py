"""Counts from nought to the cap, the cap included."""

import anthropic

from harness import Outcome, ToolError


def run_all(turn, content):
    tools = {t.name: t for t in turn.tools}
    for call in [b for b in content if b.type == "tool_use"]:
        try:
            yield {"type": "tool_result", "tool_use_id": call.id, "content": tools[call.name].run(call.input)}
        except KeyError:
            yield {"type": "tool_result", "tool_use_id": call.id, "content": "no such tool", "is_error": True}
        except ToolError as e:
            yield {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": e.content or "failed",
                "is_error": True,
            }


def loop(turn):
    messages, container = [*turn.messages], None
    with anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        count = 0
        while count <= (turn.limits.max_iterations or 20):
            count += 1
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
                    raise RuntimeError("nothing was called")
                continue
            break
        else:
            return Outcome(status="capped", detail=f"{count} requests", history=turn.messages[:-1])
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
