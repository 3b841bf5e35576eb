"""THREAD on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.histories import Story, assistant, call, result, text, user

HI = user("Hi")
CALLING = [call("toolu_1")]
RESULT = user([result("toolu_1")])
WHOLE = [HI, assistant(CALLING), RESULT]
CONTINUE = {"type": "continue", "previous_message_id": "msg_1"}


def begun() -> Story:
    story = Story()
    story.turn()
    story.ask([HI], thread={"type": "create"})
    return story.reply(CALLING, "tool_use", id="msg_1")


def continued(new: list[dict[str, Any]]) -> Story:
    story = begun()
    story.ask(new, thread=CONTINUE, transcript=[HI, assistant(CALLING), *new])
    return story.reply([text("Done.")]).end()


def test_a_run_without_threads_says_nothing() -> None:
    story = Story()
    story.turn()
    story.ask([HI])

    assert story.reply([text("Done.")]).end().check("THREAD-1") == []
    assert Story().check("THREAD-1") == []


def test_new_messages_only_hold() -> None:
    assert continued([RESULT]).kinds("THREAD-1") == ["held"]


@pytest.mark.parametrize("new", [WHOLE, [assistant(CALLING), RESULT]], ids=["everything", "the-reply"])
def test_saying_again_what_the_thread_holds_breaks_the_clause(new: list[dict[str, Any]]) -> None:
    [finding] = continued(new).check("THREAD-1")

    assert finding.kind == "broken"
    assert finding.request == 2


def lost() -> Story:
    story = begun()
    story.ask([RESULT], thread=CONTINUE)
    return story.answer("rejected", 404, rule="thread_not_found")


def test_a_lost_thread_is_replayed_in_full() -> None:
    story = lost()
    story.ask(WHOLE, thread={"type": "create"})

    assert story.reply([text("Done.")]).end().kinds("THREAD-1") == ["held"]


def test_a_lost_thread_replayed_in_part_breaks_the_clause() -> None:
    story = lost()
    story.ask([RESULT], thread={"type": "create"})

    assert story.reply([text("Done.")]).end().kinds("THREAD-1") == ["broken"]


def test_a_lost_thread_that_ends_the_turn_breaks_the_clause() -> None:
    assert lost().end("failed").kinds("THREAD-1") == ["broken"]


def test_a_cancelled_turn_need_not_replay() -> None:
    assert lost().cancel().end("cancelled").kinds("THREAD-1") == ["unclear"]


def test_the_whole_conversation_is_what_the_last_answered_request_held() -> None:
    story = begun()
    for _ in range(2):
        story.ask([RESULT], thread=CONTINUE, transcript=WHOLE)
        story.answer("fault", 500)
        story.ask([RESULT, user("Well?")], thread=CONTINUE, transcript=[*WHOLE, user("Well?")])
        story.answer("rejected", 404, rule="thread_not_found")
    story.ask([HI, RESULT], thread={"type": "create"})

    assert story.reply([text("Done.")]).end().kinds("THREAD-1") == ["broken", "held"]


def test_a_lost_thread_that_is_continued_again_is_found() -> None:
    story = lost()
    story.ask(WHOLE, thread=CONTINUE)
    [finding, *_] = story.reply([text("Done.")]).end().check("THREAD-1")

    assert finding.kind == "broken"
    assert "continues a thread again" in finding.happened


def test_a_user_may_say_a_thing_twice() -> None:
    assert continued([RESULT, user("Hi")]).kinds("THREAD-1") == ["held"]
    assert continued([user([result("toolu_9")])]).kinds("THREAD-1") == ["held"]


def test_a_result_that_the_thread_holds_is_not_sent_again() -> None:
    story = continued([RESULT])
    story.ask([RESULT], thread=CONTINUE, transcript=[*WHOLE, assistant("Done."), RESULT])

    assert story.reply([text("Done.")]).kinds("THREAD-1") == ["broken", "held"]


def test_a_conversation_said_again_from_its_start_is_found_at_its_start() -> None:
    both = user([text("Hi"), text("And?")])
    story = Story()
    story.turn()
    story.ask([both], thread={"type": "create"})
    story.reply([text("Hm.")], "pause_turn", id="msg_1")
    story.ask([both, user("More")], thread=CONTINUE, transcript=[both, assistant("Hm."), both, user("More")])
    [finding] = story.reply([text("Done.")]).end().check("THREAD-1")

    assert (finding.kind, finding.block) == ("broken", 0)


def test_a_thread_that_was_begun_anew_is_looked_at_as_well() -> None:
    story = lost()
    story.ask(WHOLE, thread={"type": "create"})
    story.reply([text("Hm.")], "pause_turn", id="msg_2")
    story.ask([RESULT], thread=CONTINUE, transcript=[*WHOLE, assistant("Hm."), RESULT])

    assert [one.kind for one in story.reply([text("Done.")]).end().check("THREAD-1")] == ["held", "broken"]


def test_two_blocks_are_enough_of_a_conversation_to_know_it_by() -> None:
    both = user([text("Hi"), text("And?")])
    story = begun()
    story.ask([both, user("More")], thread=CONTINUE, transcript=[both, both, user("More")])

    assert story.reply([text("Done.")]).end().kinds("THREAD-1") == ["broken"]
