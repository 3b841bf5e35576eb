"""What is approved of the checks' words: it is read as it is written, and every check has its say."""

from __future__ import annotations

from harness.checks import registered
from harness.checks.base import broken, held
from tests.checks.said import SAID, approved, page, worded

FOUND = broken(expected="One.", happened="Two.\n\nThree.", block=0, level="SHOULD", diff="- a\n+ b")


def test_a_finding_is_a_paragraph_of_all_it_says() -> None:
    assert worded(FOUND).split("\n") == [
        "broken, SHOULD, wire, turn 1, block 0",
        "    expected: One.",
        "    happened: Two.",
        "    ~",
        "    Three.",
        "    diff: - a",
        "    + b",
    ]


def test_a_page_is_read_as_it_was_written() -> None:
    said = {"B-1": {worded(FOUND), worded(held())}, "A-1": {worded(held("hook"))}}

    assert approved(page(said)) == said


def test_every_check_is_seen_to_find_something_and_to_find_nothing() -> None:
    said = approved(SAID.read_text(encoding="utf-8"))
    kinds = {clause: {text.partition(",")[0] for text in said.get(clause, ())} for clause in registered()}

    assert {clause for clause, found in kinds.items() if not found >= {"broken", "held"}} == set()
