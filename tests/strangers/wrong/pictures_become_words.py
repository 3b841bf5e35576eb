"""Tools may return anything: `as_text` makes a text of it, for a result is a text."""

import json
import urllib.request

from harness import Outcome


def as_text(value):
    if isinstance(value, str):
        return value
    return "\n".join(part["text"] for part in value if part.get("type") == "text")


def post(turn, messages):
    body = {"model": turn.model, "max_tokens": turn.max_tokens, "system": turn.system, "messages": messages}
    body["tools"] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in turn.tools
    ]
    headers = {
        "content-type": "application/json",
        "x-api-key": turn.api_key,
        "anthropic-version": "2023-06-01",
    }
    asked = urllib.request.Request(f"{turn.base_url}/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return json.load(answer)


def run(turn, call):
    result = {"type": "tool_result", "tool_use_id": call["id"]}
    try:
        tool = next(tool for tool in turn.tools if tool.name == call["name"])
        return {**result, "content": as_text(tool.run(call["input"]))}
    except StopIteration:
        return {**result, "content": f"no tool {call['name']}", "is_error": True}
    except Exception as error:
        return {**result, "content": str(error) or "failed", "is_error": True}


def loop(turn):
    messages = list(turn.messages)
    for _ in range(20):
        reply = post(turn, messages)
        messages.append({"role": "assistant", "content": reply["content"]})
        if reply["stop_reason"] == "tool_use":
            calls = [block for block in reply["content"] if block["type"] == "tool_use"]
            messages.append({"role": "user", "content": [run(turn, call) for call in calls]})
        elif reply["stop_reason"] == "end_turn":
            said = "".join(block["text"] for block in reply["content"] if block["type"] == "text")
            return Outcome(status="completed", shown=[said], history=messages)
        elif reply["stop_reason"] != "pause_turn":
            return Outcome(status="failed", detail=reply["stop_reason"])
    return Outcome(status="capped")
