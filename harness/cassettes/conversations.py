"""Which requests of a recording belong together: conversations, and the turns of each.

A recording often holds several tests, each with conversations of its own, some of them cut short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..evidence import CUT, GOING_ON
from .exchanges import Recorded
from .kinship import Kinship, Said

__all__ = ["Conversation", "Said", "told_apart"]


@dataclass(eq=False)
class Conversation:
    """Requests that go on from one another, by turn."""

    turns: list[list[Said]]

    @property
    def last(self) -> Said:
        """The request nothing goes on from."""
        return self.turns[-1][-1]


def told_apart(exchanges: Sequence[Recorded]) -> list[Conversation]:
    """The conversations in a recording, in the order in which they begin.

    Where two requests go on from the same one, the second begins a conversation of its own with that one.
    """
    teller = Kinship()
    conversations: list[Conversation] = []
    inside: dict[int, Conversation] = {}
    for recorded in exchanges:
        said = teller.place(recorded)
        before = teller.predecessor(said)
        teller.remember(said)
        conversation = inside.get(before.place) if before is not None else None
        if before is None:
            conversation = Conversation([[said]])
            conversations.append(conversation)
        elif conversation is None or conversation.last is not before:
            conversation = Conversation([[before]])
            conversations.append(conversation)
            _append(conversation, said)
        else:
            _append(conversation, said)
        inside[said.place] = conversation
    return conversations


def _append(conversation: Conversation, said: Said) -> None:
    if _same_turn(conversation.last, said):
        conversation.turns[-1].append(said)
    else:
        conversation.turns.append([said])


def _same_turn(before: Said, said: Said) -> bool:
    """Whether nobody but the loop can have asked for this."""
    if before.stop_reason in GOING_ON or before.marks == said.marks or before.recorded.message is None:
        return True
    if before.stop_reason is None or before.stop_reason in CUT:
        return not _user_speaks(said)
    return False


def _user_speaks(said: Said) -> bool:
    """Whether the request ends with words of the user's, and not with results or the assistant's own."""
    for piece in reversed(said.pieces):
        if piece.role == "assistant":
            return False
        if piece.type != "tool_result":
            return True
    return False
