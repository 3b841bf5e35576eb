"""Keeps its conversations itself, and is given the prompt alone. Puts its calls before what it drops."""

from dataclasses import dataclass, field

import anthropic

from harness import Outcome, ToolError


@dataclass
class Session:
    messages: list = field(default_factory=list)
    container: str | None = None


SESSIONS: dict[str, Session] = {}


class Bot:
    def __init__(self, turn):
        self.turn = turn
        self.session = SESSIONS.setdefault(turn.conversation, Session())
        self.client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)

    def reply(self, messages):
        more = {"container": self.session.container} if self.session.container else {}
        message = self.client.messages.create(
            model=self.turn.model,
            max_tokens=self.turn.max_tokens,
            system=[{"type": "text", "text": self.turn.system}],
            messages=messages,
            tools=[
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in self.turn.tools
            ],
            **more,
        )
        if message.container:
            self.session.container = message.container.id
        return message

    def results(self, calls):
        tools = {t.name: t for t in self.turn.tools}
        for call in calls:
            content, failed = f"{call.name} is not a tool", True
            if call.name in tools:
                try:
                    content, failed = tools[call.name].run(call.input), False
                except ToolError as e:
                    content = e.content or "failed"
            yield {"type": "tool_result", "tool_use_id": call.id, "content": content, "is_error": failed}

    def talk(self):
        # Only a turn that ended well is kept: the session is written last.
        messages = [*self.session.messages, {"role": "user", "content": self.turn.prompt}]
        for _ in range(self.turn.limits.max_iterations or 20):
            message = self.reply(messages)
            content = [b.model_dump(exclude_unset=True) for b in message.content]
            content = [b for b in content if b["type"] != "text" or b["text"].strip()]
            calls = [b for b in message.content if b.type == "tool_use"]
            text = "".join(b["text"] for b in content if b["type"] == "text")
            if message.stop_reason == "pause_turn":
                messages = [*messages, {"role": "assistant", "content": content}]
                continue
            if message.stop_reason == "tool_use" and calls:
                results = {"role": "user", "content": list(self.results(calls))}
                messages = [*messages, {"role": "assistant", "content": content}, results]
                continue
            if message.stop_reason in ("end_turn", "stop_sequence"):
                if content and not calls:
                    messages = [*messages, {"role": "assistant", "content": content}]
                self.session.messages = messages
                return Outcome(status="completed", shown=[text] if text else [])
            return self.apology(message.stop_reason)
        return Outcome(status="capped", shown=["I gave up."])

    def apology(self, reason):
        match reason:
            case "refusal":
                return Outcome(status="refused", shown=["I'd rather not."])
            case "max_tokens" | "model_context_window_exceeded":
                return Outcome(status="truncated", shown=["That was too long for me."])
        return Outcome(status="failed", detail=f"stop_reason={reason}")


def loop(turn):
    return Bot(turn).talk()
