"""The catalogue: complete, worded, and the same as its page and the checks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness.catalogue_doc import render_catalogue
from harness.checks import registered
from harness.clauses import CLAUSES, FAMILIES, Clause
from harness.turn import EXPOSABLE
from tests.every import every

EVERY = every(CLAUSES.values(), lambda clause: clause.id)


def test_every_clause_has_a_check_and_every_check_a_clause() -> None:
    assert set(CLAUSES) == set(registered())


def test_every_clause_belongs_to_a_family() -> None:
    assert {clause.family for clause in CLAUSES.values()} == set(FAMILIES)


@EVERY
def test_a_clause_is_worded_in_full(clause: Clause) -> None:
    for words in (clause.sentence, clause.reason, clause.advice):
        assert words[0].isupper() or words[0] in "`/"
        assert words.endswith(".")
        assert "  " not in words


@EVERY
def test_a_clause_rests_on_something_that_can_be_looked_up(clause: Clause) -> None:
    assert ("https://platform.claude.com/docs/" in clause.source) is (clause.ground != "construction")


@EVERY
def test_a_clause_needs_only_what_can_be_exposed(clause: Clause) -> None:
    for need in clause.needs:
        assert set(need.split("|")) <= set(EXPOSABLE)


def test_the_page_is_the_catalogue() -> None:
    page = Path(__file__).parent.parent / "docs" / "clauses.md"

    assert page.read_text(encoding="utf-8") == render_catalogue(), (
        "run: python -m harness.catalogue_doc > docs/clauses.md"
    )


def test_the_page_has_every_clause_once() -> None:
    headings = [line[4:] for line in render_catalogue().splitlines() if line.startswith("### ")]

    assert headings == list(CLAUSES)


def test_reading_the_catalogue_needs_no_heavy_library() -> None:
    heavy = "{'yaml', 'anthropic', 'vcr', 'faker', 'httptools', 'pytest', 'rich'}"
    code = f"import sys, harness.clauses; print(*({heavy} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout.strip()) == (0, "")
