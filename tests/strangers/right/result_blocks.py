"""Plain urllib, retries of its own, results and prompts as lists of blocks."""

import json
import time
import urllib.error
import urllib.request

from harness import Outcome, ToolError


def call_api(turn, body):
    request = urllib.request.Request(turn.base_url.rstrip("/") + "/v1/messages", method="POST")
    request.add_header("Authorization", f"Bearer {turn.api_key}")
    request.add_header("anthropic-version", "2026-10-21")
    request.add_header("content-type", "application/json")
    for attempt in range(5):
        try:
            with urllib.request.urlopen(request, json.dumps(body).encode("utf-8"), timeout=4) as r:
                return json.loads(r.read())
        except urllib.error.HTTPError as e:
            if e.code in (400, 401, 403, 404, 413):
                raise RuntimeError(f"the API refused the request: {e.read().decode()}") from e
            wait = float(e.headers.get("retry-after", 0.2))
        except (urllib.error.URLError, ConnectionError, TimeoutError, json.JSONDecodeError):
            wait = 0.2
        time.sleep(wait)
    raise RuntimeError("the API cannot be reached")


def as_blocks(value):
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value.strip() else []
    return value


def tool_result(turn, block):
    tools = {t.name: t for t in turn.tools}
    try:
        if block["name"] not in tools:
            raise ToolError(f"{block['name']} is unknown")
        content, failed = as_blocks(tools[block["name"]].run(block["input"])), False
    except ToolError as e:
        content, failed = as_blocks(e.content or "unknown error"), True
    return {"type": "tool_result", "tool_use_id": block["id"], "content": content, "is_error": failed}


def loop(turn):
    messages = [{"role": m["role"], "content": as_blocks(m["content"])} for m in turn.messages]
    body = {"model": turn.model, "max_tokens": turn.max_tokens, "system": turn.system}
    if turn.tools:
        body["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in turn.tools
        ]
    for _ in range(turn.limits.max_iterations or 20):
        reply = call_api(turn, body | {"messages": messages})
        if reply.get("container"):
            body["container"] = reply["container"]["id"]
        content = [b for b in reply["content"] if b["type"] != "text" or b["text"].strip()]
        uses = [b for b in content if b["type"] == "tool_use"]
        if reply["stop_reason"] == "pause_turn":
            messages.append({"role": "assistant", "content": content})
        elif reply["stop_reason"] == "tool_use" and uses:
            messages.append({"role": "assistant", "content": content})
            messages.append({"role": "user", "content": [tool_result(turn, b) for b in uses]})
        else:
            break
    else:
        return Outcome(status="capped", shown=["Gave up."], history=turn.messages[:-1])
    if reply["stop_reason"] in ("end_turn", "stop_sequence") and not uses:
        messages += [{"role": "assistant", "content": content}] if content else []
        texts = [b["text"] for b in content if b["type"] == "text"]
        return Outcome(status="completed", shown=["".join(texts)] if texts else [], history=messages)
    status = {"refusal": "refused", "max_tokens": "truncated", "model_context_window_exceeded": "truncated"}
    return Outcome(
        status=status.get(reply["stop_reason"], "failed"),
        detail=reply["stop_reason"],
        shown=["Sorry, there is no answer."],
        history=turn.messages[:-1],
    )
