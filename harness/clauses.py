"""The catalogue: every clause a loop is judged by, as data."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
Ground: TypeAlias = Literal["recorded", "documented", "construction"]


class Clause(msgspec.Struct, frozen=True, kw_only=True):
    """One normative sentence. Ids are never reused."""

    id: str
    level: Level
    sentence: str
    """What a loop must do, in one sentence."""
    reason: str
    """What goes wrong for a user where it is broken."""
    ground: Ground
    """`recorded` (a real exchange), `documented` (a URL), `construction` (it lost what it was given)."""
    source: str
    """The URL, the recording's description, or why it holds by construction."""
    advice: str
    """How to fix it, in one or two lines."""
    needs: tuple[str, ...] = ()
    """What the loop has to expose (names of `harness.turn.EXPOSABLE`); `report|status` is a choice."""
