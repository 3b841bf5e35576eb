"""What the mutation runs rest on: which changes are none, which lines they touch, and why some survive."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.changes import Change
from tests.mutation.known import known

ROOT = Path(__file__).parent.parent
MODULES = {"reference": ROOT / "harness" / "loops" / "reference", "checks": ROOT / "harness" / "checks"}
BEFORE = """
from __future__ import annotations

LIMIT = 2

def add(one: int | None, other: int = 1) -> int | None:
    total: int | None = one
    if (
        total
        and other
    ):
        total += other
    return total
"""


def change(old: str, new: str, line: int = 0) -> Change:
    assert old in BEFORE
    return Change(Path("sums.py"), "add", line, BEFORE, BEFORE.replace(old, new))


def test_a_change_to_an_annotation_is_none() -> None:
    assert change("total: int | None", "total: int + None").is_none
    assert change("-> int | None", "-> int - None").is_none
    assert not change("+=", "-=").is_none
    assert not change("other: int = 1", "other: int = 2").is_none


def test_a_change_reaches_the_statement_it_is_in() -> None:
    assert change("total += other", "total -= other", line=12).span == (12, 12)
    assert change("total\n        and", "total\n        or", line=10).span == (8, 11)
    assert change("LIMIT = 2", "LIMIT = 3", line=4).span is None


def test_a_change_is_known_by_its_lines() -> None:
    assert change("+=", "-=").key == ("sums.py add", "total += other", "total -= other")


@pytest.mark.parametrize("part", MODULES)
def test_what_is_explained_is_still_there(part: str) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in MODULES[part].glob("*.py")}
    gone = [
        (where, was)
        for where, was, _ in known(part)
        if " ".join(was.split()) not in " ".join(texts[where.partition(" ")[0]].split())
    ]

    assert gone == []
