"""Keeps roles alternating: what the user says next joins a last message of the user."""

import anthropic

from harness import Outcome, ToolError

SESSIONS = {}


def blocks(content):
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def add(messages, role, content):
    if messages and messages[-1]["role"] == role == "user":
        last = messages.pop()
        content = blocks(last["content"]) + blocks(content)
    messages.append({"role": role, "content": content})


def loop(turn):
    messages = list(SESSIONS.get(turn.conversation, []))
    before = list(messages)
    add(messages, "user", turn.prompt)
    outcome = converse(turn, messages)
    SESSIONS[turn.conversation] = messages if outcome.status == "completed" else before
    return outcome


def converse(turn, messages):
    client, more = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key), {}
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
        content = [b.to_dict() for b in reply.content if b.type != "text" or b.text.strip()]
        calls = [b for b in content if b["type"] == "tool_use"]
        if reply.stop_reason in ("end_turn", "stop_sequence"):
            if content and not calls:
                add(messages, "assistant", content)
            text = "".join(b["text"] for b in content if b["type"] == "text")
            return Outcome(status="completed", shown=[text] if text else [])
        if reply.stop_reason == "refusal":
            return Outcome(status="refused", shown=["(declined)"])
        if reply.stop_reason not in ("tool_use", "pause_turn"):
            cut = reply.stop_reason in ("max_tokens", "model_context_window_exceeded")
            return Outcome(status="truncated" if cut else "failed", shown=["(cut)"], detail=reply.stop_reason)
        if reply.stop_reason == "tool_use" and not calls:
            return Outcome(status="failed", shown=["(no call)"], detail="tool_use without a call")
        add(messages, "assistant", content)
        if calls:
            add(messages, "user", [result(turn, c) for c in calls])
    return Outcome(status="capped", shown=["(cap)"])


def result(turn, call):
    tool = {t.name: t for t in turn.tools}.get(call["name"])
    try:
        if tool is None:
            raise ToolError("unknown tool")
        return {"type": "tool_result", "tool_use_id": call["id"], "content": tool.run(call["input"])}
    except ToolError as e:
        return {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": e.content or "failed",
            "is_error": True,
        }
