"""Keeps text, thinking and its own calls; what the server's tools did is filtered out of the history."""

import anthropic

from harness import Outcome, ToolError

KEEP = {"text", "thinking", "redacted_thinking", "tool_use"}


class Agent:
    def __init__(self, turn):
        self.turn, self.messages = turn, list(turn.messages)
        self.client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
        self.tools = {t.name: t for t in turn.tools}
        self.container = anthropic.omit

    def step(self):
        response = self.client.messages.create(
            model=self.turn.model,
            max_tokens=self.turn.max_tokens,
            system=self.turn.system,
            messages=self.messages,
            container=self.container,
            tools=[
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in self.turn.tools
            ],
        )
        if response.container:
            self.container = response.container.id
        return response

    def remember(self, content, all_of_it):
        content = [b for b in content if b.type != "text" or b.text.strip()]
        if not all_of_it:
            content = [b for b in content if b.type in KEEP]
        if content:
            self.messages.append({"role": "assistant", "content": content})

    def call(self, block):
        if block.name not in self.tools:
            return f"{block.name} does not exist", True
        try:
            return self.tools[block.name].run(block.input), False
        except ToolError as error:
            return error.content or "failed", True

    def run(self):
        for _ in range(self.turn.limits.max_iterations or 24):
            response = self.step()
            reason = response.stop_reason
            calls = [b for b in response.content if b.type == "tool_use"]
            if reason == "pause_turn":
                self.remember(response.content, True)
            elif reason == "tool_use" and calls:
                self.remember(response.content, True)
                done = [(c.id, *self.call(c)) for c in calls]
                self.messages.append(
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "tool_use_id": i, "content": c, "is_error": e}
                            for i, c, e in done
                        ],
                    }
                )
            elif reason in ("end_turn", "stop_sequence"):
                self.remember([b for b in response.content if b.type != "tool_use"], False)
                text = "".join(b.text for b in response.content if b.type == "text")
                return Outcome(
                    status="completed", shown=[text] if text.strip() else [], history=self.messages
                )
            else:
                known = {
                    "refusal": "refused",
                    "max_tokens": "truncated",
                    "model_context_window_exceeded": "truncated",
                }
                return Outcome(
                    status=known.get(reason, "failed"),
                    detail=reason,
                    shown=[f"({reason})"],
                    history=self.turn.messages[:-1],
                )
        return Outcome(status="capped", history=self.turn.messages[:-1])


def loop(turn):
    return Agent(turn).run()
