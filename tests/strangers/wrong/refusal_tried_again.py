"""Takes a refusal for a hiccup, and asks up to three times."""

import httpx2 as httpx

from harness import Outcome, ToolError

HEADERS = {"anthropic-version": "2023-06-01"}


def loop(turn):
    http = httpx.Client(
        base_url=turn.base_url, headers={**HEADERS, "authorization": f"Bearer {turn.api_key}"}, timeout=9
    )
    with http:
        return converse(turn, http)


def send(turn, http, messages, container):
    body = {"model": turn.model, "max_tokens": turn.max_tokens, "system": turn.system, "messages": messages}
    body["tools"] = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in turn.tools
    ]
    if container:
        body["container"] = container
    for _ in range(3):
        data = http.post("/v1/messages", json=body).raise_for_status().json()
        if data["stop_reason"] != "refusal":
            break
    return data


def converse(turn, http):
    messages, container = list(turn.messages), None
    for _ in range(turn.limits.max_iterations or 16):
        data = send(turn, http, messages, container)
        stop = data["stop_reason"]
        container = (data.get("container") or {}).get("id") or container
        if stop == "refusal":
            return Outcome(status="refused", shown=["I cannot help with that."], history=turn.messages[:-1])
        content = [b for b in data["content"] if b["type"] != "text" or b["text"].strip()]
        calls = [b for b in content if b["type"] == "tool_use"]
        if content and not (calls and stop != "tool_use"):
            messages = messages + [{"role": "assistant", "content": content}]
        if stop == "pause_turn":
            continue
        if stop == "tool_use" and calls:
            messages = messages + [{"role": "user", "content": [use(turn, c) for c in calls]}]
            continue
        text = "".join(b["text"] for b in content if b["type"] == "text")
        if stop in ("end_turn", "stop_sequence"):
            return Outcome(status="completed", shown=[text] if text else [], history=messages)
        return Outcome(status="truncated" if "max" in stop or "window" in stop else "failed", detail=stop)
    return Outcome(status="capped")


def use(turn, call):
    for tool in turn.tools:
        if tool.name == call["name"]:
            try:
                return {"type": "tool_result", "tool_use_id": call["id"], "content": tool.run(call["input"])}
            except ToolError as e:
                text = e.content or "failed without a message"
                break
    else:
        text = "There is no tool of that name."
    return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": True}
