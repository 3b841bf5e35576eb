"""Returns text, and raises an exception of its own for each way not to have one."""

import anthropic

from harness import Declaration, ToolError


class Refused(Exception):
    pass


class Truncated(Exception):
    pass


class TooManySteps(Exception):
    pass


class Cancelled(Exception):
    pass


class UnexpectedStop(Exception):
    pass


def steps(turn, client):
    """Yields requests' messages, is sent replies: a loop as a generator."""
    messages, container = list(turn.messages), anthropic.omit
    for _ in range(turn.limits.max_iterations or 20):
        if turn.cancelled():
            raise Cancelled
        reply = client.messages.create(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            container=container,
            tools=[
                dict(name=t.name, description=t.description, input_schema=t.input_schema) for t in turn.tools
            ],
        )
        container = reply.container.id if reply.container else container
        content = [b for b in reply.content if b.type != "text" or b.text.strip()]
        yield reply.stop_reason, content
        messages.append({"role": "assistant", "content": content})
        if results := [answer(turn, b) for b in content if b.type == "tool_use"]:
            messages.append({"role": "user", "content": results})
    raise TooManySteps


def answer(turn, block):
    result = dict(type="tool_result", tool_use_id=block.id)
    if turn.cancelled():
        return result | dict(content="cancelled", is_error=True)
    for tool in turn.tools:
        if tool.name == block.name:
            try:
                return result | dict(content=tool.run(block.input))
            except ToolError as e:
                return result | dict(content=e.content or "failed", is_error=True)
    return result | dict(content=f"{block.name} does not exist", is_error=True)


def loop(turn):
    try:
        for stop, content in steps(turn, anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)):
            if stop in ("end_turn", "stop_sequence"):
                return "".join(b.text for b in content if b.type == "text")
            if stop == "refusal":
                raise Refused("the model declined")
            if stop in ("max_tokens", "model_context_window_exceeded"):
                raise Truncated(stop)
            if stop not in ("tool_use", "pause_turn") or not content:
                raise UnexpectedStop(stop)
            if stop == "tool_use" and all(b.type != "tool_use" for b in content):
                raise UnexpectedStop("tool_use without a call")
    finally:
        turn.store.pop(turn.cancel_key, None)


loop.declaration = Declaration(
    raises={
        "Refused": "refused",
        "Truncated": "truncated",
        "TooManySteps": "capped",
        "Cancelled": "cancelled",
        "UnexpectedStop": "failed",
    }
)
