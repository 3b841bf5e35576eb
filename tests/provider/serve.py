"""Scripts, requests and a running provider for the tests of this folder."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from harness.history import AnyEvent
from harness.provider.server import Provider, new_event_loop
from harness.provider.session import Session
from harness.scenario.model import Fault, Lane, Reply, Scenario, Step, Task, TurnScript
from harness.turn import Behaviour, ToolSpec

T = TypeVar("T")
PROMPT = "What changed in the latest release?"
SYSTEM = "You answer in one sentence."
LOOKUP = ToolSpec(
    name="lookup",
    description="Looks it up.",
    input_schema={"type": "object"},
    answers=[Behaviour(result="42")],
)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def reply(*content: dict[str, Any] | str, **fields: Any) -> Step:
    repeat = fields.pop("repeat", 1)
    blocks = [text(block) if isinstance(block, str) else block for block in content]
    calls = any(block["type"] == "tool_use" for block in blocks)
    fields.setdefault("stop_reason", "tool_use" if calls else "end_turn")
    return Step(reply=Reply(content=blocks, **fields), repeat=repeat)


def fault(status: int, **fields: Any) -> Step:
    return Step(fault=Fault(status=status, **fields))


def call(name: str = "lookup", **input_: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": input_}


def scenario(*turns: list[Step], lanes: list[Lane] | None = None, **fields: Any) -> Scenario:
    return Scenario(
        id="provider/test",
        title="A script for the provider's own tests",
        clauses=[],
        why="the provider is judged as well",
        task=Task(prompt=PROMPT, system=SYSTEM),
        turns=[TurnScript(prompt=PROMPT, script=script) for script in turns],
        tools=[LOOKUP],
        lanes=lanes or [],
        **fields,
    )


def body(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A request of the conversation; the user's prompt alone where no messages are given."""
    return {
        "model": "claude-opus-4-6",
        "max_tokens": 100,
        "system": SYSTEM,
        "tools": [{"name": "lookup", "description": "Looks it up.", "input_schema": {"type": "object"}}],
        "messages": list(messages) or [{"role": "user", "content": PROMPT}],
    } | fields


class Served:
    """A provider in a thread of its own, and what happened there."""

    def __init__(self) -> None:
        self.provider = Provider()
        self.events: list[AnyEvent] = []
        self.loop = new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.call(self.provider.start())

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    def open(
        self,
        script: Scenario | list[Step],
        key: str = "sk-ant-test",
        at_point: Callable[[str], Awaitable[None]] | None = None,
        **fields: Any,
    ) -> Session:
        session = self.session(script, key, at_point, **fields)
        self.begin(session)
        return session

    def session(
        self,
        script: Scenario | list[Step],
        key: str = "sk-ant-test",
        at_point: Callable[[str], Awaitable[None]] | None = None,
        **fields: Any,
    ) -> Session:
        """A session the provider does not know yet."""
        played = script if isinstance(script, Scenario) else scenario(script)
        return Session(key=key, scenario=played, record=self.events.append, at_point=at_point, **fields)

    def begin(self, session: Session) -> None:
        async def begin() -> None:
            self.provider.open(session)
            session.begin_turn(0)

        self.call(begin())

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]

    def settle(self, seconds: float = 0.05) -> None:
        """Let what the clients left behind reach the provider."""
        self.call(asyncio.sleep(seconds))

    def close(self) -> None:
        self.call(self.provider.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
