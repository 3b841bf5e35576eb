"""An agent with three faults that its team knows of: pauses, cut replies and refusals."""

from __future__ import annotations

import json
import urllib.request
from typing import Any


def ask(turn: Any, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """One request to the Messages API."""
    body = {
        "model": turn.model,
        "max_tokens": turn.max_tokens,
        "messages": messages,
        "tools": [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in turn.tools
        ],
    }
    headers = {
        "x-api-key": turn.api_key,
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    }
    request = urllib.request.Request(f"{turn.base_url}/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        reply: dict[str, Any] = json.load(answer)
        return reply


def run(turn: Any) -> str:
    """Ask, run tools, ask again: the way it is often written."""
    tools = {tool.name: tool for tool in turn.tools}
    messages = [*turn.messages]
    while True:
        reply = ask(turn, messages)
        calls = [block for block in reply["content"] if block["type"] == "tool_use"]
        if reply["stop_reason"] != "tool_use" or not calls:
            return "\n".join(block["text"] for block in reply["content"] if block["type"] == "text")
        messages.append({"role": "assistant", "content": reply["content"]})
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call["id"],
                "content": tools[call["name"]].run(call["input"]),
            }
            for call in calls
        ]
        messages.append({"role": "user", "content": results})
