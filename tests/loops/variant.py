"""What a legal variant is, and the register of them: `tests.loops.variants` has each by name."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from harness.loops.reference import DECLARATION
from harness.turn import Declaration


@dataclass(frozen=True)
class Variant:
    """A right loop: how a runner names it, and what is different about it."""

    name: str
    target: str
    doc: str


VARIANTS: dict[str, Variant] = {}


def variant(name: str, doc: str, target: str = "") -> None:
    """Register a loop of `tests.loops.variants`, or the one `target` names."""
    VARIANTS[name] = Variant(name, target or f"tests.loops.variants:{name}", doc)


def declared(**policies: str) -> Declaration:
    """What the reference declares, but for these choices."""
    return msgspec.structs.replace(DECLARATION, policies=DECLARATION.policies | policies)
