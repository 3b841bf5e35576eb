"""A state machine: each state is a method that names the next."""

import anthropic

from harness import Outcome, ToolError


class Agent:
    def __init__(self, turn):
        self.turn = turn
        self.messages = list(turn.messages)
        self.steps = 0
        self.reply = None
        self.extra = {}
        self.outcome = None
        self.said = []

    def run(self):
        with anthropic.Anthropic(base_url=self.turn.base_url, api_key=self.turn.api_key) as self.client:
            state = self.asking
            while state is not None:
                state = state()
        return self.outcome

    def asking(self):
        limit = self.turn.limits.max_iterations or 40
        if self.steps >= limit:
            return self.end("capped", f"I stopped after {limit} steps.", keep=False)
        self.steps += 1
        tools = [
            {"name": t.name, "description": t.description, "input_schema": t.input_schema}
            for t in self.turn.tools
        ]
        self.reply = self.client.messages.create(
            model=self.turn.model,
            max_tokens=self.turn.max_tokens,
            system=self.turn.system,
            messages=self.messages,
            tools=tools,
            **self.extra,
        )
        if self.reply.container:
            self.extra["container"] = self.reply.container.id
        return self.deciding

    def deciding(self):
        self.content = [
            b.to_dict() for b in self.reply.content if not (b.type == "text" and not b.text.strip())
        ]
        text = "".join(b["text"] for b in self.content if b["type"] == "text")
        match self.reply.stop_reason:
            case "pause_turn" | "compaction":
                self.messages.append({"role": "assistant", "content": self.content})
                return self.asking
            case "tool_use" if any(b["type"] == "tool_use" for b in self.content):
                if text:
                    self.said.append(text)
                self.messages.append({"role": "assistant", "content": self.content})
                return self.working
            case "end_turn" | "stop_sequence":
                if any(b["type"] == "tool_use" for b in self.content):
                    return self.end("failed", "The model called a tool and did not wait for it.", keep=False)
                if not text and any(b["type"] == "thinking" for b in self.content):
                    return self.end("failed", "The model gave no answer.", keep=False)
                if self.content:
                    self.messages.append({"role": "assistant", "content": self.content})
                return self.end("completed", text)
            case "refusal":
                return self.end("refused", "The model declined to answer.", keep=False)
            case "max_tokens" | "model_context_window_exceeded":
                return self.end("truncated", (text + "\n\n[cut off]").strip(), keep=False)
            case other:
                return self.end("failed", f"unexpected stop reason {other!r}", keep=False)

    def working(self):
        known = {t.name: t for t in self.turn.tools}
        results = []
        for block in self.content:
            if block["type"] != "tool_use":
                continue
            result = {"type": "tool_result", "tool_use_id": block["id"]}
            if block["name"] not in known:
                result |= {"content": f"unknown tool; known: {sorted(known)}", "is_error": True}
            else:
                try:
                    result["content"] = known[block["name"]].run(block["input"])
                except ToolError as e:
                    result |= {"content": e.content or "failed without a message", "is_error": True}
                except Exception as e:
                    result |= {"content": repr(e), "is_error": True}
            results.append(result)
        self.messages.append({"role": "user", "content": results})
        return self.asking

    def end(self, status, text, keep=True):
        history = self.messages if keep else self.turn.messages[:-1]
        self.outcome = Outcome(
            status=status,
            shown=[*self.said, text] if text else self.said,
            history=history,
            detail=str(self.reply and self.reply.stop_reason),
        )


def loop(turn):
    return Agent(turn).run()
