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
        self.ties: frozenset[str] = frozenset()
        """By what the loop was seen to set its conversation apart from what it asks beside it: `tools`,
        `system`, `prompt`. Nothing where it asks nothing beside it, as far as is known."""

    def begin_turn(self, prompt: str) -> None:
        """The user says `prompt`."""
        self._prompt = prompt
        system = "system" in self.ties and bool(self._scenario.task.system)
        offers = self._scenario.tools or self._binder.own is not None
        self._tied = self._binder.always or system or ("tools" in self.ties and bool(offers))

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
        if self._continues(conversation):
            return ""
        asks = says(conversation, self._prompt)
        ties = self._offers_tools(conversation) or has_system(conversation, self._scenario.task.system)
        # What is asked beside it with tools and all, to warm up or for a sub-agent, has other words.
        if ties and (asks or "prompt" not in self.ties):
            self._tied = True
            return ""
        # A loop without tools and system prompt is known by the prompt alone. Once one of them was seen in
        # this turn, a request that has neither is somebody else's who was told the prompt: a title generator.
        return "" if asks and not self._tied else SIDE

    def _offers_tools(self, conversation: Conversation) -> bool:
        return self._binder.offered_in(client_tools(conversation.tools))

    def _continues(self, conversation: Conversation) -> bool:
        return any(
            block.get(field) in self._marks
            for said in conversation.messages
            if said.get("role") == "assistant"
            for block in as_blocks(said.get("content"))
            for field in ("id", "text", "signature", "data")
            if isinstance(block.get(field), str)
        )


def has_system(conversation: Conversation, wanted: str) -> bool:
    """Whether the system prompt holds the text."""
    return bool(wanted) and any(
        wanted in str(block.get("text", "")) for block in as_blocks(conversation.system)
    )


def says(conversation: Conversation, prompt: str) -> bool:
    """Whether the user says the prompt, in whatever other words."""
    return any(
        prompt in block.get("text", "")
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
