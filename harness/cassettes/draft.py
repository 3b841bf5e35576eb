"""Rounds to a scenario: turns with their prompts, the script of each, and what the tools answered.

A scenario is always played from its start. What the first request of a recording brings along becomes turns
of its own, and its assistant messages replies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..evidence import GOING_ON
from ..wire.blocks import is_server_call, is_server_result
from ..wire.same import blocks
from .rounds import Round

Json = dict[str, Any]
_BESIDE = "Words beside the results of tools are left out: a scenario has them in prompts alone."
_PASSING = (408, 409, 429)
LONGEST_WAIT = 1.0
"""Seconds of a recorded `retry-after` that are waited for when the scenario is played."""


@dataclass
class Turn:
    """One user message, and the answers until the next one; nothing is put in other words yet."""

    prompt: str | None = None
    steps: list[Json] = field(default_factory=list)
    """`{reply: message}` or `{fault: …}`; content as on the wire."""
    limits: dict[str, float] = field(default_factory=dict)
    cancel: dict[str, str] = field(default_factory=dict)


@dataclass
class Draft:
    """A conversation taken apart."""

    turns: list[Turn] = field(default_factory=list)
    results: dict[str, Json] = field(default_factory=dict)
    """The result blocks of client calls, by the id of the call."""
    offered: set[str] = field(default_factory=set)
    """Names of the tools that were offered."""
    notes: list[str] = field(default_factory=list)
    """What the scenario does not have of the recording."""

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)

    def replies(self) -> Iterator[Json]:
        """Every reply of the script."""
        return (step["reply"] for turn in self.turns for step in turn.steps if "reply" in step)

    def calls(self) -> Iterator[Json]:
        """Every client call of the script."""
        return (
            block for reply in self.replies() for block in _content(reply) if block.get("type") == "tool_use"
        )


def draft_of(rounds: Sequence[Round]) -> Draft:
    """The conversation that these rounds are, the first of which may bring a history along."""
    draft = Draft()
    for number, one in enumerate(rounds):
        _learn(draft, one)
        if number == 0:
            _history(draft, one.messages)
        elif one.begins_turn:
            draft.turns.append(Turn(prompt=_words(draft, _newest(one.messages))))
        elif _words(draft, _newest(one.messages)) and rounds[number - 1].messages != one.messages:
            draft.note(_BESIDE)
        turn = draft.turns[-1]
        turn.limits, turn.cancel = one.limits or turn.limits, one.cancel or turn.cancel
        _answer(draft, turn, one)
    for turn in draft.turns:
        if _is_open(turn):
            turn.steps.append({"made_up": True})
    return draft


def _learn(draft: Draft, one: Round) -> None:
    tools = one.body.get("tools")
    draft.offered |= {str(each.get("name")) for each in tools or [] if isinstance(each, dict)}
    for message in one.messages:
        for block in _content(message):
            if block.get("type") == "tool_result":
                draft.results.setdefault(str(block.get("tool_use_id")), block)
            elif block.get("type") == "tool_addition" and isinstance(block.get("tool"), dict):
                draft.offered.add(str(block["tool"].get("name")))


def _history(draft: Draft, messages: Sequence[Any]) -> None:
    """The turns that the first request brings along, its own prompt the last."""
    merged = list(_merged(messages, draft))
    if merged and merged[-1][0] == "assistant":
        draft.note("The beginning of a reply that a request gives is left out: nobody plays such requests.")
        merged.pop()
    for role, content in merged:
        if role == "assistant":
            called = {str(block.get("name")) for block in content if block.get("type") == "tool_use"}
            draft.offered |= called  # by whoever wrote it
            reply = {"content": content, "stop_reason": "tool_use" if called else "end_turn"}
            draft.turns = draft.turns or [Turn()]
            draft.turns[-1].steps.append({"reply": reply})
            continue
        steps = draft.turns[-1].steps if draft.turns else []
        goes_on = bool(steps) and steps[-1]["reply"]["stop_reason"] == "tool_use" and _has_results(content)
        words = _words(draft, content)
        if not goes_on:
            draft.turns.append(Turn(prompt=words))
        elif words:
            draft.note(_BESIDE)
    draft.turns = draft.turns or [Turn()]


def _merged(messages: Sequence[Any], draft: Draft) -> Iterator[tuple[str, list[Json]]]:
    role, content = "", list[Json]()
    for message in messages:
        if not isinstance(message, dict):
            continue
        said = str(message.get("role"))
        if said not in ("user", "assistant"):
            draft.note(f"Messages of the role `{said}` are left out.")
        elif said == role:
            content = [*content, *_content(message)]
        else:
            if role:
                yield role, content
            role, content = said, _content(message)
    if role:
        yield role, content


def _content(message: Any) -> list[Json]:
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in blocks(content) if isinstance(block, dict)]


def _newest(messages: Sequence[Any]) -> list[Json]:
    """What the user says after the last words of the assistant."""
    found: list[Json] = []
    for message in reversed(messages):
        if not isinstance(message, dict) or message.get("role") == "assistant":
            break
        if message.get("role") == "user":
            found = [*_content(message), *found]
    return found


def _has_results(content: Iterable[Json]) -> bool:
    return any(block.get("type") == "tool_result" for block in content)


def _words(draft: Draft, content: Sequence[Json]) -> str | None:
    """The text of a user's message, None where it has none."""
    other = {str(block.get("type")) for block in content} - {"text", "tool_result"}
    if other:
        draft.note(f"Of prompts only the text is kept, not {', '.join(sorted(other))}.")
    texts = [str(block.get("text")) for block in content if block.get("type") == "text"]
    return "\n\n".join(text for text in texts if text.strip()) or None


def _answer(draft: Draft, turn: Turn, one: Round) -> None:
    if one.message is not None and one.message.get("content") is not None:
        step: Json = {"reply": one.message}
        if not one.whole:
            step["by"] = "error" if one.error else "close"
        turn.steps.append(step)
    elif one.rejected:
        draft.note(f"Request {one.number} was refused for what is in it, which a right loop does not send.")
    else:
        turn.steps.append({"fault": _fault(one)})


def _fault(one: Round) -> Json:
    if one.status < 400:
        return {"connection": "close"}
    error = one.error.get("error") if isinstance(one.error, dict) else None
    fault: Json = {"status": one.status}
    if isinstance(error, dict):
        fault |= {name: error[name] for name in ("type", "message") if isinstance(error.get(name), str)}
    headers = dict(one.headers)
    if "retry-after" in headers:
        headers["retry-after"] = f"{min(_number(headers['retry-after']), LONGEST_WAIT):g}"
    return fault | ({"headers": headers} if headers else {})


def _number(text: str) -> float:
    try:
        return max(float(text), 0.0)
    except ValueError:
        return LONGEST_WAIT


def _is_open(turn: Turn) -> bool:
    """Whether a right loop asks once more after the last step of the turn."""
    if turn.cancel:
        return False
    if not turn.steps:
        return True
    last = turn.steps[-1]
    if "fault" in last:
        status = last["fault"].get("status", 0)
        return status == 0 or status in _PASSING or status >= 500
    return "by" in last or last["reply"].get("stop_reason") in GOING_ON


def labels_of(draft: Draft) -> dict[str, str]:
    """Names for the calls of the server whose results do not come in their order, by id."""
    wanted: dict[str, str] = {}
    for turn in draft.turns:
        waiting: list[str] = []
        for step in turn.steps:
            for block in _content(step.get("reply")):
                identifier = str(block.get("tool_use_id"))
                if is_server_call(block):
                    waiting.append(str(block.get("id")))
                elif is_server_result(block):
                    if identifier in waiting and waiting[0] != identifier:
                        wanted.update((each, "") for each in waiting)
                    waiting = [each for each in waiting if each != identifier]
    return {identifier: f"call {number}" for number, identifier in enumerate(wanted, start=1)}
