"""Names the container of the newest reply, also where that names none."""

import anthropic

from harness import Outcome, ToolError

KEEP = 6


def speaks(message):
    content = message["content"]
    return message["role"] == "user" and (
        isinstance(content, str) or all(b["type"] != "tool_result" for b in content)
    )


def shortened(messages, keep):
    starts = [i for i, m in enumerate(messages) if speaks(m)]
    return messages[starts[-keep] :] if len(starts) > keep else list(messages)


def loop(turn):
    messages = shortened(turn.messages, KEEP)
    specs = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in turn.tools
    ]
    more = {}
    total = {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
    }
    rounds = 0

    def done(status, shown, history):
        return Outcome(status=status, shown=shown, history=history, usage={**total, "iterations": rounds})

    with anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        while rounds < (turn.limits.max_iterations or 30):
            try:
                reply = client.messages.create(
                    model=turn.model,
                    max_tokens=turn.max_tokens,
                    system=turn.system,
                    tools=specs,
                    messages=messages,
                    **more,
                )
            except anthropic.BadRequestError as error:
                shorter = shortened(messages, 1)
                if "too long" in str(error) and len(shorter) < len(messages):
                    messages = shorter
                    continue
                return done(
                    "failed", [{"content": "The request was refused.", "is_error": True}], turn.messages[:-1]
                )
            except anthropic.APIError as error:
                return done(
                    "failed", [{"content": f"No answer: {error}", "is_error": True}], turn.messages[:-1]
                )
            rounds += 1
            for key in total:
                total[key] += getattr(reply.usage, key) or 0
            more = {"container": reply.container.id} if reply.container else {}
            content = [b.to_dict() for b in reply.content if b.type != "text" or b.text.strip()]
            calls = [b for b in content if b["type"] == "tool_use"]
            text = "".join(b["text"] for b in content if b["type"] == "text")
            if reply.stop_reason in ("pause_turn", "compaction"):
                messages.append({"role": "assistant", "content": content})
            elif reply.stop_reason == "tool_use" and calls:
                messages.append({"role": "assistant", "content": content})
                messages.append({"role": "user", "content": [run(turn, c) for c in calls]})
            elif reply.stop_reason in ("end_turn", "stop_sequence") and not calls and (text or not content):
                messages += [{"role": "assistant", "content": content}] if content else []
                return done("completed", [text] if text else [], messages)
            elif reply.stop_reason == "refusal":
                return done("refused", ["The model will not answer that."], turn.messages[:-1])
            elif reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
                return done("truncated", [{"content": text + " (cut)", "is_error": True}], turn.messages[:-1])
            else:
                return done(
                    "failed",
                    [{"content": f"It stopped for {reply.stop_reason}.", "is_error": True}],
                    turn.messages[:-1],
                )
    return done("capped", [{"content": "Too many steps.", "is_error": True}], turn.messages[:-1])


def run(turn, call):
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "unknown tool", "is_error": True}
    for tool in turn.tools:
        if tool.name == call["name"]:
            try:
                result["content"] = tool.run(call["input"])
                del result["is_error"]
            except ToolError as e:
                result["content"] = e.content or "failed"
            except Exception as e:
                result["content"] = f"failed: {e!r}"
    return result
