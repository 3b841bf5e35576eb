"""Asyncio throughout: the calls of a reply run at once, each with a time limit of its own."""

import asyncio

import anthropic

from harness import Outcome, ToolError


class Agent:
    def __init__(self, turn, client):
        self.turn, self.client = turn, client
        self.tools = {t.name: t for t in turn.tools}
        self.messages = list(turn.messages)
        self.container = anthropic.omit

    async def call(self, block):
        result = {"type": "tool_result", "tool_use_id": block.id}
        if self.turn.cancelled():
            return {**result, "content": "The user stopped this before it ran.", "is_error": True}
        try:
            content = await asyncio.wait_for(self.tools[block.name].arun(block.input), timeout=1)
        except KeyError:
            return {**result, "content": f"Unknown tool. Known: {', '.join(self.tools)}", "is_error": True}
        except TimeoutError:
            return {**result, "content": "Timed out.", "is_error": True}
        except ToolError as e:
            return {**result, "content": e.content or "Failed.", "is_error": True}
        return {**result, "content": content}

    async def run(self):
        for _ in range(self.turn.limits.max_iterations or 20):
            if self.turn.cancelled():
                # What paused may hold a call without its result.
                answered = self.messages[-1]["role"] == "user"
                return Outcome(status="cancelled", history=self.messages if answered else self.messages[:-1])
            reply = await self.client.messages.create(
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
            self.container = reply.container.id if reply.container else self.container
            content = [b for b in reply.content if b.type != "text" or b.text.strip()]
            calls = [b for b in content if b.type == "tool_use"]
            going_on = reply.stop_reason == "pause_turn" or (reply.stop_reason == "tool_use" and calls)
            if not going_on:
                return self.end(reply.stop_reason, content)
            self.messages.append({"role": "assistant", "content": content})
            if calls:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self.call(c)) for c in calls]
                self.messages.append({"role": "user", "content": [t.result() for t in tasks]})
        return Outcome(status="capped", shown=["Too many steps."], history=self.messages)

    def end(self, reason, content):
        text = "".join(b.text for b in content if b.type == "text")
        if reason in ("end_turn", "stop_sequence"):
            kept = [b for b in content if b.type != "tool_use"]
            if kept:
                self.messages.append({"role": "assistant", "content": kept})
            return Outcome(status="completed", shown=[text] if text else [], history=self.messages)
        if reason == "refusal":
            return Outcome(
                status="refused", shown=["The assistant declined."], history=self.turn.messages[:-1]
            )
        if reason in ("max_tokens", "model_context_window_exceeded"):
            return Outcome(status="truncated", shown=[f"{text}…"], history=self.turn.messages[:-1])
        return Outcome(status="failed", detail=reason, history=self.turn.messages[:-1])


async def loop(turn):
    async with anthropic.AsyncAnthropic(base_url=turn.base_url, api_key=turn.api_key) as client:
        try:
            return await Agent(turn, client).run()
        finally:
            turn.store.pop(turn.cancel_key, None)
