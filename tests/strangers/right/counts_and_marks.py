"""Counts the tokens before it asks, and marks what is to be cached on copies: two marks that move along."""

import anthropic

from harness import Outcome, ToolError

STATUS = {
    "end_turn": "completed",
    "stop_sequence": "completed",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
}
MARK = {"cache_control": {"type": "ephemeral"}}


def marked(messages):
    """The last two messages of the user's side carry a mark; the history itself never does."""
    asked = [number for number, message in enumerate(messages) if message["role"] == "user"][-2:]
    return [mark(message) if number in asked else message for number, message in enumerate(messages)]


def mark(message):
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {**message, "content": [*parts[:-1], {**parts[-1], **MARK}]}


def blocks_of(reply):
    """What can be kept: no blank text, and of a reply that was cut no call."""
    said = [block for block in reply.content if block.type != "text" or block.text.strip()]
    blocks = [block.to_dict(mode="json") for block in said]
    cut = reply.stop_reason not in ("tool_use", "pause_turn")
    return [block for block in blocks if not (cut and block["type"] == "tool_use")]


def run(tools, call):
    result = {"type": "tool_result", "tool_use_id": call["id"]}
    try:
        if call["name"] not in tools:
            raise ToolError(f"There is no tool {call['name']}.")
        return {**result, "content": tools[call["name"]].run(call["input"])}
    except ToolError as error:
        return {**result, "content": error.content or "It failed.", "is_error": True}


def play(turn, client):
    tools = {tool.name: tool for tool in turn.tools}
    offered = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in turn.tools
    ]
    history, container, shown = list(turn.messages), anthropic.omit, []
    for _ in range(turn.limits.max_iterations or 30):
        said = {
            "model": turn.model,
            "system": [{"type": "text", "text": turn.system, **MARK}],
            "messages": marked(history),
            "tools": offered,
        }
        if client.messages.count_tokens(**said).input_tokens > 150_000:
            return Outcome(status="truncated", shown=[*shown, "(The conversation is too long.)"])
        reply = client.messages.create(
            **said,
            max_tokens=turn.max_tokens,
            metadata={"user_id": "someone"},
            stop_sequences=["</answer>"],
            container=container,
        )
        container = reply.container.id if reply.container else container
        if reply.stop_reason == "refusal":
            return Outcome(status="refused", shown=["(Declined.)"], history=list(turn.messages[:-1]))
        kept = blocks_of(reply)
        if kept:
            history.append({"role": "assistant", "content": kept})
        shown += [block["text"] for block in kept if block["type"] == "text"]
        calls = [block for block in kept if block["type"] == "tool_use"]
        if calls:
            history.append({"role": "user", "content": [run(tools, call) for call in calls]})
        elif reply.stop_reason != "pause_turn":
            status = STATUS.get(reply.stop_reason, "failed")
            note = [] if status == "completed" else [f"({reply.stop_reason})"]
            return Outcome(status=status, shown=[*shown, *note], history=history, detail=reply.stop_reason)
    return Outcome(status="capped", shown=[*shown, "(Stopped: too many steps.)"], history=history)


def loop(turn):
    with anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        try:
            return play(turn, client)
        except anthropic.APIError as error:
            return Outcome(status="failed", shown=[{"content": str(error), "is_error": True}])
