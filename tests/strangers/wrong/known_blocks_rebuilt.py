"""Turns SDK objects into plain blocks by type; redacted thinking has no branch."""

import anthropic

from harness import Outcome, ToolError


def plain(block):
    if block.type == "text" and block.text.strip():
        return {"type": "text", "text": block.text}
    if block.type == "thinking":
        return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
    if block.type == "tool_use":
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
    if block.type.endswith("_tool_result") or block.type in ("server_tool_use", "mcp_tool_use"):
        return block.to_dict()
    return None


def loop(turn):
    client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key, max_retries=4)
    tools = {t.name: t for t in turn.tools}
    messages = list(turn.messages)
    options = {}
    for _ in range(turn.limits.max_iterations or 20):
        reply = client.messages.create(
            model=turn.model,
            max_tokens=turn.max_tokens,
            system=turn.system,
            messages=messages,
            tools=[
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in turn.tools
            ],
            **options,
        )
        if reply.container:
            options["container"] = reply.container.id
        content = [p for p in map(plain, reply.content) if p]
        calls = [p for p in content if p["type"] == "tool_use"]
        if reply.stop_reason == "tool_use" and calls:
            results = []
            for call in calls:
                result = {"type": "tool_result", "tool_use_id": call["id"]}
                try:
                    result["content"] = tools[call["name"]].run(call["input"])
                except KeyError:
                    result |= {"content": "unknown tool", "is_error": True}
                except ToolError as e:
                    result |= {"content": e.content or "error", "is_error": True}
                results.append(result)
            messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
        elif reply.stop_reason == "pause_turn":
            messages += [{"role": "assistant", "content": content}]
        elif reply.stop_reason in ("end_turn", "stop_sequence") and not calls:
            messages += [{"role": "assistant", "content": content}] if content else []
            text = "".join(p["text"] for p in content if p["type"] == "text")
            return Outcome(status="completed", shown=[text] if text else [], history=messages)
        else:
            known = {
                "refusal": "refused",
                "max_tokens": "truncated",
                "model_context_window_exceeded": "truncated",
            }
            return Outcome(
                status=known.get(reply.stop_reason, "failed"),
                shown=[f"({reply.stop_reason})"],
                detail=reply.stop_reason,
                history=turn.messages[:-1],
            )
    return Outcome(status="capped", history=turn.messages[:-1])
