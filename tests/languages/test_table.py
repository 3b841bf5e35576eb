"""docs/adapters.md shows what was last played, and none of it differs from the reference."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.languages import table


def test_the_page_shows_what_was_played_and_no_loop_differs_from_the_reference() -> None:
    kept = table.read()
    now = list(table.digests())
    assert table.page(kept, now) == table.PAGE.read_text("utf-8"), "run python -m tests.languages.table"
    assert {name: lines for name, lines in kept["differences"].items() if lines} == {}


def result(grade: str, *clauses: str) -> Any:
    return SimpleNamespace(grade=grade, checks=[SimpleNamespace(clause=one, grade="pass") for one in clauses])


def test_only_what_is_new_or_has_changed_is_missing_and_takes_its_place_beside_the_rest() -> None:
    now = {"text/one[json]": "aa", "text/two[json]": "bb", "tool/one[json]": "cc"}
    kept: table.Kept = {
        "clauses": {"Node": ["TEXT-1"]},
        "differences": {"Node": ["text/two[json]: TEXT-1 is fail, not pass", "text/gone[json] is fail: so"]},
        "cases": {
            "text/gone[json]": {"of": "00", "Node": "fail"},
            "text/one[json]": {"of": "aa", "Node": "pass"},
            "text/two[json]": {"of": "old", "Node": "fail", "PHP": "pass"},
        },
    }
    assert table.missing(kept, "Node", now) == ["text/two[json]", "tool/one[json]"]
    assert table.missing(kept, "PHP", now) == list(now)
    played = {"text/two[json]": result("pass"), "tool/one[json]": result("inconclusive", "TOOL-1")}
    table.merge(kept, "Node", played, [], now)
    assert table.missing(kept, "Node", now) == []
    assert kept["clauses"] == {"Node": ["TEXT-1", "TOOL-1"]}
    assert kept["differences"] == {"Node": []}
    # What the others made of the scenario as it was is forgotten, and what is gone as well.
    assert kept["cases"]["text/two[json]"] == {"of": "bb", "Node": "pass"}
    assert list(kept["cases"]) == list(now)


def test_the_page_says_what_was_not_played_yet() -> None:
    kept = {"clauses": {"Node": []}, "cases": {"text/one[json]": {"of": "aa", "Node": "pass"}}}
    assert "| text | 1 pass, 1 not played yet |" in table.page(kept, ["text/one[json]", "text/two[json]"])
