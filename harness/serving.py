"""A scenario served to any client, again and again: what `serve` answers from.

Nobody tells the server when a user speaks, so it is read off the requests: one without an assistant message
begins the scenario anew, one with a further message of the user goes on with the scenario's next turn.
"""

from __future__ import annotations

from typing import Any, Self

import msgspec

from .history import Answered, AnyEvent, Delivered, RequestSeen
from .provider.session import Session
from .scenario.model import Reply, Scenario, Step, Task, TurnScript

HELLO = "Hello from loop-harness. Name a scenario with --script to have it played."


class Serving:
    """Keeps one session at the turn its client is in."""

    def __init__(self, key: str, scenario: Scenario) -> None:
        self._scenario = scenario
        self._turn = 0
        self._fresh = True
        """The turn's script has not been asked for anything yet, or has been played to its end."""
        self._last = -1
        self.session = Session(key=key, scenario=_open_to_all(scenario), record=self._record)
        self.session.begin_turn(0)

    @classmethod
    def of_anything(cls, key: str) -> Self:
        """Answers every request with the same few words."""
        step = Step(reply=Reply(content=[{"type": "text", "text": HELLO}]), repeat="forever")
        return cls(key, everything([step]))

    def _record(self, event: AnyEvent) -> None:
        match event:
            case RequestSeen() if event.endpoint == "messages":
                self._follow(event)
            case Answered() if event.step is not None:
                self._last = event.step
            case Delivered():
                self._fresh = self._last == len(self._scenario.turns[self._turn].script) - 1
            case _:
                pass

    def _follow(self, event: RequestSeen) -> None:
        body = event.body if isinstance(event.body, dict) else {}
        messages = event.transcript if event.transcript is not None else body.get("messages", [])
        turn = max(0, _prompts(messages) - 1) % len(self._scenario.turns)
        begun = any(said.get("role") == "assistant" for said in messages)
        again = not begun and (self._fresh or not (event.retry or event.same_as))
        if turn != self._turn or again:
            self._turn, self._fresh, self._last = turn, False, -1
            self.session.begin_turn(turn)


def _prompts(messages: list[dict[str, Any]]) -> int:
    """How many messages of the user hold more than results of tools."""
    return sum(said.get("role") == "user" and _speaks(said.get("content")) for said in messages)


def _speaks(content: object) -> bool:
    if not isinstance(content, list):
        return True
    return any(not isinstance(block, dict) or block.get("type") != "tool_result" for block in content)


def everything(script: list[Step]) -> Scenario:
    """A scenario of one turn whose conversation every request is part of."""
    turn = TurnScript(prompt="", script=script)
    return Scenario(
        id="anything", title="Whatever is asked", clauses=[], why="for any client", task=Task(), turns=[turn]
    )


def _open_to_all(scenario: Scenario) -> Scenario:
    """The scenario without what would set a request of its own task apart from anybody else's."""
    turns = [msgspec.structs.replace(turn, prompt="") for turn in scenario.turns]
    task = msgspec.structs.replace(scenario.task, system="", prompt="")
    return msgspec.structs.replace(scenario, turns=turns, task=task, tools=[])
