"""What a turn showed, made comparable: texts, roles, and whether the loop added words of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_WORD = re.compile(r"\w")
_SHORTEST_PART = 4
"""Characters of a text that was only partly delivered which are told from chance."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as the user saw it."""

    text: str
    content: Any = None
    """As the loop gave it: a string, or blocks."""
    is_error: bool = False
    role: str = "assistant"


def messages_of(state: dict[str, Any]) -> list[Any] | None:
    """The messages of a published state; None where it has no such list."""
    messages = state.get("messages")
    return messages if isinstance(messages, list) else None


def of_this_turn(told: Sequence[Any], earlier: Sequence[Shown]) -> list[Shown]:
    """The messages in `told` that are not the user's, without those that earlier turns showed already."""
    shown = [one for one in map(_shown, told) if one.role != "user"]
    known = iter(one.text for one in earlier)
    for count, one in enumerate(shown):
        # Earlier messages may have been dropped since, never put in another order.
        if one.text not in known:
            return shown[count:]
    return []


def texts_of(content: Any) -> list[str]:
    """The texts of a message's text blocks (or of a string), blank ones left out."""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) and _is_text(part) else part for part in parts]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def all_texts(value: Any) -> list[str]:
    """Every string anywhere in `value`, the names of fields left out."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in all_texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in all_texts(part)]
    return []


def own_words(shown: Sequence[Shown], known: Sequence[str]) -> bool:
    """Whether anything is left of what was shown when all that is known is taken away."""
    return bool(own_phrases(shown, known))


def own_phrases(shown: Sequence[Shown], known: Sequence[str]) -> list[str]:
    """What is left of what was shown when all that is known is taken away, piece by piece."""
    rest = "\n".join(one.text for one in shown)
    for text in sorted((text.strip() for text in known), key=len, reverse=True):
        if text:
            rest = rest.replace(text, "\n")
    for text in known:
        rest = _without_start_of(text.strip(), rest)
    return [line.strip() for line in rest.splitlines() if _WORD.search(line)]


def squeezed(words: str) -> str:
    """The text with every run of white space as one space, for separators are the loop's own choice."""
    return " ".join(words.split())


def joined(shown: Sequence[Shown]) -> str:
    """All that was shown as one text, squeezed."""
    return squeezed("\n".join(one.text for one in shown))


def missing_in_order(texts: Sequence[str], shown: str) -> str | None:
    """The first of `texts` that does not follow the ones before it in `shown` (squeezed); None for none."""
    position = 0
    for text in texts:
        wanted = squeezed(text)
        found = shown.find(wanted, position)
        if found < 0:
            return text
        position = found + len(wanted)
    return None


def _without_start_of(text: str, rest: str) -> str:
    """`rest` without the longest beginning of `text` that stands in it: a stream that broke shows a part."""
    if text[:_SHORTEST_PART] not in rest or len(text) <= _SHORTEST_PART:
        return rest
    low, high = _SHORTEST_PART, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text[:middle] in rest else (low, middle - 1)
    return rest.replace(text[:low], " ")


def _shown(told: Any) -> Shown:
    if not isinstance(told, dict):
        return Shown(text=told if isinstance(told, str) else "\n\n".join(texts_of(told)), content=told)
    content = told.get("content", told.get("text"))
    return Shown(
        text=content if isinstance(content, str) else "\n\n".join(texts_of(content)),
        content=content,
        is_error=told.get("is_error") is True,
        role=str(told.get("role") or "assistant"),
    )


def _is_text(part: dict[str, Any]) -> bool:
    return str(part.get("type", "text")) == "text"
