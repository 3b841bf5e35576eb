"""A loop without any library, in a style of its own: recursion over the stop reason, plain dictionaries.

It speaks the older version of the API (`x-api-key`), never streams, sends results as blocks, keeps an answer
of one text as a string, and remembers its conversations itself instead of handing a history over.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from harness.turn import Outcome, ToolError, Turn

SESSIONS: dict[str, list[dict[str, Any]]] = {}
DEEPEST = 30


def loop(turn: Turn) -> Outcome:
    """Play one turn of a conversation that this module keeps."""
    before = SESSIONS.get(turn.conversation, [])
    messages = [*before, {"role": "user", "content": turn.prompt}]
    outcome, messages = step(turn, messages, min(DEEPEST, turn.limits.max_iterations or DEEPEST))
    SESSIONS[turn.conversation] = messages if outcome.status == "completed" else before
    return outcome


def step(  # noqa: PLR0911 - one for each way to end
    turn: Turn, messages: list[Any], left: int, container: str | None = None
) -> tuple[Outcome, list[Any]]:
    """One request and what follows from it."""
    if left == 0:
        return Outcome(status="capped", shown=["Stopped: too many steps."]), messages
    try:
        reply = post(turn, messages, container)
    except urllib.error.HTTPError as error:
        with error:
            return Outcome(status="failed", detail=error.read().decode()), messages
    container = (reply.get("container") or {}).get("id", container)
    content = [b for b in reply["content"] if b["type"] != "text" or b["text"].strip()]
    if content:
        plain = [set(block) for block in content] == [{"type", "text"}]
        messages = [*messages, {"role": "assistant", "content": content[0]["text"] if plain else content}]
    calls = [block for block in content if block["type"] == "tool_use"]
    match reply["stop_reason"]:
        case "pause_turn":
            return step(turn, messages, left - 1, container)
        case "tool_use" if calls:
            answers = {"role": "user", "content": [answer(turn, call) for call in calls]}
            return step(turn, [*messages, answers], left - 1, container)
        case "end_turn" | "stop_sequence" if not calls:
            texts = [block["text"] for block in content if block["type"] == "text"]
            return Outcome(status="completed", shown=texts), messages
        case "end_turn" | "stop_sequence":
            texts = [block["text"] for block in content if block["type"] == "text"]
            return Outcome(status="failed", shown=texts, detail="a call without tool_use"), messages
        case "refusal":
            return Outcome(status="refused"), messages
        case "max_tokens" | "model_context_window_exceeded" as limit:
            return Outcome(status="truncated", detail=limit), messages
        case other:
            return Outcome(status="failed", detail=f"stop reason {other}"), messages


def answer(turn: Turn, call: dict[str, Any]) -> dict[str, Any]:
    """The block that answers one call."""
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call["id"]}
    for tool in turn.tools:
        if tool.name == call["name"]:
            try:
                said = tool.run(call["input"])
            except ToolError as error:
                said, block["is_error"] = error.content or "failed", True
            return {**block, "content": [{"type": "text", "text": said}] if isinstance(said, str) else said}
    return {**block, "is_error": True, "content": f"no tool named {call['name']}"}


def post(turn: Turn, messages: list[Any], container: str | None) -> dict[str, Any]:
    """Send one request. Raises `urllib.error.HTTPError`."""
    body: dict[str, Any] = {"model": turn.model, "max_tokens": turn.max_tokens, "messages": messages}
    body["tools"] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in turn.tools
    ]
    body |= {"system": turn.system} if turn.system else {}
    body |= {"container": container} if container else {}
    headers = {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": turn.api_key,
    }
    data = json.dumps(body, ensure_ascii=False).encode()
    request = urllib.request.Request(f"{turn.base_url}/v1/messages", data, headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        reply: dict[str, Any] = json.load(response)
        return reply
