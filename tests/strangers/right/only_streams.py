"""Streams whatever happens. On the beta client: the other one loses the input of MCP calls."""

import anthropic

from harness import Outcome, ToolError

CUT = ("max_tokens", "model_context_window_exceeded")


def run(turn, call):
    tool = next((t for t in turn.tools if t.name == call.name), None)
    if tool is None:
        return "Error: tool not found", True
    try:
        return tool.run(call.input), False
    except ToolError as e:
        return f"Error: {e}", True


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    messages, container = list(turn.messages), anthropic.omit
    requests = 0
    status, shown, detail = "capped", [], None
    while requests < (turn.limits.max_iterations or 20):
        requests += 1
        printed = ""
        with client.beta.messages.stream(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            container=container,
            tools=[
                dict(name=t.name, description=t.description, input_schema=t.input_schema) for t in turn.tools
            ],
        ) as stream:
            for text in stream.text_stream:
                printed += text
            final = stream.get_final_message()
        container = final.container.id if final.container else container
        content = [b for b in final.content if b.type != "text" or b.text.strip()]
        calls = [b for b in content if b.type == "tool_use"]
        if final.stop_reason == "tool_use" and calls:
            results = [(c.id, *run(turn, c)) for c in calls]
            messages.append({"role": "assistant", "content": content})
            messages.append(
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": i,
                            "content": c,
                            **({"is_error": True} if bad else {}),
                        }
                        for i, c, bad in results
                    ],
                }
            )
            continue
        if final.stop_reason == "pause_turn":
            messages.append({"role": "assistant", "content": content})
            continue
        if final.stop_reason in ("end_turn", "stop_sequence"):
            if content and not calls:
                messages.append({"role": "assistant", "content": content})
            status, shown = "completed", [printed] if printed.strip() else []
        elif final.stop_reason == "refusal":
            status, shown = "refused", ["The model declined."]
        else:
            status = "truncated" if final.stop_reason in CUT else "failed"
            shown, detail = [{"content": printed or "No answer.", "is_error": True}], final.stop_reason
        break
    history = messages if status == "completed" else turn.messages[:-1]
    return Outcome(status=status, shown=shown, detail=detail, history=history)
