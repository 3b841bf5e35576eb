"""A chat service of the standard library's, right or wrong in one way: `python chat_service.py PORT WAY`.

Its loop is right; what its users get depends on WAY: `right`, `alike` (every answer ends the same), `deaf`
(it does not notice that they left), `mortal` (a refusal ends it), `open` (a stream stays open after its
last event), `json`, `json-alike`.
"""

from __future__ import annotations

import json
import os
import select
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WAY = sys.argv[2]
URL = os.environ["ANTHROPIC_BASE_URL"]
HEADERS = {
    "x-api-key": os.environ["ANTHROPIC_API_KEY"],
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
}
TOOL = {"name": "look_up", "description": "Look up.", "input_schema": {"type": "object", "properties": {}}}
CONVERSATIONS: dict[str, list[Any]] = {}


class GoneError(Exception):
    """The user has left."""


def ask(messages: list[Any], container: str | None) -> dict[str, Any]:
    body = {"model": "claude-opus-4-6", "max_tokens": 1024, "messages": messages, "tools": [TOOL]}
    if container:
        body["container"] = container
    request = urllib.request.Request(URL + "/v1/messages", json.dumps(body).encode(), HEADERS)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


class Chat(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = CONVERSATIONS.setdefault(told["conversation"], [])
        try:
            texts, end = self.turn(messages, told["message"])
        except GoneError:
            return
        except urllib.error.URLError as error:
            texts, end = [], {"end": "failed", "why": str(error)}
        if WAY.endswith("alike"):
            end = {"end": "done"}
        (self.whole if WAY.startswith("json") else self.stream)(texts, end)

    def turn(self, messages: list[Any], prompt: str) -> tuple[list[str], dict[str, Any]]:
        before = len(messages)
        messages.append({"role": "user", "content": prompt})
        container = None
        for _ in range(10):
            if WAY != "deaf" and self.left():
                del messages[before:]
                raise GoneError
            try:
                reply = ask(messages, container)
            except Exception:
                del messages[before:]
                raise
            content, stop = reply["content"], reply["stop_reason"]
            if WAY == "mortal" and stop == "refusal":
                os._exit(3)
            container = (reply.get("container") or {}).get("id", container)
            calls = [block for block in content if block["type"] == "tool_use"]
            if stop == "pause_turn" or (stop == "tool_use" and calls):
                messages.append({"role": "assistant", "content": content})
                if calls:
                    results = [self.result(call) for call in calls]
                    messages.append({"role": "user", "content": results})
                continue
            texts = [block["text"] for block in content if block["type"] == "text"]
            if stop in ("end_turn", "stop_sequence"):
                if any(block.get("text", "x").strip() for block in content) and not calls:
                    messages.append({"role": "assistant", "content": content})
                return texts, {"end": "done"}
            del messages[before:]
            return texts, {"end": "unfinished", "why": stop}
        del messages[before:]
        return [], {"end": "unfinished", "why": "too many steps"}

    def result(self, call: dict[str, Any]) -> dict[str, Any]:
        answer = {"type": "tool_result", "tool_use_id": call["id"]}
        if call["name"] != TOOL["name"]:
            return answer | {"content": f"there is no tool {call['name']}", "is_error": True}
        return answer | {"content": "found"}

    def left(self) -> bool:
        return bool(select.select([self.connection], [], [], 0)[0])

    def whole(self, texts: list[str], end: dict[str, Any]) -> None:
        self.say("application/json", json.dumps({"reply": "\n".join(texts), "id": id(texts), **end}).encode())

    def stream(self, texts: list[str], end: dict[str, Any]) -> None:
        events = [("delta", {"text": piece}) for text in texts for piece in (text[:5], text[5:])]
        events.append(("end", end))
        body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        self.say("text/event-stream", body.encode())

    def say(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        if WAY != "open":
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if WAY == "open":
            select.select([self.connection], [], [], 30)

    def log_message(self, *_: object) -> None:
        pass


with urllib.request.urlopen(urllib.request.Request(URL + "/v1/models", headers=HEADERS)) as known:
    assert json.load(known)["data"], "there is no model"
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Chat).serve_forever()
