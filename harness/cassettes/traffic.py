"""A conversation of a recording as a history: what was on the wire, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ..history import Answered, AnyEvent, Began, Broken, Delivered, Finished, RequestSeen, TurnBegan
from ..scenario.model import Scenario, Task, TurnScript
from ..wire.same import Piece
from .conversations import Conversation, Said
from .exchanges import Recorded
from .model import header

WIRE: frozenset[str] = frozenset(
    {
        *(f"HIST-{number}" for number in range(1, 8)),
        *(f"TOOL-{number}" for number in (1, 2, 3, 5, 7, 8, 10)),
        *(f"PAUSE-{number}" for number in range(1, 5)),
        *("END-2", "TRUNC-2", "TRUNC-4", "REFUSE-1", "REFUSE-4", "WINDOW-1", "THREAD-1"),
        *("FAULT-2", "FAULT-10", "STREAM-1"),
    }
)
"""The clauses, or parts of them, that requests and answers alone can show to be broken. What takes a
scenario, a hook, an outcome or a clock is none of them. Nor is END-1, since who asks after the end of a turn
is not seen, nor FAULT-7, since a user may have stopped a reply that was not recorded to its end."""

_CONVERSATION = re.compile(r"messages\b")
_KEPT = ("anthropic-", "x-stainless-")
"""How the names of the headers begin that checks look at. Credentials are in others."""


def history(conversation: Conversation, recording: str) -> list[AnyEvent]:
    """The events of one conversation, numbered by its place in the recording; times only say the order."""
    events = list(_events(conversation, recording))
    for at, event in enumerate(events):
        event.at = float(at)
    return events


def _events(conversation: Conversation, recording: str) -> Iterator[AnyEvent]:
    first = conversation.turns[0][0].recorded
    streamed = any(one.recorded.stream for turn in conversation.turns for one in turn)
    scenario = Scenario(
        id=recording,
        title="",
        clauses=[],
        why="",
        task=Task(model=str(first.body.get("model"))),
        turns=[TurnScript(prompt=_prompt(turn[0]), script=[]) for turn in conversation.turns],
    )
    variant = "sse" if streamed else "json"
    whole = msgspec.to_builtins(scenario)
    yield Began(scenario_id=recording, variant=variant, scenario=whole, recording=recording)
    seen: dict[int, list[Said]] = {}
    for number, turn in enumerate(conversation.turns):
        yield _turn(number, turn[0])
        for said in turn:
            yield _request(said, number, seen)
            yield from _answer(said.recorded, number)
    yield Finished()


def _turn(number: int, said: Said) -> TurnBegan:
    body = said.recorded.body
    return TurnBegan(
        turn=number,
        prompt=_prompt(said),
        messages=said.thread.messages,
        model=str(body.get("model")),
        tools=[str(tool.get("name")) for tool in said.thread.tools],
        stream=said.recorded.stream is not None,
    )


def _prompt(said: Said) -> str:
    """What the user says at the end of a request."""
    words: list[str] = []
    for piece in reversed(said.pieces):
        if piece.role == "assistant":
            break
        words += _text(piece)
    return "\n".join(reversed(words))


def _text(piece: Piece) -> list[str]:
    text = piece.block.get("text")
    return [text] if piece.type == "text" and piece.role == "user" and isinstance(text, str) else []


def _request(said: Said, turn: int, seen: dict[int, list[Said]]) -> RequestSeen:
    recorded = said.recorded
    request = recorded.interaction.request
    earlier = seen.setdefault(said.marks[-1] if said.marks else 0, [])
    same = next((one for one in reversed(earlier) if one.recorded.body == recorded.body), None)
    earlier.append(said)
    retry = recorded.asked("x-stainless-retry-count")
    return RequestSeen(
        turn=turn,
        request=recorded.number,
        path=urlsplit(request.uri).path,
        headers=_headers(recorded),
        body=recorded.body,
        transcript=said.thread.messages if said.threaded else None,
        retry=int(retry) if retry.isdecimal() else 0,
        same_as=same.recorded.number if same else None,
    )


def _headers(recorded: Recorded) -> dict[str, str]:
    headers = recorded.interaction.request.headers
    names = {name.lower() for name, _ in headers}
    return {name: header(headers, name) for name in names if name.startswith(_KEPT)}


def _answer(recorded: Recorded, turn: int) -> Iterator[AnyEvent]:
    yield Answered(
        turn=turn,
        request=recorded.number,
        kind=_kind(recorded),
        status=recorded.status,
        body=recorded.message if recorded.message is not None else recorded.error,
        headers={name.lower(): value for name, value in recorded.interaction.response.headers},
        stream=recorded.stream is not None,
        rule="recorded" if is_rejected(recorded) else "",
    )
    stream = recorded.stream
    if recorded.whole or (stream is None and not recorded.interaction.response.broken):
        yield Delivered(turn=turn, request=recorded.number, events=stream.events if stream else 0)
        return
    yield Broken(
        turn=turn,
        request=recorded.number,
        events=stream.events if stream else 0,
        by="provider",
        bytes=len(recorded.interaction.response.body),
        how="error" if recorded.error else "end",
        last=stream.last if stream else "",
    )


def _kind(recorded: Recorded) -> str:
    if recorded.message is not None or recorded.stream is not None:
        return "reply"
    return "rejected" if is_rejected(recorded) else "fault"


def is_rejected(recorded: Recorded) -> bool:
    """Whether the API refused the conversation for what is in it, and not a setting or the account."""
    body: Any = recorded.error
    error = body.get("error") if isinstance(body, dict) else None
    if recorded.status != 400 or not isinstance(error, dict):
        return False
    return error.get("type") == "invalid_request_error" and bool(
        _CONVERSATION.match(str(error.get("message", "")))
    )
