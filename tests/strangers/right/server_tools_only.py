"""A search box: the only tool is the server's own, so nothing is ever run here."""

import anthropic

from harness import Outcome

SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
    messages, container = list(turn.messages), anthropic.omit
    for _ in range(turn.limits.max_iterations or 8):
        reply = client.messages.create(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            tools=[SEARCH],
            container=container,
        )
        container = reply.container.id if reply.container else container
        content = [b for b in reply.content if b.type != "text" or b.text.strip()]
        if reply.stop_reason == "pause_turn":
            messages.append({"role": "assistant", "content": content})
            continue
        text = "".join(b.text for b in content if b.type == "text")
        if reply.stop_reason in ("end_turn", "stop_sequence"):
            kept = [b for b in content if b.type != "tool_use"]
            messages += [{"role": "assistant", "content": kept}] if kept else []
            return Outcome(status="completed", shown=[text] if text else [], history=messages)
        if reply.stop_reason == "refusal":
            return Outcome(status="refused", shown=["The search was declined."], history=turn.messages[:-1])
        if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
            return Outcome(status="truncated", shown=[text + " …"], history=turn.messages[:-1])
        return Outcome(status="failed", detail=reply.stop_reason, history=turn.messages[:-1])
    return Outcome(status="capped", shown=["The search took too long."], history=turn.messages[:-1])


loop.tools = "none"
