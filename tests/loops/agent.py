"""An agent with a command line and a tool of its own: `python agent.py [--wrong] -p PROMPT`.

It asks for a title first, as many do. The wrong one takes a pause for an answer.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from urllib.parse import urlsplit

TOOL = {
    "name": "run_command",
    "description": "Runs a command.",
    "input_schema": {"type": "object", "required": ["command"]},
}  # fmt: skip


def post(body):
    place = urlsplit(os.environ["ANTHROPIC_BASE_URL"])
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    connection = http.client.HTTPConnection(place.netloc, timeout=30)
    body = {"model": "claude-opus-4-6", "max_tokens": 1000, **body}
    connection.request("POST", f"{place.path}/v1/messages", json.dumps(body), headers)
    response = connection.getresponse()
    said = json.loads(response.read())
    connection.close()
    if response.status != 200:
        sys.exit(f"the API answered {response.status}: {said['error']['message']}")
    return said


def run(call):
    if set(call["input"]) != {"command"}:
        return "a command is needed", True
    return f"ran {call['input']['command']}", False


def result(call):
    content, is_error = run(call) if call["name"] == TOOL["name"] else (f"no tool {call['name']}", True)
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": is_error}


def main():
    wrong = "--wrong" in sys.argv
    prompt = sys.argv[sys.argv.index("-p") + 1] if "-p" in sys.argv else sys.stdin.read()
    post({"messages": [{"role": "user", "content": f"A title, please, for: {prompt}"}]})
    messages = [{"role": "user", "content": prompt}]
    more = {}
    for _ in range(40):
        reply = post({"system": "You are an agent.", "tools": [TOOL], "messages": messages, **more})
        if reply.get("container"):
            more = {"container": reply["container"]["id"]}
        content = [b for b in reply["content"] if b["type"] != "text" or b["text"].strip()]
        calls = [block for block in content if block["type"] == "tool_use"]
        reason = reply["stop_reason"]
        if content:
            messages.append({"role": "assistant", "content": content})
        if reason == "pause_turn" and not wrong:
            continue
        if reason == "tool_use" and calls:
            messages.append({"role": "user", "content": [result(call) for call in calls]})
            continue
        print("".join(block["text"] for block in content if block["type"] == "text"))
        if reason not in ("end_turn", "stop_sequence") and not wrong:
            sys.exit(f"the answer is not complete: {reason}")
        return
    sys.exit("too many steps")


if __name__ == "__main__":
    main()
