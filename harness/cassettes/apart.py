"""Texts of a scenario that can be told apart: each once, none part of another, as the loader asks for.

A model may well say the same twice, or repeat what a tool said. Then the text that comes second gets other
words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..display import all_texts
from ..scenario.filler import Disguise

_ATTEMPTS = 4


def tell_apart(values: dict[str, Any], disguise: Disguise) -> int:
    """Replace texts of replies in the scenario's values until all differ; returns how many were replaced."""
    others = list(_others(values))
    accepted: list[str] = []
    replaced = 0
    for number, block in enumerate(_texts(values)):
        text = block["text"]
        for salt in range(1, _ATTEMPTS):
            if _is_apart(block["text"], accepted, others):
                break
            block["text"] = disguise.all_of(text, salt)
        if not _is_apart(block["text"], accepted, others):
            block["text"] = disguise.sentence(str(number))
        replaced += block["text"] != text
        accepted.append(block["text"].strip())
    return replaced


def _is_apart(text: str, accepted: list[str], others: list[str]) -> bool:
    bare = text.strip()
    return not any(bare in one or one in bare for one in accepted) and not any(bare in one for one in others)


def _turns(values: dict[str, Any]) -> list[dict[str, Any]]:
    return values.get("turns") or [values]


def _texts(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for block in _blocks(values):
        if isinstance(block.get("text"), str) and block["text"].strip() and next(iter(block)) == "text":
            yield block


def _blocks(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for turn in _turns(values):
        for step in turn["script"]:
            yield from (step.get("reply") or {}).get("content", [])


def _others(values: dict[str, Any]) -> Iterator[str]:
    """Every text beside those of the replies."""
    yield (values.get("task") or {}).get("prompt") or ""
    yield from (turn.get("prompt") or "" for turn in _turns(values))
    yield from all_texts(values.get("tools"))
    for block in _blocks(values):
        if next(iter(block)).endswith("_result") or str(block.get("type")).endswith("_result"):
            yield from all_texts(list(block.values()))
