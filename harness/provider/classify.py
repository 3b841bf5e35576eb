"""Tells requests of the conversation from side calls: a title generator, a sub-agent, a token count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..scenario.model import Scenario
from ..transcript import Conversation
from ..wire.blocks import as_blocks
from .tools import Binder, client_tools

SIDE = "side"
"""The lane of a side call that no lane was written for."""


class Classifier:
    """Knows what ties a request to the conversation of one run."""

    def __init__(self, scenario: Scenario, binder: Binder) -> None:
        self._scenario = scenario
        self._binder = binder
        self._prompt = ""
        self._marks: set[str] = set()
        self._tied = False

    def begin_turn(self, prompt: str) -> None:
        """The user says `prompt`."""
        self._prompt = prompt
        self._tied = self._binder.always

    def sent(self, content: Iterable[Mapping[str, Any]]) -> None:
        """A reply with `content` is on its way: who holds some of it continues the conversation."""
        for block in content:
            for field in ("id", "text", "signature", "data"):
                if (mark := block.get(field)) and isinstance(mark, str) and mark.strip():
                    self._marks.add(mark)

    def lane(self, body: Any, conversation: Conversation) -> str:
        """Empty for a request of the conversation, else the name of its lane."""
        for lane in self._scenario.lanes:
            if contains(body, lane.when):
                return lane.name
        if self._offers_tools(conversation) or self._has_system(conversation):
            self._tied = True
            return ""
        if self._continues(conversation):
            return ""
        # A loop without tools and system prompt is known by the prompt alone. Once one of them was seen in
        # this turn, a request that has neither is somebody else's who was told the prompt: a title generator.
        return "" if self._says_prompt(conversation) and not self._tied else SIDE

    def _offers_tools(self, conversation: Conversation) -> bool:
        return self._binder.offered_in(client_tools(conversation.tools))

    def _has_system(self, conversation: Conversation) -> bool:
        wanted = self._scenario.task.system
        return bool(wanted) and any(
            wanted in str(block.get("text", "")) for block in as_blocks(conversation.system)
        )

    def _continues(self, conversation: Conversation) -> bool:
        return any(
            block.get(field) in self._marks
            for said in conversation.messages
            if said.get("role") == "assistant"
            for block in as_blocks(said.get("content"))
            for field in ("id", "text", "signature", "data")
            if isinstance(block.get(field), str)
        )

    def _says_prompt(self, conversation: Conversation) -> bool:
        return any(
            self._prompt in block.get("text", "")
            for said in conversation.messages
            if said.get("role") == "user"
            for block in as_blocks(said.get("content"))
            if isinstance(block.get("text", ""), str)
        )


def contains(value: Any, wanted: Any) -> bool:
    """Whether `value` holds all of `wanted`: mappings by key, everything else by equality."""
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and all(
            key in value and contains(value[key], part) for key, part in wanted.items()
        )
    return bool(value == wanted)
