"""HIST-11 on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.histories import Story, assistant, call, text, user

HI, HELLO, MORE = user("Hi"), assistant([text("Hello.")]), user("More")


def followed_up(
    *messages: Any,
    handed: list | None = None,
    status: str | None = "completed",
    left: list | None = None,
    said: tuple[Any, ...] = (text("Hello."),),
) -> Story:
    """A second turn whose first request holds `messages`, after one that left `left` as its history."""
    story = Story()
    story.turn("Hi")
    story.ask([HI])
    story.reply(list(said)).end(status, shown=["Hello."], history=left)
    story.turn("More", handed=[HI, HELLO] if handed is None else handed)
    story.ask(list(messages))
    return story.reply([text("There.")]).end()


def second(story: Story) -> Any:
    return story.check("HIST-11")[-1]


def test_a_run_in_which_nothing_was_asked_says_nothing() -> None:
    assert Story().turn().check("HIST-11") == []


@pytest.mark.parametrize(
    "messages",
    [
        [HI, HELLO, MORE],
        [HELLO, MORE],
        [HI, assistant("Hello."), user([text("More"), text("(It is noon.)")])],
        [HI, HELLO, user("The user says:\n\nMore")],
        [HI, HELLO, MORE, user("(A reminder.)")],
    ],
)
def test_the_message_and_the_answer_before_it_hold(messages: list) -> None:
    assert followed_up(*messages).kinds("HIST-11") == ["held"]


def test_a_request_that_nobody_read_says_nothing() -> None:
    story = Story()
    story.turn("Hi")
    story.ask([])

    assert story.answer("fault", 413).end("failed").check("HIST-11") == []


def test_a_conversation_that_is_left_out_is_found() -> None:
    finding = second(followed_up(MORE))

    assert (finding.kind, finding.level, finding.request) == ("broken", None, 2)


def test_a_summary_in_place_of_the_conversation_weighs_less() -> None:
    assert second(followed_up(user("So far: greetings."), MORE)).level == "SHOULD"


def test_a_message_that_is_not_sent_is_found() -> None:
    finding = second(followed_up(HI, HELLO))

    assert (finding.kind, finding.level) == ("broken", None)
    assert "does not hold it" in finding.happened


def test_a_message_in_other_words_weighs_less() -> None:
    assert second(followed_up(HI, HELLO, user("Tell me further things."))).level == "SHOULD"


def test_a_loop_that_was_handed_nothing_keeps_its_own_memory_or_none() -> None:
    assert followed_up(MORE, handed=[]).kinds("HIST-11") == ["held"]


def test_an_answer_that_is_missing_from_the_history_left_behind_is_found() -> None:
    assert second(followed_up(MORE, handed=[], left=[])).kind == "broken"
    assert second(followed_up(HI, MORE, handed=[HI], left=[HI])).level == "SHOULD"


def test_a_loop_may_keep_its_own_memory_beside_what_it_tells() -> None:
    assert followed_up(HI, HELLO, MORE, handed=[], left=[]).kinds("HIST-11") == ["held"]


def test_an_answer_with_a_call_that_nobody_is_to_run_may_be_left_out() -> None:
    said = (text("Hello."), call("toolu_1"))

    assert followed_up(HI, MORE, handed=[HI], left=[HI], said=said).kinds("HIST-11") == ["held"]


@pytest.mark.parametrize("status", ["failed", "cancelled", "refused"])
def test_a_turn_that_did_not_end_well_may_be_forgotten(status: str) -> None:
    assert followed_up(MORE, status=status).kinds("HIST-11") == ["held"]


def test_a_turn_whose_process_died_may_be_forgotten() -> None:
    story = Story()
    story.turn("Hi")
    story.ask([HI])
    story.reply([text("Hello.")])
    story.publish(history=[HI]).crash("answer 1 kept")
    story.turn("More", handed=[HI])
    story.ask([HI, MORE])

    assert story.reply([text("There.")]).end().kinds("HIST-11") == ["held"]


def test_an_answer_whose_turn_went_on_from_it_or_was_cut_may_be_forgotten() -> None:
    def second_turn(*rest: tuple[list[Any], str]) -> str:
        story = Story()
        story.turn("Hi")
        story.ask([HI])
        story.reply([text("Hello.")])
        for content, reason in rest:
            story.ask([HI, HELLO])
            story.reply(content, reason)
        story.end(None, shown=["Hello."])
        story.turn("More", handed=[HI, HELLO])
        story.ask([MORE])
        return str(second(story.reply([text("There.")]).end()).kind)

    assert second_turn() == "broken"
    assert second_turn(([text("Half")], "max_tokens")) == "held"
    assert second_turn(([call("toolu_1")], "tool_use")) == "held"


def test_only_texts_with_words_count_as_an_answer() -> None:
    assert followed_up(MORE, handed=[], left=[HI], said=(text(" "),)).kinds("HIST-11") == ["held"]


def test_a_turn_without_words_of_the_users_has_none_to_look_for() -> None:
    story = Story()
    story.turn(" ")
    story.ask([HI])

    assert story.reply([text("Hello.")]).end().check("HIST-11") == []


def test_each_turn_whose_message_is_not_sent_is_told() -> None:
    story = Story()
    for prompt in ("Hi", "More"):
        story.turn(prompt)
        story.ask([user("Something else.")])
        story.reply([text("Hello.")]).end()

    assert [(one.kind, one.turn) for one in story.check("HIST-11")] == [("broken", 0), ("broken", 1)]
