"""WINDOW on histories written by hand."""

from __future__ import annotations

from tests.checks.histories import Story, assistant, text, user

HI = user("Hi")


def full() -> Story:
    story = Story()
    story.turn()
    story.ask([HI, assistant("Long."), user("More")])
    return story.reply([text("Half an answ")], "model_context_window_exceeded")


def test_a_full_window_that_is_marked_holds() -> None:
    assert full().end("truncated").kinds("WINDOW-1") == ["held"]
    assert full().raises("WindowFull").kinds("WINDOW-1") == ["held"]


def test_a_full_window_taken_for_an_answer_is_found() -> None:
    assert full().returns("Half an answ").kinds("WINDOW-1") == ["broken"]


def test_a_full_window_sent_again_unchanged_is_found() -> None:
    story = full()
    story.ask([HI, assistant("Long."), user("More")], metadata={})
    [finding] = story.reply([text("Half")]).end().check("WINDOW-1")

    assert (finding.kind, finding.request) == ("broken", 2)


def test_a_shorter_history_may_be_sent() -> None:
    story = full()
    story.ask([user("Summary. More")])

    assert story.reply([text("Done.")]).end().kinds("WINDOW-1") == ["held"]


def test_a_loop_that_tells_nothing_leaves_it_open() -> None:
    story = Story(exposes=())
    story.turn()
    story.ask([HI])
    story.reply([text("Half")], "model_context_window_exceeded")

    assert story.returns(None).kinds("WINDOW-1") == ["unclear"]
