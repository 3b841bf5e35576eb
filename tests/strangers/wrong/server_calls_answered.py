"""Takes every block that ends in `tool_use` for a call of its own."""

import httpx2

from harness import Outcome, ToolError


async def loop(turn):
    headers = {"x-api-key": turn.api_key, "anthropic-version": "2023-06-01"}
    async with httpx2.AsyncClient(base_url=turn.base_url, headers=headers, timeout=8) as http:
        messages = list(turn.messages)
        for _ in range(turn.limits.max_iterations or 10):
            response = await http.post(
                "/v1/messages",
                json={
                    "model": turn.model,
                    "max_tokens": turn.max_tokens,
                    "system": turn.system,
                    "messages": messages,
                    "tools": [
                        {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                        for t in turn.tools
                    ],
                },
            )
            if response.status_code != 200:
                return Outcome(status="failed", detail=response.text)
            reply = response.json()
            blocks = [b for b in reply["content"] if b["type"] != "text" or b["text"].strip()]
            calls = [b for b in blocks if b["type"].endswith("tool_use")]
            if reply["stop_reason"] in ("tool_use", "pause_turn") and calls:
                messages.append({"role": "assistant", "content": blocks})
                messages.append({"role": "user", "content": [await run(turn, c) for c in calls]})
                continue
            if reply["stop_reason"] not in ("end_turn", "stop_sequence"):
                known = {
                    "refusal": "refused",
                    "max_tokens": "truncated",
                    "model_context_window_exceeded": "truncated",
                }
                return Outcome(
                    status=known.get(reply["stop_reason"], "failed"),
                    detail=reply["stop_reason"],
                    history=turn.messages[:-1],
                )
            if blocks:
                messages.append({"role": "assistant", "content": blocks})
            text = "".join(b["text"] for b in blocks if b["type"] == "text")
            return Outcome(status="completed", shown=[text] if text else [], history=messages)
    return Outcome(status="capped")


async def run(turn, call):
    for tool in turn.tools:
        if tool.name == call["name"]:
            try:
                return {
                    "type": "tool_result",
                    "tool_use_id": call["id"],
                    "content": await tool.arun(call["input"]),
                }
            except ToolError as e:
                return {
                    "type": "tool_result",
                    "tool_use_id": call["id"],
                    "content": e.content or "?",
                    "is_error": True,
                }
    return {"type": "tool_result", "tool_use_id": call["id"], "content": "not available", "is_error": True}
