"""A chat that keeps its own sessions, the refused replies among them."""

import anthropic

from harness import Outcome, ToolError


class Chat:
    sessions: dict[str, list] = {}

    def __init__(self, turn):
        self.turn = turn
        self.messages = self.sessions.setdefault(turn.conversation, [])
        self.messages.append({"role": "user", "content": turn.prompt})
        self.client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)

    def create(self, **more):
        return self.client.messages.create(
            model=self.turn.model,
            max_tokens=self.turn.max_tokens,
            system=self.turn.system,
            messages=self.messages,
            tools=[
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in self.turn.tools
            ],
            **more,
        )

    def tool(self, block):
        found = next((t for t in self.turn.tools if t.name == block.name), None)
        try:
            if found is None:
                raise ToolError(f"no tool {block.name}")
            return {"type": "tool_result", "tool_use_id": block.id, "content": found.run(block.input)}
        except ToolError as e:
            content = e.content or "failed"
            return {"type": "tool_result", "tool_use_id": block.id, "content": content, "is_error": True}

    def run(self):
        more = {}
        for _ in range(self.turn.limits.max_iterations or 15):
            r = self.create(**more)
            if r.container:
                more["container"] = r.container.id
            content = [b for b in r.content if b.type != "text" or b.text.strip()]
            calls = [b for b in content if b.type == "tool_use"]
            if r.stop_reason != "tool_use":
                kept = [b for b in content if b.type != "tool_use"]
            else:
                kept = content
            if kept:
                self.messages.append({"role": "assistant", "content": kept})
            if r.stop_reason == "pause_turn":
                continue
            if r.stop_reason == "tool_use" and calls:
                self.messages.append({"role": "user", "content": [self.tool(c) for c in calls]})
                continue
            text = "".join(b.text for b in content if b.type == "text")
            if r.stop_reason in ("end_turn", "stop_sequence"):
                return Outcome(status="completed", shown=[text] if text else [])
            status = {
                "refusal": "refused",
                "max_tokens": "truncated",
                "model_context_window_exceeded": "truncated",
            }
            note = f"[{r.stop_reason}]"
            return Outcome(status=status.get(r.stop_reason, "failed"), shown=[f"{text} {note}"], detail=note)
        return Outcome(status="capped")


def loop(turn):
    return Chat(turn).run()
