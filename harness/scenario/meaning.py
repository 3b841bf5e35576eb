"""What a well-formed scenario file may still get wrong: names, places, and texts that do not fit together."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .problems import nearest
from .shape import Reader


def check_meaning(values: dict[str, Any], reader: Reader, clauses: Collection[str]) -> None:
    """Note what does not fit together. Parts that are not well-formed are passed over."""
    for index, clause in enumerate(values.get("clauses", [])):
        if clause is not None and clause not in clauses:
            reader.note(("clauses", index), f"unknown clause `{clause}`{nearest(clause, clauses)}")
