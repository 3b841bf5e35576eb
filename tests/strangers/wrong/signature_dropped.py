"""Reads the stream itself, and has never heard of `signature_delta`."""

import http.client
import json
from urllib.parse import urlsplit

from harness import Outcome, ToolError


def events(response):
    data = []
    for raw in response:
        line = raw.decode().rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].strip())
        elif not line and data:
            yield json.loads("\n".join(data))
            data = []


def assemble(response):
    blocks, partial, stop, container, ended = {}, {}, None, None, False
    for event in events(response):
        kind = event["type"]
        if kind == "content_block_start":
            blocks[event["index"]] = event["content_block"]
        elif kind == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            if delta["type"] == "text_delta":
                block["text"] += delta["text"]
            elif delta["type"] == "thinking_delta":
                block["thinking"] += delta["thinking"]
            elif delta["type"] == "input_json_delta":
                partial[event["index"]] = partial.get(event["index"], "") + delta["partial_json"]
            elif delta["type"] == "citations_delta":
                block.setdefault("citations", []).append(delta["citation"])
        elif kind == "content_block_stop" and partial.get(event["index"]):
            try:
                blocks[event["index"]]["input"] = json.loads(partial[event["index"]])
            except ValueError:
                blocks[event["index"]]["input"] = {}
        elif kind == "message_delta":
            stop = event["delta"]["stop_reason"]
            container = event["delta"].get("container")
        elif kind == "message_stop":
            ended = True
        elif kind == "error":
            raise RuntimeError(event["error"]["message"])
    if not ended:
        raise RuntimeError("the stream was cut")
    return [blocks[i] for i in sorted(blocks)], stop, container


def ask(turn, messages, container):
    url = urlsplit(turn.base_url)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=5)
    body = {"model": turn.model, "max_tokens": turn.max_tokens, "system": turn.system, "stream": True}
    body["messages"] = messages
    body["tools"] = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in turn.tools
    ]
    if container:
        body["container"] = container
    headers = {
        "x-api-key": turn.api_key,
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    }
    connection.request("POST", url.path + "/v1/messages", json.dumps(body), headers)
    response = connection.getresponse()
    if response.status != 200:
        raise RuntimeError(f"{response.status}: {response.read()[:200]!r}")
    try:
        return assemble(response)
    finally:
        connection.close()


def loop(turn):
    messages, container, tools = list(turn.messages), None, {t.name: t for t in turn.tools}
    for _ in range(turn.limits.max_iterations or 20):
        content, stop, given = ask(turn, messages, container)
        container = given["id"] if given else container
        content = [b for b in content if b["type"] != "text" or b["text"].strip()]
        calls = [b for b in content if b["type"] == "tool_use"]
        if stop == "pause_turn" or (stop == "tool_use" and calls):
            messages.append({"role": "assistant", "content": content})
            if calls:
                messages.append({"role": "user", "content": [answer(tools, c) for c in calls]})
            continue
        if stop not in ("end_turn", "stop_sequence") or calls:
            known = {
                "refusal": "refused",
                "max_tokens": "truncated",
                "model_context_window_exceeded": "truncated",
            }
            status = known.get(stop, "failed")
            return Outcome(status=status, shown=[f"[{stop}]"], detail=stop, history=turn.messages[:-1])
        if content:
            messages.append({"role": "assistant", "content": content})
        text = "".join(b["text"] for b in content if b["type"] == "text")
        return Outcome(status="completed", shown=[text] if text else [], history=messages)
    return Outcome(status="capped", shown=["[cap]"], history=turn.messages[:-1])


def answer(tools, call):
    try:
        return {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": tools[call["name"]].run(call["input"]),
        }
    except KeyError:
        text = f"no tool {call['name']}"
    except ToolError as e:
        text = e.content or "failed"
    return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": True}
