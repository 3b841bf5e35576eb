"""Resumes pauses by the book, but never says which container it was working in."""

import anthropic

from harness import Outcome, ToolError


class Assistant:
    def __init__(self, turn):
        self.turn = turn
        self.client = anthropic.Anthropic(base_url=turn.base_url, api_key=turn.api_key)
        self.tools = {t.name: t for t in turn.tools}
        self.history = list(turn.messages)
        self.limit = turn.limits.max_iterations or 25

    def ask(self):
        with self.client.messages.stream(
            model=self.turn.model,
            max_tokens=self.turn.max_tokens,
            system=self.turn.system,
            messages=self.history,
            tools=[
                {"name": t.name, "description": t.description, "input_schema": t.input_schema}
                for t in self.tools.values()
            ],
        ) as stream:
            return stream.get_final_message()

    def answer(self, call):
        out = {"type": "tool_result", "tool_use_id": call.id}
        try:
            return out | {"content": self.tools[call.name].run(call.input)}
        except KeyError:
            return out | {"content": f"unknown tool; there are {sorted(self.tools)}", "is_error": True}
        except ToolError as err:
            return out | {"content": err.content or "failed", "is_error": True}

    def run(self):
        for _ in range(self.limit):
            reply = self.ask()
            content = [b for b in reply.content if b.type != "text" or b.text.strip()]
            calls = [b for b in content if b.type == "tool_use"]
            if reply.stop_reason == "pause_turn":
                self.history.append({"role": "assistant", "content": content})
            elif reply.stop_reason == "tool_use" and calls:
                self.history.append({"role": "assistant", "content": content})
                self.history.append({"role": "user", "content": [self.answer(c) for c in calls]})
            elif reply.stop_reason in ("end_turn", "stop_sequence") and not calls:
                if content:
                    self.history.append({"role": "assistant", "content": content})
                text = "".join(b.text for b in content if b.type == "text")
                return Outcome(status="completed", shown=[text] if text else [], history=self.history)
            else:
                known = {
                    "refusal": "refused",
                    "max_tokens": "truncated",
                    "model_context_window_exceeded": "truncated",
                }
                status = known.get(reply.stop_reason, "failed")
                return Outcome(status=status, detail=str(reply.stop_reason), history=self.turn.messages[:-1])
        return Outcome(status="capped", history=self.turn.messages[:-1])


def loop(turn):
    return Assistant(turn).run()
