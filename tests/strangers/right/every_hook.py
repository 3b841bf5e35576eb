"""A worker that uses every hook: one clean-up that all exits pass."""

import json
import time
import urllib.error
import urllib.request

from harness import Outcome, ToolError

HEADERS = {"content-type": "application/json", "anthropic-version": "2023-06-01"}


class Failed(Exception):
    pass


class Worker:
    def __init__(self, turn):
        self.turn, self.messages, self.container = turn, list(turn.messages), None
        self.good = turn.messages[:-1]
        self.usage = {"input_tokens": 0, "output_tokens": 0}
        self.replies = self.pauses = 0
        self.ends = time.monotonic() + (turn.limits.wall_clock or 60)
        self.shown = []

    def run(self):
        self.turn.store[self.turn.checkpoint_key] = {"messages": self.messages}
        status, history = "failed", self.good
        try:
            status, history = self.steps()
        except Failed as problem:
            self.turn.report(problem)
            self.show(f"Something went wrong: {problem}", error=True)
        finally:
            self.turn.store.pop(self.turn.checkpoint_key, None)
            self.turn.store.pop(self.turn.cancel_key, None)
            self.tell(self.turn.record_usage, iterations=self.replies, **self.usage)
            self.publish("", history, done=True)
        return Outcome(status=status, shown=self.shown, history=history)

    def tell(self, hook, *what, **more):
        try:
            hook(*what, **more)
        except Exception as problem:  # whoever counts or watches does not decide how it ends
            self.turn.report(problem)

    def steps(self):
        while True:
            if self.turn.cancelled():
                return "cancelled", self.good
            if time.monotonic() >= self.ends:
                return self.capped(f"out of time after {self.replies} requests")
            if self.replies >= (self.turn.limits.max_iterations or 30):
                return self.capped(f"no answer after {self.replies} requests")
            content, stop = self.ask()
            calls = [b for b in content if b["type"] == "tool_use"]
            self.pauses = self.pauses + 1 if stop == "pause_turn" else 0
            if self.pauses > (self.turn.limits.pauses or 10):
                return self.capped("paused too often")
            if stop == "pause_turn" or (stop == "tool_use" and calls):
                self.messages.append({"role": "assistant", "content": content})
                names = [b["name"] for b in content if b["type"].endswith("tool_use")]
                self.publish("Using " + ", ".join(names or ["the model"]), self.good)
                if calls:
                    self.messages.append({"role": "user", "content": [self.use(c) for c in calls]})
                continue
            return self.ended(content, stop)

    def ended(self, content, stop):
        text = "".join(b["text"] for b in content if b["type"] == "text")
        if stop in ("end_turn", "stop_sequence"):
            kept = [b for b in content if b["type"] != "tool_use"]
            if text:
                self.show(text)
            if kept:
                self.messages.append({"role": "assistant", "content": kept})
            return "completed", self.messages
        if stop == "refusal":
            self.show("The model declined to answer.")
            return "refused", self.good
        if stop in ("max_tokens", "model_context_window_exceeded"):
            self.turn.report(f"The answer was cut: {stop}")
            self.show(f"{text} (cut)", error=True)
            return "truncated", self.good
        raise Failed(f"stop reason {stop}")

    def capped(self, why):
        self.turn.report(why)
        self.show(f"Stopped: {why}.", error=True)
        return "capped", self.good

    def show(self, text, error=False):
        self.shown.append({"role": "assistant", "content": text, "is_error": error})

    def publish(self, activity, history, done=False):
        state = {"messages": list(self.shown), "activity": activity, "stopped": done}
        self.tell(self.turn.publish, state, history, done=done)

    def use(self, call):
        result = {"type": "tool_result", "tool_use_id": call["id"]}
        if self.turn.cancelled():
            return result | {"content": "not run: cancelled", "is_error": True}
        tool = next((t for t in self.turn.tools if t.name == call["name"]), None)
        if tool is None:
            return result | {"content": f"there is no {call['name']}", "is_error": True}
        try:
            return result | {"content": tool.run(call["input"])}
        except ToolError as e:
            return result | {"content": e.content or "failed", "is_error": True}

    def ask(self):
        turn = self.turn
        body = {
            "model": turn.model,
            "max_tokens": turn.max_tokens,
            "system": turn.system,
            "messages": self.messages,
        }
        if turn.tools:
            body["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in turn.tools
            ]
        if self.container:
            body["container"] = self.container
        for attempt in range(4):
            request = urllib.request.Request(
                f"{turn.base_url}/v1/messages",
                json.dumps(body).encode(),
                HEADERS | {"x-api-key": turn.api_key},
            )
            try:
                with urllib.request.urlopen(request, timeout=5) as response:
                    reply = json.load(response)
                break
            except urllib.error.HTTPError as e:
                if attempt == 3 or (e.code < 500 and e.code not in (408, 409, 429)):
                    raise Failed(f"{e.code} {e.read().decode()[:300]}") from e
                time.sleep(float(e.headers.get("retry-after") or 0.1))
            except (OSError, ValueError) as e:
                if attempt == 3:
                    raise Failed(str(e)) from e
                time.sleep(0.1)
        self.replies += 1
        self.container = (reply.get("container") or {}).get("id") or self.container
        for name in self.usage:
            self.usage[name] += reply["usage"][name]
        return [b for b in reply["content"] if b["type"] != "text" or b["text"].strip()], reply["stop_reason"]


def loop(turn):
    return Worker(turn).run()
