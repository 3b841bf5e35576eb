"""A loop as it is often written, wrong in ways that no answer shows. The README's failure is made with it."""

from __future__ import annotations

from typing import Any

import anthropic

from harness import Outcome, Turn


def loop(turn: Turn) -> Outcome:
    """Ask, run the tools that are called, ask again; where none is called, the turn is over. (It is not.)"""
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    tools = {tool.name: tool for tool in turn.tools}
    messages: list[Any] = list(turn.messages)
    while True:
        reply = client.messages.create(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            tools=[
                {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
                for tool in turn.tools
            ],
        )
        messages.append({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            text = "".join(block.text for block in reply.content if block.type == "text")
            return Outcome(status="completed", shown=[text], history=messages)
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": tools[call.name].run(call.input)}
            for call in calls
        ]
        messages.append({"role": "user", "content": results})
