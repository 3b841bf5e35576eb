"""TOOL-10 on histories written by hand: a stop for tools that calls none."""

from __future__ import annotations

from tests.checks.histories import Story, text, user
from tests.checks.tools import HI


def without_a_call(count: int) -> Story:
    story = Story()
    story.turn()
    for number in range(count):
        story.ask([HI, *[user("Go on.")] * number])
        story.reply([text("Calling it now.")], "tool_use")
    return story


def test_a_tool_use_stop_without_a_call_that_ends_as_failed_holds() -> None:
    assert without_a_call(1).end("failed").kinds("TOOL-10") == ["held"]


def test_a_tool_use_stop_without_a_call_taken_for_an_answer_is_found() -> None:
    assert without_a_call(1).returns("Calling it now.").kinds("TOOL-10") == ["broken"]


def test_spinning_without_a_call_is_found() -> None:
    assert without_a_call(6).end("failed").kinds("TOOL-10") == ["broken"]
    assert without_a_call(2).overran().kinds("TOOL-10") == ["broken"]


def test_asking_once_more_without_a_call_is_noted() -> None:
    story = without_a_call(1)
    story.ask([HI, user("There was no call.")])

    assert story.answer("over").end("failed").kinds("TOOL-10") == ["note"]


def test_five_replies_without_a_call_are_spinning_and_four_are_not() -> None:
    assert without_a_call(4).end("failed").kinds("TOOL-10") == ["held"]
    assert without_a_call(5).end("failed").kinds("TOOL-10") == ["broken"]


def test_a_loop_that_tells_nothing_or_was_cancelled_leaves_open_what_it_took_the_stop_for() -> None:
    story = Story(exposes=())
    story.turn()
    story.ask([HI])
    story.reply([text("Calling it now.")], "tool_use")

    assert story.end(None).kinds("TOOL-10") == ["unclear"]
    assert without_a_call(1).cancel().end("cancelled").kinds("TOOL-10") == ["unclear"]


def test_the_newest_reply_without_a_call_is_named() -> None:
    [finding] = without_a_call(3).overran().check("TOOL-10")
    assert finding.request == 3


def test_of_the_replies_without_a_call_that_were_asked_again_after_the_last_is_named() -> None:
    story = without_a_call(2)
    story.ask([HI, user("There was no call.")])
    [finding] = story.answer("over").end("failed").check("TOOL-10")

    assert (finding.kind, finding.request) == ("note", 2)
