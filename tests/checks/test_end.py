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


@pytest.mark.parametrize("stop_reason", ["end_turn", "max_tokens"])
def test_thoughts_that_are_shown_for_an_answer_are_found(stop_reason: str) -> None:
    story = ended_with([thinking("The user wants a name.")], stop_reason)
    [finding] = story.end("failed", shown=["The user  wants a name."]).check("END-3")

    assert finding.kind == "broken"
    assert "The user wants a name." in finding.happened


def test_a_thought_that_passes_for_an_answer_is_found() -> None:
    assert ended_with([thinking(), text(" ")]).end("completed", shown=[]).kinds("END-3") == ["broken"]


def test_a_thought_that_is_no_answer_holds() -> None:
    assert ended_with([thinking()]).end("failed", shown=[]).kinds("END-3") == ["held"]
    assert ended_with([thinking()]).end("completed", shown=["Nothing came."]).kinds("END-3") == ["held"]
    assert ended_with([thinking()]).returns("").kinds("END-3") == ["held"]
    assert ended_with([thinking()], "max_tokens").end("completed", shown=[]).kinds("END-3") == ["held"]


def test_what_was_said_before_a_thought_is_the_answer() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("It is noted."), call("toolu_1")], "tool_use").tool()
    story.ask([HI, assistant([text("It is noted."), call("toolu_1")]), user([result("toolu_1")])])

    assert story.reply([thinking()]).end("completed", shown=["It is noted."]).kinds("END-3") == ["held"]


def test_empty_replies_and_cancelled_turns_are_no_thoughts() -> None:
    assert ended_with([]).end("completed", shown=[]).check("END-3") == []
    assert ended_with([thinking()]).cancel().end("cancelled").check("END-3") == []


def test_an_empty_message_in_the_same_turn_is_found() -> None:
    story = ended_with([])
    story.ask([HI, assistant([]), user("Please continue.")])
    [finding] = story.reply([text("Hello.")]).end().check("END-2")

    assert (finding.kind, finding.request) == ("broken", 2)
    assert "messages[1]" in finding.happened


def test_an_empty_message_of_an_earlier_turn_is_not_of_this_reply() -> None:
    story = Story()
    story.turn()
    story.ask([HI, assistant([]), user("Go on.")])
    story.reply([text("Hello.")]).end()
    story.turn("More")
    story.ask([HI, user("More")])

    assert story.reply([]).end().kinds("END-2") == ["held"]
