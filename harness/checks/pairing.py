"""Whether the API takes a conversation with a further user message: calls and results, blank content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..wire.blocks import open_server_calls
from ..wire.same import blocks, is_blank

Json = dict[str, Any]


def is_conversation(value: Any) -> bool:
    """Whether this is a list of role/content messages, and not something opaque."""
    return isinstance(value, list) and bool(value) and all(map(_is_message, value))


def problems(messages: Sequence[Json]) -> Iterator[str]:
    """What the API would refuse in `messages` with the next user message appended."""
    turns = _merged(messages)
    if turns and turns[0][0] == "assistant":
        yield "the first message is not the user's"
    known: set[str] = set()
    for position, (role, content) in enumerate(turns):
        if blank_alone(role, content):
            yield f"a blank text block stands in a message of the {role}"
        before = turns[position - 1][1] if position else []
        after = turns[position + 1][1] if position + 1 < len(turns) else []
        if role == "assistant":
            yield from _unanswered(content, after)
            for identifier in _ids(content, "tool_use", "id"):
                if identifier in known:
                    yield f"two calls have the id {identifier}"
                known.add(identifier)
        else:
            yield from _orphans(content, before)
    for number, message in enumerate(messages):
        if not blocks(message.get("content")):
            yield f"messages[{number}] has no content"


def blank_alone(role: str, content: Sequence[Any]) -> bool:
    """Whether there is a blank text block that the API refuses for certain.

    Beside other blocks of the assistant it was seen to be accepted; how far that goes is not known.
    """
    blank = any(is_blank(block) for block in content)
    others = any(isinstance(block, dict) and block.get("type") != "text" for block in content)
    return blank and not (role == "assistant" and others)


def misplaced_ids(messages: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the ids of calls and results, in words, and the id it is about."""
    turns = _merged([message for message in messages if isinstance(message, dict)])
    known: set[str] = set()
    for position, (role, content) in enumerate(turns):
        if role == "assistant":
            for block in content:
                if not str(block.get("type", "")).endswith("tool_use"):
                    continue
                identifier = str(block.get("id"))
                if identifier in known:
                    yield f"two calls have the id {identifier}", identifier
                known.add(identifier)
            continue
        called = set(_ids(turns[position - 1][1] if position else [], "tool_use", "id"))
        seen: set[str] = set()
        for identifier in _ids(content, "tool_result", "tool_use_id"):
            if identifier not in called:
                yield f"the result for {identifier} has no call in the message before", identifier
            elif identifier in seen:
                yield f"the call {identifier} has two results", identifier
            seen.add(identifier)


def open_calls_of_the_server(messages: Sequence[Json]) -> list[str]:
    """Ids of server-run calls that nothing in the conversation answers."""
    content = [block for message in messages for block in _dicts(message.get("content"))]
    return [str(call.get("id")) for call in open_server_calls(content)]


def _unanswered(content: Sequence[Json], after: Sequence[Json]) -> Iterator[str]:
    answered = set(_ids(after, "tool_result", "tool_use_id"))
    for identifier in _ids(content, "tool_use", "id"):
        if identifier not in answered:
            yield f"the call {identifier} has no result in the next message"


def _orphans(content: Sequence[Json], before: Sequence[Json]) -> Iterator[str]:
    called = set(_ids(before, "tool_use", "id"))
    seen: set[str] = set()
    for identifier in _ids(content, "tool_result", "tool_use_id"):
        if identifier not in called:
            yield f"the result for {identifier} has no call in the message before"
        elif identifier in seen:
            yield f"the call {identifier} has two results"
        seen.add(identifier)
    types = [block.get("type") == "tool_result" for block in content]
    if any(types) and True in types[types.index(False) if False in types else len(types) :]:
        yield "something stands before a result in its message"


def _merged(messages: Sequence[Json]) -> list[tuple[str, list[Json]]]:
    """Consecutive messages of one role are one to the API; system messages do not come between."""
    merged: list[tuple[str, list[Json]]] = []
    for message in messages:
        role, content = str(message.get("role")), _dicts(message.get("content"))
        if role not in ("user", "assistant"):
            continue
        if merged and merged[-1][0] == role:
            merged[-1][1].extend(content)
        else:
            merged.append((role, list(content)))
    return merged


def _ids(content: Sequence[Json], kind: str, field: str) -> list[str]:
    return [str(block.get(field)) for block in content if block.get("type") == kind]


def _dicts(content: Any) -> list[Json]:
    return [block for block in blocks(content) if isinstance(block, dict)]


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "content" in value
