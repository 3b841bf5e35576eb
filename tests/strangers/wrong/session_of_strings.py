"""A chat window's memory: who said what, as text. Calls and results of earlier turns are gone."""

import anthropic

from harness import Outcome, ToolError

MEMORY: dict[str, list[tuple[str, str]]] = {}


def loop(turn):
    memory = MEMORY.setdefault(turn.conversation, [])
    messages = [{"role": role, "content": text} for role, text in memory]
    messages.append({"role": "user", "content": turn.prompt})
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    more = {}
    for _ in range(turn.limits.max_iterations or 20):
        r = client.messages.create(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            tools=[
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in turn.tools
            ],
            **more,
        )
        if r.container:
            more = {"container": r.container.id}
        content = [b for b in r.content if b.type != "text" or b.text.strip()]
        calls = [b for b in content if b.type == "tool_use"]
        if r.stop_reason == "pause_turn":
            messages.append({"role": "assistant", "content": content})
        elif r.stop_reason == "tool_use" and calls:
            messages.append({"role": "assistant", "content": content})
            messages.append({"role": "user", "content": [result(turn, c) for c in calls]})
        elif r.stop_reason in ("end_turn", "stop_sequence"):
            text = "".join(b.text for b in content if b.type == "text")
            if text:
                memory += [("user", turn.prompt), ("assistant", text)]
            return Outcome(status="completed", shown=[text] if text else [])
        elif r.stop_reason == "refusal":
            return Outcome(status="refused", shown=["Declined."])
        else:
            return Outcome(status="truncated", shown=["(cut)"], detail=r.stop_reason)
    return Outcome(status="capped", shown=["(cap)"])


def result(turn, call):
    answer = {"type": "tool_result", "tool_use_id": call.id}
    for tool in turn.tools:
        if tool.name == call.name:
            try:
                return {**answer, "content": tool.run(call.input)}
            except ToolError as e:
                return {**answer, "content": e.content or "failed", "is_error": True}
    return {**answer, "content": "unknown tool", "is_error": True}
