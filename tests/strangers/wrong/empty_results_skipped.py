"""Sends back what the tools returned, where they returned something."""

import json
import urllib.error
import urllib.request

from harness import ToolError


def post(turn, body):
    request = urllib.request.Request(
        turn.base_url.rstrip("/") + "/v1/messages",
        json.dumps(body).encode(),
        method="POST",
        headers={
            "content-type": "application/json",
            "x-api-key": turn.api_key,
            "anthropic-version": "2023-06-01",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{error.code}: {error.read(500)!r}") from None


def loop(turn):
    body = {
        "model": turn.model,
        "max_tokens": turn.max_tokens,
        "system": turn.system,
        "messages": list(turn.messages),
    }
    if turn.tools:
        body["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in turn.tools
        ]
    for _ in range(turn.limits.max_iterations or 30):
        reply = post(turn, body)
        if reply.get("container"):
            body["container"] = reply["container"]["id"]
        content = [b for b in reply["content"] if b["type"] != "text" or b["text"].strip()]
        calls = [b for b in content if b["type"] == "tool_use"]
        stop = reply["stop_reason"]
        if stop in ("pause_turn", "compaction") or (stop == "tool_use" and calls):
            body["messages"].append({"role": "assistant", "content": content})
            if stop == "tool_use":
                results = [use(turn, c) for c in calls]
                body["messages"].append({"role": "user", "content": [r for r in results if r["content"]]})
            continue
        text = "".join(b["text"] for b in content if b["type"] == "text")
        if stop in ("end_turn", "stop_sequence") and not calls and (text or not content):
            return text
        if stop == "refusal":
            return "The model declined to answer this."
        if stop in ("max_tokens", "model_context_window_exceeded"):
            return text + "\n\n(The answer was cut.)"
        raise RuntimeError(f"the model stopped for {stop}")
    raise RuntimeError("no answer after many steps")


def use(turn, call):
    result = {"type": "tool_result", "tool_use_id": call["id"]}
    tool = {t.name: t for t in turn.tools}.get(call["name"])
    try:
        if tool is None:
            raise LookupError(f"no tool {call['name']}")
        result["content"] = tool.run(call["input"])
    except ToolError as error:
        result.update(content=error.content or "failed", is_error=True)
    except Exception as error:
        result.update(content=f"failed: {error!r}", is_error=True)
    return result
