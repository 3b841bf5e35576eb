"""Whether two runs of requests are the same but for the words in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
SEALED = {"signature", "data", "encrypted_content", "encrypted_index", "encrypted_stdout", "expires_at"}
"""Made anew whenever they are needed."""
NAMES = {"type", "name", "tool_name", "server_name"}
"""Never put in other words."""
LEFT_OUT = {"cache_control", "caller"}


@dataclass
class Same:
    """Words of one side, and what stands for them on the other: always the same, and never for two."""

    there: dict[Any, Any] = field(default_factory=dict)
    back: dict[Any, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def compare(self, recorded: Sequence[Any], played: Sequence[Any], where: str) -> None:
        """Compare the messages of two requests."""
        ours, theirs = list(said(recorded)), list(said(played))
        kinds = [[(role, kind) for role, kind, _ in side] for side in (ours, theirs)]
        if kinds[0] != kinds[1]:
            self.problems.append(f"{where}: {kinds[0]} became {kinds[1]}")
            return
        for (_, kind, one), (_, _, other) in zip(ours, theirs, strict=True):
            self._value(one, other, f"{where} {kind}")

    def _value(self, one: Any, other: Any, where: str) -> None:
        if isinstance(one, dict) and isinstance(other, dict):
            self._mapping(one, other, where)
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            for mine, its in zip(one, other, strict=True):
                self._value(mine, its, where)
        elif isinstance(one, (str, int, float)) and not isinstance(one, bool):
            self._word(one, other, where)
        elif one != other:
            self.problems.append(f"{where}: {one!r} became {other!r}")

    def _mapping(self, one: Json, other: Json, where: str) -> None:
        mine, its = self._keys(one), self._keys(other)
        if mine != its:
            self.problems.append(f"{where}: keys {sorted(mine)} became {sorted(its)}")
            return
        for key in mine - SEALED - NAMES:
            self._value(one[key], other[key], f"{where}.{key}")
        for key in mine & NAMES:
            if one[key] != other[key]:
                self.problems.append(f"{where}.{key}: {one[key]} became {other[key]}")

    def _word(self, one: Any, other: Any, where: str) -> None:
        if isinstance(one, str) and not one.strip() and not other.strip():
            return
        if self.there.setdefault(one, other) != other:
            self.problems.append(f"{where}: {one!r} became {self.there[one]!r} and {other!r}")
        elif self.back.setdefault(other, one) != one:
            self.problems.append(f"{where}: {other!r} stands for {self.back[other]!r} and {one!r}")

    def _keys(self, value: Json) -> set[str]:
        return {
            key
            for key, each in value.items()
            if each is not None and key not in LEFT_OUT and not (key == "is_error" and not each)
        }


def said(messages: Sequence[Any]) -> Iterator[tuple[str, str, Any]]:
    """Role, kind and content of what a conversation holds, as far as a scenario can say it."""
    for role, content in merged(messages):
        if role == "assistant":
            yield from ((role, block["type"], block) for block in content if not _is_blank(block))
            continue
        results = [block for block in content if block["type"] == "tool_result"]
        for block in results:
            yield role, "tool_result", _result(block)
        words = [block["text"] for block in content if block["type"] == "text" and not _is_blank(block)]
        if words and not results:
            yield role, "text", "\n\n".join(words)


def merged(messages: Sequence[Any]) -> list[tuple[str, list[Json]]]:
    """Messages one after the other of one role are one; what the operator says in between is left out."""
    found: list[tuple[str, list[Json]]] = []
    for message in messages:
        role, content = message["role"], message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if role not in ("user", "assistant"):
            continue
        if found and found[-1][0] == role:
            found[-1][1].extend(blocks)
        else:
            found.append((role, list(blocks)))
    return found


def _is_blank(block: Json) -> bool:
    return block["type"] == "text" and not (block.get("text") or "").strip()


def _result(block: Json) -> Json:
    content = block.get("content")
    if isinstance(content, list) and len(content) == 1 and content[0]["type"] == "text":
        content = content[0]["text"]
    if isinstance(content, list):
        content = [_small(part) for part in content]
    return {"tool_use_id": block["tool_use_id"], "content": content or "", "is_error": block.get("is_error")}


def _small(part: Json) -> Json:
    """Images and documents are made small."""
    source = part.get("source")
    if isinstance(source, dict) and source.get("type") == "base64":
        return {"type": part["type"]}
    return part
