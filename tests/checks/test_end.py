"""END on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, call, result, text, thinking, user

HI = user("Hi")


def ended_with(content: list[dict], stop_reason: str = "end_turn") -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    return story.reply(content, stop_reason)


@pytest.mark.parametrize("stop_reason", ["end_turn", "stop_sequence"])
def test_a_turn_that_ends_where_the_model_does_holds(stop_reason: str) -> None:
    assert ended_with([text("Hello.")], stop_reason).end().kinds("END-1") == ["held"]


def test_one_more_request_after_the_end_is_found() -> None:
    story = ended_with([text("Hello.")])
    story.ask([HI, assistant("Hello."), user("Are you sure?")])
    [finding] = story.answer("over").end().check("END-1")

    assert finding.kind == "broken"
    assert finding.request == 2


def test_side_calls_and_the_next_turn_are_no_further_requests() -> None:
    story = ended_with([text("Hello.")])
    story.ask([user("A title, please")], lane="side")
    story.answer("side", 200).end()
    story.turn("More")
    story.ask([HI, assistant("Hello."), user("More")])

    assert story.reply([text("Yes?")]).end().kinds("END-1") == ["held"]


def test_a_retry_after_a_lost_answer_is_no_further_request() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("Hello.")], whole=False)
    story.ask([HI], retry=1)

    assert story.reply([text("Hello.")]).end().kinds("END-1") == ["held"]


def test_a_reply_that_only_thought_may_be_asked_again() -> None:
    story = ended_with([thinking()])
    story.ask([HI, assistant([thinking()]), user("And?")])

    assert story.reply([text("Hello.")]).end().kinds("END-1") == ["held"]


def empty(*later: dict) -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([call("toolu_1")], "tool_use").tool()
    story.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])])
    story.reply([])
    if later:
        story.end()
        story.turn("More")
        story.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")]), *later, user("More")])
        story.reply([text("Yes?")])
    return story


def test_an_empty_reply_that_ends_the_turn_holds() -> None:
    assert empty().end().kinds("END-2") == ["held"]
    assert empty(user("Note.")).end().kinds("END-2") == ["held"]


@pytest.mark.parametrize("content", [[], "", [text("")], None])
def test_an_empty_message_kept_for_the_next_turn_is_found(content: object) -> None:
    [finding] = empty(assistant(content)).end().check("END-2")

    assert finding.kind == "broken"
    assert finding.request == 3
    assert "empty assistant message" in finding.happened


def test_a_crash_on_an_empty_reply_is_found() -> None:
    [finding] = empty().raises("IndexError", "list index out of range").check("END-2")

    assert finding.kind == "broken"
    assert "IndexError" in finding.happened


def test_asking_to_go_on_after_an_empty_reply_is_documented() -> None:
    story = ended_with([])
    story.ask([HI, user("Please continue.")])

    assert story.reply([text("Hello.")]).end().kinds("END-2") == ["note"]


def test_sending_the_same_again_after_an_empty_reply_is_found() -> None:
    story = ended_with([])
    story.ask([HI])

    assert story.reply([text("Hello.")]).end().kinds("END-2") == ["broken"]
