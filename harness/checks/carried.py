"""What a later request made of the conversation before it: what it changed, moved, dropped and added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from ..evidence import CUT, Exchange
from ..wire.blocks import THINKING
from ..wire.same import Piece
from .base import continuations, departure

_ALIKE = 0.5
"""Share of two texts that has to be the same for one to be the other, changed."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A piece of the earlier conversation that the later request does not have where it belongs."""

    piece: Piece
    received: bool
    """From the reply, not from what was sent before it."""
    instead: Piece | None = None
    """What stands in its place."""
    moved: bool = False
    """It stands somewhere else."""

    @property
    def changed(self) -> bool:
        """Whether it is there in another form, and not only left out."""
        return self.moved or (self.instead is not None and self.instead.type == self.piece.type)


@dataclass(slots=True)
class Carried:
    """How `later` carries on from `earlier` and its reply."""

    earlier: Exchange
    later: Exchange
    losses: list[Loss] = field(default_factory=list)
    added: list[Piece] = field(default_factory=list)
    """Pieces among what should only have been kept, and assistant content behind it that no reply held."""
    prompt: str = ""
    """What the user says in `later` for the first time."""

    @property
    def received(self) -> list[Loss]:
        """What is lost of the reply."""
        return [loss for loss in self.losses if loss.received]

    @property
    def sent(self) -> list[Loss]:
        """What is lost of what was sent before the reply."""
        return [loss for loss in self.losses if not loss.received]

    @property
    def nothing_of_reply(self) -> bool:
        """Whether the reply was left out as a whole."""
        received = self.received
        return len(received) == len(self.earlier.reply_pieces) and not any(one.instead for one in received)


def carried(earlier: Exchange, later: Exchange, prompt: str = "") -> Carried:
    """Compare `later` with the conversation it should continue, beside `prompt`, which is new in it."""
    result = Carried(earlier, later, prompt=prompt.strip())
    if departure(earlier, later) is None:
        kept = min(len(one) for one in continuations(earlier))
        known = {piece.key for piece in earlier.reply_pieces}
        behind = later.pieces[kept:]
        result.added = [piece for piece in behind if _said(piece) and piece.key not in known]
        return result
    sent = _without_system(earlier.pieces)
    _align(result, sent + earlier.reply_pieces, _without_system(later.pieces), len(sent))
    return result


def may_be_missing(exchange: Exchange, piece: Piece, *, next_turn: bool) -> bool:
    """Whether a piece of this reply may be left out of a later request."""
    if exchange.stop_reason in (*CUT, "refusal") or _before_fallback(exchange, piece):
        return True
    if not next_turn:
        return False
    # Calls that nobody answered may be dropped, thinking counts within its own turn only.
    if piece.type.endswith("tool_use"):
        return not any(
            other.block.get("tool_use_id") == piece.block.get("id") for other in exchange.reply_pieces
        )
    return piece.type in THINKING or exchange.stop_reason == "compaction"


def alike(one: str, other: str) -> bool:
    """Whether one text is the other in another form."""
    short, long = sorted((one.strip(), other.strip()), key=len)
    if not short:
        return False
    return short in long or SequenceMatcher(None, short, long, autojunk=False).ratio() >= _ALIKE


def _align(result: Carried, expected: list[Piece], actual: list[Piece], sent: int) -> None:
    start = 0
    while start < min(len(expected), len(actual)) and expected[start].key == actual[start].key:
        start += 1
    matcher = SequenceMatcher(
        None, [one.key for one in expected[start:]], [one.key for one in actual[start:]], autojunk=False
    )
    blocks = [
        (tag, (start + i1, start + i2), actual[start + j1 : start + j2])
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]
    loose = {piece.key for _, _, found in blocks for piece in found}
    for _, (first, end), found in blocks:
        free = list(found)
        for number in range(first, end):
            piece = expected[number]
            instead = None if piece.key in loose else _stand_in(piece, free, result.prompt)
            result.losses.append(Loss(piece, number >= sent, instead, piece.key in loose))
        at_end = end == len(expected)
        missing = {one.key for one in expected[first:end]}
        result.added += [one for one in free if one.key not in missing and (not at_end or _said(one))]
    moved = {loss.piece.key for loss in result.losses}
    result.added = [piece for piece in result.added if piece.key not in moved]


def _stand_in(piece: Piece, free: list[Piece], prompt: str) -> Piece | None:
    """The piece that most likely took the place of `piece`; it is taken out of `free`."""
    same_role = [one for one in free if one.role == piece.role]
    if piece.role == "user":
        # What is new comes from the user too: only the same kind of block can be the old one, changed.
        same_role = [one for one in same_role if _same_thing(piece, one) and not _says(one, prompt)]
    found = next((one for one in same_role if one.type == piece.type), None)
    found = found or next(iter(same_role), None)
    if found is not None:
        free.remove(found)
    return found


def _says(piece: Piece, prompt: str) -> bool:
    return bool(prompt) and piece.type == "text" and prompt in str(piece.block.get("text"))


def _same_thing(piece: Piece, other: Piece) -> bool:
    if piece.type != other.type:
        return False
    if piece.type == "tool_result":
        return piece.block.get("tool_use_id") == other.block.get("tool_use_id")
    if piece.type == "text":
        return alike(str(piece.block.get("text")), str(other.block.get("text")))
    return True


def _before_fallback(exchange: Exchange, piece: Piece) -> bool:
    """Whether another model took over after this piece, which makes its thinking and calls void."""
    last = max((one.index for one in exchange.reply_pieces if one.type == "fallback"), default=-1)
    return piece.index < last and (piece.type in THINKING or piece.type.endswith("tool_use"))


def _said(piece: Piece) -> bool:
    return piece.role == "assistant"


def _without_system(pieces: Sequence[Piece]) -> list[Piece]:
    # A system message may be scoped to one turn and go away by itself.
    return [piece for piece in pieces if piece.role != "system"]
