"""docs/adapters.md shows what was last played, and none of it differs from the reference."""

from __future__ import annotations

import json

from tests.languages.table import KEPT, PAGE, page


def test_the_page_shows_what_was_played_and_no_loop_differs_from_the_reference() -> None:
    kept = json.loads(KEPT.read_text("utf-8"))
    assert page(kept) == PAGE.read_text("utf-8")
    assert [(name, one["differences"]) for name, one in kept.items() if one["differences"]] == []
