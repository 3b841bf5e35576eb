"""Reads the text of whatever comes back; an answer cut by max_tokens is an answer like any other."""

import json
import urllib.request

from harness import Outcome, ToolError


def post(turn, body):
    request = urllib.request.Request(
        turn.base_url + "/v1/messages",
        data=json.dumps(body).encode(),
        headers={
            "content-type": "application/json",
            "x-api-key": turn.api_key,
            "anthropic-version": "2023-06-01",
        },
    )
    with urllib.request.urlopen(request, timeout=8) as response:
        return json.load(response)


def loop(turn):
    tools = {t.name: t for t in turn.tools}
    body = {
        "model": turn.model,
        "max_tokens": turn.max_tokens,
        "system": turn.system,
        "messages": list(turn.messages),
    }
    if tools:
        body["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in turn.tools
        ]
    for _ in range(turn.limits.max_iterations or 30):
        reply = post(turn, body)
        if reply["stop_reason"] == "refusal":
            return Outcome(
                status="refused", shown=["The model will not do this."], history=turn.messages[:-1]
            )
        content = [b for b in reply["content"] if b["type"] != "text" or b["text"].strip()]
        if reply.get("container"):
            body["container"] = reply["container"]["id"]
        if reply["stop_reason"] == "pause_turn":
            body["messages"] = [*body["messages"], {"role": "assistant", "content": content}]
            continue
        calls = [b for b in content if b["type"] == "tool_use"]
        if reply["stop_reason"] == "tool_use" and calls:
            results = []
            for call in calls:
                try:
                    results.append({"content": tools[call["name"]].run(call["input"])})
                except KeyError:
                    results.append({"content": "Unknown tool " + call["name"], "is_error": True})
                except ToolError as e:
                    results.append({"content": e.content or "error", "is_error": True})
                results[-1].update(type="tool_result", tool_use_id=call["id"])
            body["messages"] = [
                *body["messages"],
                {"role": "assistant", "content": content},
                {"role": "user", "content": results},
            ]
            continue
        if reply["stop_reason"] not in ("end_turn", "stop_sequence", "max_tokens"):
            return Outcome(status="failed", detail=reply["stop_reason"], history=turn.messages[:-1])
        content = [b for b in content if b["type"] != "tool_use"]
        text = "".join(b["text"] for b in content if b["type"] == "text")
        history = (
            [*body["messages"], {"role": "assistant", "content": content}] if content else body["messages"]
        )
        return Outcome(status="completed", shown=[text] if text else [], history=history)
    return Outcome(status="capped", history=turn.messages[:-1])
