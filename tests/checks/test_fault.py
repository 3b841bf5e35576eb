"""FAULT-1, 2, 3, 6 and 10 on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.faulty import HI, Faulty, asked, retried
from tests.checks.histories import assistant, call, result, text, thinking, user

LOOKED = [HI, assistant([call("toolu_1")]), user([result("toolu_1")])]


@pytest.mark.parametrize(
    ("headers", "waits", "kinds"),
    [
        ({"retry_after": "1"}, 1.0, ["held"]),
        ({"retry_after": "1"}, 0.5, ["broken"]),
        ({"retry_after_ms": "300"}, 0.3, ["held"]),
        ({"retry_after_ms": "300"}, 0.1, ["broken"]),
        ({"retry_after_ms": "300", "retry_after": "1"}, 0.3, ["held"]),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0.0, []),
        ({}, 0.0, []),
    ],
)
def test_the_next_attempt_waits_as_long_as_was_asked(headers: dict, waits: float, kinds: list) -> None:
    story = asked().fails(429, **headers)
    story.wait(waits)
    assert retried(story).kinds("FAULT-1") == kinds


def test_the_undocumented_header_is_one_that_should_be_kept() -> None:
    [finding] = retried(asked().fails(529, retry_after_ms="300")).check("FAULT-1")
    assert finding.level == "SHOULD"


def test_giving_up_and_asking_another_model_keep_the_wait() -> None:
    assert asked().fails(429, retry_after="9").end("failed").kinds("FAULT-1") == ["held"]
    story = Faulty()
    story.turn()
    story.ask([HI], model="large")
    assert retried(story.fails(429, retry_after="9"), model="small").kinds("FAULT-1") == ["held"]


@pytest.mark.parametrize("status", [400, 403, 404, 413])
def test_what_is_refused_for_good_and_sent_again_is_found(status: int) -> None:
    [finding] = retried(asked().fails(status)).check("FAULT-2")
    assert (finding.kind, finding.request, finding.level) == ("broken", 2, None)


def test_a_request_that_was_mended_is_another() -> None:
    assert retried(asked().fails(400), max_tokens=99).kinds("FAULT-2") == ["held"]
    assert asked().fails(400).end("failed").kinds("FAULT-2") == ["held"]


def test_a_new_token_may_be_tried_once() -> None:
    assert retried(asked().fails(401)).kinds("FAULT-2") == ["note"]
    twice = asked().fails(401)
    twice.ask([HI])
    assert "broken" in retried(twice.fails(401)).kinds("FAULT-2")


def test_passing_errors_are_tried_again_rightly() -> None:
    assert retried(asked().fails(529)).kinds("FAULT-2") == []
    [finding] = retried(asked().fails(429, x_should_retry="false")).check("FAULT-2")
    assert finding.level == "SHOULD"


def test_a_retry_is_the_same_conversation() -> None:
    assert retried(asked().fails()).kinds("FAULT-3") == ["held"]
    assert asked().fails().end("failed").kinds("FAULT-3") == ["held"]


@pytest.mark.parametrize(
    "more", [HI, user("The last request failed."), assistant([text("Half")])], ids=["again", "note", "half"]
)
def test_a_message_that_a_retry_adds_is_found(more: dict) -> None:
    [finding] = retried(asked().fails(), [HI, more]).check("FAULT-3")
    assert finding.kind == "broken"


def looked() -> Faulty:
    story = asked()
    story.reply([call("toolu_1")], "tool_use")
    story.tool()
    story.ask(LOOKED)
    return story


def test_a_retry_that_starts_the_turn_anew_is_found() -> None:
    [finding] = retried(looked().fails()).check("FAULT-3")
    assert "starts the turn anew" in finding.happened


def test_a_tool_that_a_retry_runs_again_is_found() -> None:
    story = looked().fails()
    story.tool()
    [finding] = retried(story, LOOKED).check("FAULT-3")
    assert "ran once more" in finding.happened
    assert retried(looked().fails(), LOOKED).kinds("FAULT-3") == ["held"]


def test_a_broken_stream_may_be_continued_as_documented() -> None:
    messages = [HI, assistant([text("Hel")]), user("You were interrupted. Please go on.")]
    [finding] = retried(asked().breaks([text("Hello.")]), messages).check("FAULT-3")
    assert finding.level == "SHOULD"
    declared = asked(policies={"on_broken_stream": "continue"}).breaks([text("Hello.")])
    assert retried(declared, messages).kinds("FAULT-3") == ["held"]


def test_a_call_of_a_broken_stream_does_not_run() -> None:
    assert asked().breaks([call("toolu_1")]).end("failed").kinds("FAULT-6") == ["held"]
    story = asked().breaks([call("toolu_1")])
    story.tool()
    [finding] = story.end("failed").check("FAULT-6")
    assert finding.kind == "broken"
    assert finding.evidence == "hook"


LONG = "prompt is too long: 210000 tokens > 200000 maximum"


def too_long(*later: list[Any], first: list[Any]) -> Faulty:
    story = asked(first).fails(400, LONG)
    for messages in later[:-1]:
        story.ask(messages)
        story.fails(400, LONG)
    return retried(story, later[-1])


def test_what_is_too_long_gets_shorter() -> None:
    long = [user("Hi, " * 50)]
    assert too_long([HI], first=long).kinds("FAULT-10") == ["held"]
    assert too_long([*long, user("Be brief.")], first=long).kinds("FAULT-10") == ["broken"]
    assert asked(long).fails(400, LONG).end("failed").kinds("FAULT-10") == ["held"]
    assert asked(long).fails(400, "bad").end("failed").kinds("FAULT-10") == []


def test_getting_shorter_without_end_is_found() -> None:
    steps = [[user("Hi, " * count)] for count in (50, 49, 48, 47, 46, 45)]
    assert "broken" in too_long(*steps[1:], first=steps[0]).kinds("FAULT-10")


def test_of_two_waits_the_shorter_one_is_asked_for() -> None:
    def level(waits: float, **headers: str) -> list[tuple[str, str | None]]:
        story = asked().fails(429, **headers)
        story.wait(waits)
        return [(one.kind, one.level) for one in retried(story).check("FAULT-1")]

    assert level(0.5, retry_after="1", retry_after_ms="3000") == [("broken", None)]
    assert level(1.0, retry_after="1", retry_after_ms="3000") == [("held", None)]
    assert level(0.2, retry_after="1", retry_after_ms="300") == [("broken", None)]
    assert level(0.0, retry_after="-1") == [("held", None)]


def test_a_timer_may_fire_a_little_early() -> None:
    def kinds(waited: float) -> list[str]:
        story = asked().fails(429, retry_after="10")
        story.wait(waited - 0.02)  # the events beside it take as long
        return retried(story).kinds("FAULT-1")

    assert kinds(9.78) == ["held"]
    assert kinds(9.77) == ["broken"]


def test_a_turn_that_never_ended_leaves_open_what_it_would_have_done() -> None:
    assert asked().fails(429, retry_after="9").kinds("FAULT-1") == []
    assert asked().fails(400).kinds("FAULT-2") == []
    assert asked().fails().kinds("FAULT-3") == []
    assert asked().fails(413).kinds("FAULT-10") == []


def test_what_does_not_invite_a_retry_has_none() -> None:
    assert retried(asked().fails(400), [HI, HI]).kinds("FAULT-3") == []


def test_a_conversation_that_was_made_shorter_after_a_failure_is_no_retry_that_adds() -> None:
    story = looked().fails()

    assert retried(story, LOOKED[1:]).kinds("FAULT-3") == ["held"]


def test_the_rest_of_a_stream_is_asked_for_by_what_came_and_a_message_of_the_users() -> None:
    def kinds(*new: Any, how: str = "error") -> list[tuple[str, str | None]]:
        story = retried(asked().breaks([text("Hello.")], how), [HI, *new])
        return [(one.kind, one.level) for one in story.check("FAULT-3")]

    went_on = [("broken", "SHOULD")]
    assert kinds(assistant([text("Hel")]), user("Go on.")) == went_on
    assert kinds(assistant([text("Hel")])) == went_on
    assert kinds(user("Go on.")) == went_on
    assert kinds(assistant([text("Bye")])) == [("broken", None)]
    assert kinds(assistant([text("Hel")]), assistant([text("Bye")])) == [("broken", None)]
    assert kinds(assistant([thinking("Hel")]), user("Go on.")) == [("broken", None)]


def test_going_on_with_a_stream_against_the_declaration_is_found() -> None:
    declared = asked(policies={"on_broken_stream": "retry"}).breaks([text("Hello.")])
    [finding] = retried(declared, [HI, assistant([text("Hel")]), user("Go on.")]).check("FAULT-3")

    assert (finding.level, finding.advice) == (None, "")


def test_a_tool_that_waited_for_its_turn_is_late_and_not_repeated() -> None:
    story = asked()
    story.reply([call("toolu_1")], "tool_use")
    story.ask([HI, assistant([call("toolu_1")])])
    story.fails()
    story.tool()

    assert retried(story, [HI, assistant([call("toolu_1")])]).kinds("FAULT-3") == ["held"]


def test_a_broken_stream_without_a_call_has_none_to_run() -> None:
    assert asked().breaks([text("Hello.")]).end("failed").kinds("FAULT-6") == []


def test_a_call_that_was_made_whole_before_may_run_late() -> None:
    story = asked()
    story.reply([call("toolu_1")], "tool_use")
    story.ask(LOOKED)
    story.breaks([call("toolu_2")])
    story.tool()

    assert story.end("failed").kinds("FAULT-6") == ["held"]


def test_four_refusals_for_the_length_are_few_enough() -> None:
    steps = [[user("Hi, " * count)] for count in (50, 49, 48, 47, 46)]

    assert too_long(*steps[1:], first=steps[0]).kinds("FAULT-10") == ["held"]


def test_another_model_or_a_wider_window_need_not_get_less() -> None:
    def kinds(**body: Any) -> list[str]:
        story = asked([user("Hi, " * 50)]).fails(400, LONG)
        return retried(story, [user("Hi, " * 60)], **body).kinds("FAULT-10")

    assert kinds() == ["broken"]
    assert kinds(model="wide") == ["held"]
    assert kinds(headers={"anthropic-beta": "context-1m-2025-08-07"}) == ["held"]


def test_the_same_under_another_beta_header_is_another_request() -> None:
    betas = {"headers": {"anthropic-beta": "new-2026-01-01"}}

    assert retried(asked().fails(400), **betas).kinds("FAULT-2") == ["held"]
    assert retried(asked().fails(400), metadata={"user_id": "u"}).kinds("FAULT-2") == ["broken"]


def test_a_request_without_an_answer_is_not_too_long() -> None:
    assert asked().end("failed").kinds("FAULT-10") == []


def test_what_was_sent_before_the_answer_came_is_no_next_attempt() -> None:
    story = asked()
    story.ask([HI])
    story._request = 1
    story.fails(400)
    story._request = 2
    story.reply([text("Hello.")]).end(shown=["Hello."])

    assert story.kinds("FAULT-2") == ["held"]


def test_of_two_waits_that_are_the_same_the_documented_one_is_named() -> None:
    [finding] = retried(asked().fails(429, retry_after="1", retry_after_ms="1000")).check("FAULT-1")

    assert finding.expected.endswith("the answer has `retry-after`.")


def test_a_call_of_the_broken_stream_itself_runs_no_second_time() -> None:
    story = looked().breaks([call("toolu_2", "other")])
    story.tool("other")

    assert retried(story, LOOKED).kinds("FAULT-3") == ["held"]


def test_a_conversation_that_was_summed_up_after_a_failure_repeats_nothing() -> None:
    assert retried(looked().fails(), [user("So far: a look.")]).kinds("FAULT-3") == ["held"]


def test_what_the_server_says_of_itself_is_nothing_for_good() -> None:
    assert retried(asked().fails(500, x_should_retry="false")).kinds("FAULT-2") == []


def test_a_text_that_a_retry_leaves_out_is_not_a_call_that_has_run() -> None:
    story = asked()
    story.reply([text("Hm.")], "pause_turn")
    story.ask([HI, assistant([text("Hm.")])])

    assert retried(story.fails()).kinds("FAULT-3") == ["held"]
