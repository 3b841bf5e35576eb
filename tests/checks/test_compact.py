"""COMPACT on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, text, user

HI = user("Hi")
SUMMARY = {"type": "compaction", "content": "The user said hi.", "signature": "sig"}


def summarized(summary: dict = SUMMARY, **body: object) -> Story:
    story = Story()
    story.turn()
    story.ask([HI], **body)
    return story.reply([summary], "compaction")


def test_a_run_in_which_nothing_happened_says_nothing() -> None:
    assert Story().check("COMPACT-1") == []


@pytest.mark.parametrize("kept", [[HI], []])
def test_a_summary_that_goes_back_as_it_came_holds_whether_or_not_what_it_stands_for_stays(
    kept: list,
) -> None:
    story = summarized()
    story.ask([*kept, assistant([SUMMARY]), user("Go on.")])

    assert story.reply([text("Hello.")]).end().kinds("COMPACT-1") == ["held"]


def test_a_turn_that_ends_on_its_summary_is_found() -> None:
    [finding] = summarized().end("completed", shown=[]).check("COMPACT-1")

    assert finding.kind == "broken"
    assert "no request followed request 1" in finding.happened


@pytest.mark.parametrize("later", [[HI], [HI, user("So far: The user said hi.")]])
def test_a_summary_that_is_dropped_or_told_is_found(later: list) -> None:
    story = summarized()
    story.ask(later)

    assert story.reply([text("Hello.")]).end().kinds("COMPACT-1") == ["broken"]


def test_a_summary_that_is_changed_is_found_with_what_was_changed() -> None:
    story = summarized()
    story.ask([HI, assistant([{**SUMMARY, "content": "Hi was said."}])])
    [finding] = story.reply([text("Hello.")]).end().check("COMPACT-1")

    assert finding.kind == "broken"
    assert "Hi was said." in finding.diff


def test_a_summary_without_content_may_go() -> None:
    story = summarized({"type": "compaction", "content": None})
    story.ask([HI, user("Go on.")])

    assert story.reply([text("Hello.")]).end().kinds("COMPACT-1") == ["held"]


def test_a_loop_that_asks_for_no_summary_may_end_as_unfinished() -> None:
    assert summarized().end("failed", shown=[]).kinds("COMPACT-1") == ["unclear"]


@pytest.mark.parametrize(
    "asked",
    [
        {"compaction": {"type": "summarize"}},
        {"context_management": {"edits": [{"type": "compact_20260112"}]}},
    ],
)
def test_one_that_asks_for_it_may_not(asked: dict) -> None:
    assert summarized(**asked).end("failed", shown=[]).kinds("COMPACT-1") == ["broken"]


def test_a_cancelled_turn_need_not_go_on() -> None:
    assert summarized().cancel().end("cancelled").kinds("COMPACT-1") == ["unclear"]
