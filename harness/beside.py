"""What a loop asks beside its conversation: a title, a warm-up. Told by the first run of the probe.

The conversation is the request that says the prompt and offers tools, or has the system prompt. Which of them
sets it apart is not known before both kinds were seen: a loop that has neither is known by its prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from .case import Case
from .history import AnyEvent, RequestSeen, TurnBegan
from .probe_scripts import TEXT
from .provider.classify import has_system, says
from .provider.tools import client_tools
from .transcript import conversation_of


class Play(Protocol):
    """Plays a case on one driver, to the end of its history."""

    async def __call__(self, case: Case, ties: Sequence[str] = ()) -> list[AnyEvent]:
        """`ties`: by what its conversation is known to be told apart."""


async def first_run(play: Play) -> tuple[list[AnyEvent], Play, list[str]]:
    """The shortest run, how to play others, and the ties. It is played anew where the first showed some."""
    first = await play(Case(TEXT, "json"))
    ties = ties_of(first)
    if not ties:
        return first, play, ties

    async def tied(case: Case, ties: Sequence[str] = tuple(ties)) -> list[AnyEvent]:
        return await play(case, ties)

    return await tied(Case(TEXT, "json")), tied, ties


def ties_of(events: Sequence[AnyEvent]) -> list[str]:
    """What the conversation has that something asked beside it lacks: `tools`, `system`, `prompt`."""
    turn = next((event for event in events if isinstance(event, TurnBegan)), None)
    if turn is None:
        return []
    begins = [kind for body in _bodies(events) if (kind := _kind(body, turn)) is not None]
    main = next((kind for kind in begins if "prompt" in kind and kind != {"prompt"}), None)
    if main is None:
        return []
    bare = main - {"prompt"} if {"prompt"} in begins else set()
    silent = {"prompt"} if any(kind and "prompt" not in kind for kind in begins) else set()
    return sorted(bare | silent)


def _bodies(events: Sequence[AnyEvent]) -> list[dict[str, Any]]:
    asked = [event for event in events if isinstance(event, RequestSeen) and event.endpoint == "messages"]
    return [event.body for event in asked if isinstance(event.body, dict)]


def _kind(body: dict[str, Any], turn: TurnBegan) -> set[str] | None:
    """What a request has of the conversation; None where it does not begin one."""
    conversation = conversation_of(body)
    if "previous_message_id" in body or any(one.get("role") == "assistant" for one in conversation.messages):
        return None
    has = {
        "prompt": says(conversation, turn.prompt),
        "system": has_system(conversation, turn.system),
        "tools": bool(client_tools(conversation.tools)),
    }
    return {name for name, there in has.items() if there}


def notes_of(ties: Sequence[str]) -> list[str]:
    """What the owner should know of them."""
    if not ties:
        return []
    has = {"prompt": "say the prompt", "system": "have the system prompt", "tools": "offer tools"}
    what = " and ".join(has[tie] for tie in ties)
    return [f"the loop asks beside its conversation, whose requests {what}: what does not is answered apart"]
