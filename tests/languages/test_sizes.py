"""What people copy can be read in a minute: each file has one job, and fewer than 80 lines."""

from __future__ import annotations

from tests.languages.loops import EXAMPLES

SOURCES = {".js", ".jq", ".mjs", ".php", ".py", ".rb", ".sh", ".ts"}
MOST = 79


def test_no_example_is_longer_than_a_screen_or_two() -> None:
    sources = [path for path in EXAMPLES.rglob("*.*") if path.suffix in SOURCES]
    lines = {str(path.relative_to(EXAMPLES)): len(path.read_text("utf-8").splitlines()) for path in sources}
    lines = {name: count for name, count in lines.items() if "node_modules" not in name}
    assert len(lines) > 30
    assert {name: count for name, count in lines.items() if count > MOST} == {}
