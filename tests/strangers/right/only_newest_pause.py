"""A second pause replaces the first at the end of the history, as the documentation's sample has it."""

import httpx2

from harness import Outcome, ToolError


def use(tools, call):
    try:
        return {"content": tools[call["name"]].run(call["input"])}
    except KeyError:
        return {"content": "unknown tool", "is_error": True}
    except ToolError as e:
        return {"content": e.content or "failed", "is_error": True}


def loop(turn):
    tools = {t.name: t for t in turn.tools}
    body = {"model": turn.model, "max_tokens": turn.max_tokens, "system": turn.system}
    body["tools"] = [
        dict(name=t.name, description=t.description, input_schema=t.input_schema) for t in turn.tools
    ]
    messages, paused = list(turn.messages), None
    with httpx2.Client(
        base_url=turn.base_url,
        headers={"x-api-key": turn.api_key, "anthropic-version": "2023-06-01"},
        timeout=9,
        transport=httpx2.HTTPTransport(retries=2),
    ) as http:
        for _ in range(turn.limits.max_iterations or 20):
            sent = messages + ([{"role": "assistant", "content": paused}] if paused else [])
            reply = http.post("/v1/messages", json={**body, "messages": sent}).raise_for_status().json()
            if reply.get("container"):
                body["container"] = reply["container"]["id"]
            content = [b for b in reply["content"] if b["type"] != "text" or b["text"].strip()]
            calls = [b for b in content if b["type"] == "tool_use"]
            stop = reply["stop_reason"]
            if stop == "pause_turn":
                paused = content
                continue
            messages, paused = sent, None
            if stop == "tool_use" and calls:
                results = [{"type": "tool_result", "tool_use_id": c["id"], **use(tools, c)} for c in calls]
                messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
                continue
            text = "".join(b["text"] for b in content if b["type"] == "text")
            if stop in ("end_turn", "stop_sequence"):
                kept = [b for b in content if b["type"] != "tool_use"]
                messages += [{"role": "assistant", "content": kept}] if kept else []
                return Outcome(status="completed", shown=[text] if text else [], history=messages)
            if stop == "refusal":
                return Outcome(status="refused", shown=["No."], history=turn.messages[:-1])
            cut = stop in ("max_tokens", "model_context_window_exceeded")
            return Outcome(
                status="truncated" if cut else "failed",
                shown=[f"{text} [{stop}]"],
                detail=stop,
                history=turn.messages[:-1],
            )
    return Outcome(status="capped", shown=["[cap]"], history=turn.messages[:-1])
