"""Where a request differs from a recorded one, in words and in the lines of the first block that does."""

from __future__ import annotations

from typing import Any

from ..wire.codec import canonical
from ..wire.same import brief, difference, pieces

_MOST_FIELDS = 5


def common(recorded: Any, asked: Any) -> int:
    """How much of two bodies is the same: of their conversations first of all."""
    ours, theirs = _messages(recorded), _messages(asked)
    same = 0
    for one, other in zip(ours, theirs, strict=False):
        if canonical(one) != canonical(other):
            break
        same += 1
    fields = _fields(recorded), _fields(asked)
    return same * 100 + sum(_equal(*fields, name) for name in fields[0])


def difference_of(recorded: Any, asked: Any) -> str:
    """The fields that differ, and the first block that does: `-` as recorded, `+` as asked."""
    if not isinstance(recorded, dict) or not isinstance(asked, dict):
        return f"recorded: {brief(_text(recorded))}\nasked:    {brief(_text(asked))}"
    lines = _differing_fields(recorded, asked)
    if not _equal(recorded, asked, "messages"):
        lines += _differing_block(_messages(recorded), _messages(asked))
    return "\n".join(lines)


def _differing_fields(recorded: dict[str, Any], asked: dict[str, Any]) -> list[str]:
    names = [*recorded, *(name for name in asked if name not in recorded)]
    names = [name for name in names if name != "messages" and not _equal(recorded, asked, name)]
    lines = [
        f"{name}: recorded {_told(recorded, name)}, asked {_told(asked, name)}"
        for name in names[:_MOST_FIELDS]
    ]
    if len(names) > _MOST_FIELDS:
        lines.append(f"and {len(names) - _MOST_FIELDS} more fields")
    return lines


def _differing_block(recorded: list[Any], asked: list[Any]) -> list[str]:
    found = difference(pieces(recorded), pieces(asked))
    if found is not None:
        return [f"first at {found.path}:", found.text]
    # The same to the API, and yet not the same request: a string for a block, a mark of the cache.
    for number, (ours, theirs) in enumerate(zip(recorded, asked, strict=False)):
        if canonical(ours) != canonical(theirs):
            return [f"first at messages[{number}]:", f"- {brief(ours, 400)}", f"+ {brief(theirs, 400)}"]
    return [f"messages: recorded {len(recorded)}, asked {len(asked)}"]


def _equal(recorded: dict[str, Any], asked: dict[str, Any], name: str) -> bool:
    if (name in recorded) is not (name in asked):
        return False
    return canonical(recorded.get(name)) == canonical(asked.get(name))


def _told(body: dict[str, Any], name: str) -> str:
    return brief(canonical(body[name]).decode()) if name in body else "nothing"


def _messages(body: Any) -> list[Any]:
    messages = body.get("messages") if isinstance(body, dict) else None
    return messages if isinstance(messages, list) else []


def _fields(body: Any) -> dict[str, Any]:
    return (
        {name: value for name, value in body.items() if name != "messages"} if isinstance(body, dict) else {}
    )


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "no body" if value is None else canonical(value).decode()
