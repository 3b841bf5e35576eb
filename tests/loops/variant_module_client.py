"""A loop with one client for the whole module, made when it is imported, as most programs have it.

It knows of the provider only what the environment says.
"""

from __future__ import annotations

import atexit
from typing import Any

import anthropic

from harness.turn import Turn

client = anthropic.Anthropic()
atexit.register(client.close)


def loop(turn: Turn) -> str:
    """Answer in one string. It offers no tools, so that only pauses can make it ask again."""
    messages: list[Any] = list(turn.messages)
    more: dict[str, Any] = {}
    for _ in range(20):
        reply = client.beta.messages.create(
            model=turn.model, max_tokens=turn.max_tokens, system=turn.system, messages=messages, **more
        )
        messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason != "pause_turn":
            break
        if reply.container:
            more = {"container": reply.container.id}
    text = "".join(block.text for block in reply.content if block.type == "text")
    if reply.stop_reason in ("end_turn", "stop_sequence"):
        return text
    if reply.stop_reason == "refusal":
        return "Sorry: the model declined to answer this."
    return f"{text}\n[not finished: {reply.stop_reason}]"
