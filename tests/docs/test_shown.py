"""Output that no line of a page makes by itself, made here and compared."""

from __future__ import annotations

import pytest

from harness.cli import main
from harness.report.compare import Change, Compared, compared_lines
from tests.docs.pages import PAGES, blocks
from tests.loops.commanding import python


def shown(page: str, first: str) -> str:
    """The block of a page that begins so."""
    [text] = [
        block.text
        for each in PAGES
        if each.name == page
        for block in blocks(each)
        if block.text.startswith(first)
    ]
    return text


def test_the_ladder_of_doctor_is_that_of_a_loop_that_asks_somebody_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = " ".join(python("asks_only_elsewhere").words)

    assert main(["doctor", "--command", command]) == 4
    assert capsys.readouterr().out == shown("command-line.md", "ok     it starts")


def test_a_comparison_is_told_as_the_page_shows_it() -> None:
    broken = "The turn ended on the pause: no request followed request 1."
    lacking = "the loop does not expose usage (call turn.record_usage(…) once, or return Outcome(usage=…))"
    paused = ["pause/twice[json]", "pause/twice[sse]", "pause/no-tools[json]", "pause/no-tools[sse]"]
    cut = ["truncate/text[json]", "truncate/text[sse]"]
    changes = [
        *(Change("worse", "mine", case, "PAUSE-1", "pass", "fail", broken) for case in paused),
        *(Change("better", "mine", case, "TRUNC-1", "fail", "pass", "") for case in cut),
        Change("new", "mine", "pause/container[json]", "", "-", "pass", ""),
        Change("gone", "mine", "text/one[json]", "USAGE-1", "pass", "unsupported", lacking),
    ]

    told = [line.text for line in compared_lines(Compared(changes, same=912, notes=[]))]

    assert told == shown("reports.md", "WORSE").splitlines()


def test_the_readme_shows_the_adapter_in_node_that_its_page_has_run() -> None:
    _, whole = shown("README.md", "// conformance.mjs").split("\n", 1)

    assert whole == shown("other-languages.md", "import { readFileSync }")
