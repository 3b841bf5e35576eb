"""The beta stream and its accumulated snapshot."""

import anthropic

from harness import Outcome, ToolError


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    try:
        return answer(turn, client)
    finally:
        client.close()


def answer(turn, client):
    messages = list(turn.messages)
    extra = {}
    tools = {t.name: t for t in turn.tools}
    for _ in range(turn.limits.max_iterations or 30):
        shown = ""
        with client.beta.messages.stream(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            tools=[
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in turn.tools
            ],
            **extra,
        ) as stream:
            for event in stream:
                if event.type == "text":
                    shown += event.text
            reply = stream.current_message_snapshot
        if reply.container:
            extra = {"container": reply.container.id}
        content = []
        for block in reply.content:
            if block.type == "text" and not block.text.strip():
                continue
            content.append(block.to_dict())
        used = [b for b in content if b["type"] == "tool_use"]
        stop = reply.stop_reason
        if stop in ("pause_turn", "compaction"):
            messages.append({"role": "assistant", "content": content})
            continue
        if stop == "tool_use" and used:
            messages.append({"role": "assistant", "content": content})
            messages.append({"role": "user", "content": [result(tools, b) for b in used]})
            continue
        if stop in ("end_turn", "stop_sequence") and not used and (shown.strip() or not content):
            if content:
                messages.append({"role": "assistant", "content": content})
            return Outcome(status="completed", shown=[shown] if shown.strip() else [], history=messages)
        if stop == "refusal":
            return Outcome(status="refused", shown=["The model declined."], history=turn.messages[:-1])
        if stop in ("max_tokens", "model_context_window_exceeded"):
            return Outcome(
                status="truncated",
                shown=[shown, "The reply was cut."] if shown.strip() else ["The reply was cut."],
                history=turn.messages[:-1],
            )
        return Outcome(
            status="failed",
            shown=["Something went wrong."],
            history=turn.messages[:-1],
            detail=f"stopped for {stop}",
        )
    return Outcome(status="capped", shown=["I gave up after too many steps."], history=turn.messages[:-1])


def result(tools, block):
    answer = {"type": "tool_result", "tool_use_id": block["id"]}
    if block["name"] not in tools:
        return answer | {"content": "there is no such tool", "is_error": True}
    try:
        answer["content"] = tools[block["name"]].run(block["input"])
    except ToolError as e:
        answer.update(content=e.content or "failed", is_error=True)
    except Exception as e:
        answer.update(content=f"failed: {e!r}", is_error=True)
    return answer
