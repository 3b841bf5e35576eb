"""When two pieces of a conversation are the same to the API, and where they differ when they are not.

A conversation is read as one flat sequence of `Piece`s, a role and a block each. Consecutive messages of
one role and their merged form thereby are the same sequence, a string is its one text block, and what the
API would not take back (blank text, empty content) is no piece at all. Two sequences are the same when
their keys are equal; one continues another when it starts with it.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

Json = dict[str, Any]

_LINES = 24
"""How many lines of a diff help; the rest is cut."""
_LARGE = 65_536
"""Bytes of a message from which remembering it costs more than it saves."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of a conversation, and where it stands in the messages as they were sent."""

    role: str
    block: Json
    """The block as it was."""
    key: bytes
    """Equal for what the API treats the same."""
    message: int
    index: int

    @property
    def type(self) -> str:
        """The block's type, empty where it has none."""
        return str(self.block.get("type", ""))

    @property
    def path(self) -> str:
        """Where it stands: `messages[2].content[0]`."""
        return f"messages[{self.message}].content[{self.index}]"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two conversations differ. None stands for "nothing there"."""

    path: str
    """Where, in the actual messages."""
    expected: Piece | None
    actual: Piece | None
    position: int
    """The number of pieces before it that are the same."""

    @property
    def block(self) -> int | None:
        """Index of the differing block in its message."""
        return self.actual.index if self.actual else None

    @property
    def text(self) -> str:
        """A short readable diff of the differing block."""
        return block_diff(self.expected, self.actual)


def pieces(messages: Sequence[Any]) -> list[Piece]:
    """The conversation as a flat sequence. What is no message is kept, as a piece equal to nothing else."""
    found: list[Piece] = []
    for number, message in enumerate(messages):
        encoded = msgspec.json.encode(message)
        # A conversation repeats its messages in every request: each is taken apart once.
        found += _remembered(encoded, number) if len(encoded) < _LARGE else _apart(message, number)
    return found


@lru_cache(maxsize=4096)
def _remembered(encoded: bytes, number: int) -> tuple[Piece, ...]:
    return _apart(msgspec.json.decode(encoded), number)


def _apart(message: Any, number: int) -> tuple[Piece, ...]:
    if not isinstance(message, dict):
        return (_piece("?", {"value": message}, number, 0),)
    return tuple(content_pieces(str(message.get("role", "")), message.get("content"), number))


def content_pieces(role: str, content: Any, message: int = 0) -> list[Piece]:
    """The pieces of one message's content: a string, or blocks."""
    found: list[Piece] = []
    for index, block in enumerate(blocks(content)):
        if not is_blank(block):
            found.append(_piece(role, block, message, index))
    return found


def blocks(content: Any) -> list[Any]:
    """Content as a list of blocks: a string is one text block, none is no block."""
    if content is None:
        return []
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}]


def is_blank(block: Any) -> bool:
    """Whether this is a text block without anything to read, which the API does not take back."""
    if not isinstance(block, dict) or block.get("type") != "text":
        return False
    text = block.get("text")
    return text is None or (isinstance(text, str) and not text.strip())


def starts_with(actual: Sequence[Piece], expected: Sequence[Piece]) -> bool:
    """Whether `actual` is `expected`, or continues it."""
    return len(actual) >= len(expected) and all(
        mine.key == other.key for mine, other in zip(expected, actual, strict=False)
    )


def equal(expected: Any, actual: Any) -> bool:
    """Whether two JSON values are the same: `1` and `1.0` are, `1` and `true` are not."""
    return _encode(canonical(expected)) == _encode(canonical(actual))


def canonical(value: Any) -> Any:
    """A JSON value with `1.0` spelled `1`. Compare it encoded: Python takes `True` for `1`."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: canonical(part) for name, part in value.items()}
    if isinstance(value, list):
        return [canonical(part) for part in value]
    return value


def difference(
    expected: Sequence[Piece], actual: Sequence[Piece], *, prefix: bool = False
) -> Difference | None:
    """The first difference, None where they are the same. With `prefix`, `actual` may go on after that."""
    for position, (want, have) in enumerate(zip(expected, actual, strict=False)):
        if want is not have and want.key != have.key:
            return Difference(have.path, want, have, position)
    shared = min(len(expected), len(actual))
    if len(expected) > shared:
        return Difference(_end(actual), expected[shared], None, shared)
    if len(actual) > shared and not prefix:
        return Difference(actual[shared].path, None, actual[shared], shared)
    return None


def block_diff(expected: Piece | None, actual: Piece | None) -> str:
    """The lines in which two blocks differ, `-` for what was expected and `+` for what was sent."""
    lines = [line for line in difflib.ndiff(_lines(expected), _lines(actual)) if not line.startswith("?")]
    cut = [*lines[:_LINES], f"  … {len(lines) - _LINES} more lines"] if len(lines) > _LINES else lines
    return "\n".join(cut)


def brief(value: Any, limit: int = 120) -> str:
    """A value in one line for a message, cut where it is long."""
    text = value if isinstance(value, str) else _encode(value).decode()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _piece(role: str, block: Any, message: int, index: int) -> Piece:
    kept = block if isinstance(block, dict) else {"value": block}
    return Piece(role, kept, role.encode() + b":" + _encode(_block(kept)), message, index)


def _block(block: Any) -> Any:
    if not isinstance(block, dict):
        return canonical(block)
    kept: Json = {}
    for name, value in block.items():
        if name == "input":
            # Nothing in a tool's input is optional: null, {}, [] and "" all differ there.
            kept[name] = canonical(value)
        elif not _is_default(block, name, value):
            kept[name] = _inner(value)
    if block.get("type") == "tool_result":
        kept["content"] = [_block(part) for part in blocks(block.get("content")) if not is_blank(part)]
    return kept


def _inner(value: Any) -> Any:
    if isinstance(value, dict):
        return _block(value)
    if isinstance(value, list):
        return [_inner(part) for part in value]
    return canonical(value)


def _is_default(block: Json, name: str, value: Any) -> bool:
    """Whether a field says the same as its absence."""
    if value is None or name == "cache_control":
        return True
    kind = block.get("type")
    return (
        (name == "is_error" and value is False)
        or (name == "caller" and value == {"type": "direct"})
        or (name == "citations" and kind == "text" and value == [])
    )


def _encode(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def _lines(piece: Piece | None) -> list[str]:
    if piece is None:
        return []
    text = msgspec.json.format(_encode({"role": piece.role, **piece.block}), indent=2).decode()
    return text.split("\n")  # a text may hold what else Python takes for the end of a line


def _end(actual: Sequence[Piece]) -> str:
    return f"after {actual[-1].path}" if actual else "messages"
