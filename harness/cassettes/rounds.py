"""Requests with their answers as a scenario is made of them, from a recording or from a stored history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..arrange import arrange
from ..evidence import TurnView
from ..exchange import Exchange
from ..history import AnyEvent
from .conversations import Conversation
from .exchanges import Recorded
from .kinship import Said
from .model import header
from .traffic import is_rejected

Json = dict[str, Any]
_KEPT = ("retry-after", "x-should-retry")


@dataclass(kw_only=True)
class Round:
    """One request, and what it got."""

    number: int
    messages: list[Any]
    """The conversation as the model saw it."""
    body: Json
    begins_turn: bool
    message: Json | None = None
    """The reply, as far as it came."""
    whole: bool = True
    status: int = 200
    error: Any = None
    """Of an answer that was no reply, and of a stream with an error in it."""
    rejected: bool = False
    """The API refused what is in the conversation."""
    headers: dict[str, str] = field(default_factory=dict)
    """Those of the answer that a client acts on."""
    limits: dict[str, float] = field(default_factory=dict)
    """Of the turn."""
    cancel: dict[str, str] = field(default_factory=dict)
    """How the turn was cancelled."""


def of_conversation(conversation: Conversation) -> list[Round]:
    """The rounds of a conversation in a recording."""
    return [
        _of_said(said, begins_turn=not number)
        for turn in conversation.turns
        for number, said in enumerate(turn)
    ]


def _of_said(said: Said, *, begins_turn: bool) -> Round:
    recorded: Recorded = said.recorded
    headers = recorded.interaction.response.headers
    return Round(
        number=recorded.number,
        messages=list(said.thread.messages),
        body=recorded.body,
        begins_turn=begins_turn,
        message=recorded.message,
        whole=recorded.whole,
        status=recorded.status,
        error=recorded.error,
        rejected=is_rejected(recorded),
        headers={name: value for name in _KEPT if (value := header(headers, name))},
    )


def of_history(events: Sequence[AnyEvent]) -> list[Round]:
    """The rounds of a run, side calls left out. Raises `EvidenceError` where the events are none of a run."""
    found = []
    for turn in arrange(events).turns:
        asked = [one for one in turn.exchanges if one.kind not in ("side", "over", "unbound")]
        found += [_of_exchange(one, turn, begins_turn=not number) for number, one in enumerate(asked)]
    return found


def _of_exchange(one: Exchange, turn: TurnView, *, begins_turn: bool) -> Round:
    answer = one.answer
    reply = one.reply
    headers = answer.headers if answer else {}
    cancel = turn.cancels[0] if turn.cancels else None
    return Round(
        number=one.number,
        messages=one.transcript,
        body=one.body,
        begins_turn=begins_turn,
        message=reply,
        whole=one.whole,
        status=answer.status if answer else 0,
        error=None if reply else answer.body if answer else None,
        rejected=one.kind == "rejected",
        headers={name: headers[name] for name in _KEPT if name in headers},
        limits=dict(turn.began.limits),
        cancel={"at": cancel.point, "via": cancel.via} if cancel else {},
    )
