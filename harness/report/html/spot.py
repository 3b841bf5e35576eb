"""Which block of a conversation a verdict is about."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ...judge import CheckResult

_PATH = re.compile(r"messages\[(\d+)\]\.content\[(\d+)\]")


def spot_of(check: CheckResult, messages: Sequence[Any]) -> tuple[int, int] | None:
    """The message and the block in it, by index. None where it is about something that is not there.

    A verdict names the place, or tells the index of the block in its message; which message that is follows
    from the diff: it is the one that has the lines which the diff does not take away.
    """
    named = _PATH.search(check.happened)
    if named:
        place, block = int(named[1]), int(named[2])
        if place < len(messages) and block < len(_blocks(messages[place])):
            return place, block
    if check.block is None:
        return None
    candidates = [
        (place, blocks[check.block])
        for place, message in enumerate(messages)
        if len(blocks := _blocks(message)) > check.block
    ]
    there = [line[1:].strip().rstrip(",") for line in check.diff.splitlines() if not line.startswith("-")]
    there = [line for line in there if len(line) > 1 and not line.startswith('"role"')]
    if check.diff and not there:
        return None
    best: tuple[int, int] | None = None
    for place, block in candidates:
        score = _score(block, there)
        if score > 0 and (best is None or score >= best[0]):
            best = (score, place)
    if best is None and candidates and not check.diff:
        best = (0, candidates[-1][0])
    return (best[1], check.block) if best else None


def _score(block: Any, wanted: Sequence[str]) -> int:
    """How many of the lines the block has."""
    lines = {
        line.strip().rstrip(",") for line in json.dumps(block, indent=2, ensure_ascii=False).splitlines()
    }
    return sum(line in lines for line in wanted)


def _blocks(message: Any) -> Sequence[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []
