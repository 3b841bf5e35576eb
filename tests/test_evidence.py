"""A history arranged: rounds and retries, what was shown, marks, limits, and what a turn left."""

from __future__ import annotations

import pytest

from harness.arrange import EvidenceError, arrange
from harness.history import Finished
from tests.checks.histories import Story, assistant, call, server_call, text, thinking, user

HI = user("Hi")


def asked(**story: object) -> Story:
    told = Story(**story)
    told.turn()
    told.ask([HI])
    return told


def test_an_exchange_has_its_request_its_answer_and_its_times() -> None:
    story = asked()
    story.reply([thinking(), text("A"), call("toolu_1"), server_call("srvtoolu_1")], "tool_use")
    [turn] = story.end().run().turns
    [one] = turn.rounds

    assert (one.number, one.kind, one.whole, one.stop_reason) == (1, "reply", True, "tool_use")
    assert [block["type"] for block in one.content] == ["thinking", "text", "tool_use", "server_tool_use"]
    assert [block["id"] for block in one.calls] == ["toolu_1"]
    assert [block["id"] for block in one.server_calls] == ["srvtoolu_1"]
    assert one.texts == ["A"]
    assert one.answered_at is not None
    assert one.seen.at < one.answered_at


def test_a_reply_that_broke_off_has_no_stop_reason() -> None:
    [turn] = asked().reply([text("A")], whole=False).end().run().turns

    assert turn.rounds[0].stop_reason is None
    assert turn.rounds[0].content == [text("A")]
    assert turn.last_reply is None


def test_retries_are_one_round_with_the_last_attempt() -> None:
    story = asked()
    story.answer("fault", 529)
    story.ask([HI], retry=1)
    story.answer("fault", 500)
    story.ask([HI], retry=2)
    story.reply([text("A")])
    [turn] = story.end().run().turns

    assert [one.number for one in turn.rounds] == [3]
    assert [one.number for one in turn.rounds[0].attempts] == [1, 2, 3]
    assert len(turn.exchanges) == 3
    assert turn.rounds[0].first_at == turn.exchanges[0].seen.at


@pytest.mark.parametrize(
    ("status", "headers", "rounds"),
    [
        (529, {}, 1),
        (429, {}, 1),
        (408, {}, 1),
        (0, {}, 1),
        (400, {}, 2),
        (529, {"x-should-retry": "false"}, 2),
        (400, {"x-should-retry": "true"}, 1),
    ],
)
def test_the_same_body_is_a_retry_after_an_error_that_invites_one(
    status: int, headers: dict[str, str], rounds: int
) -> None:
    story = asked()
    story.answer("fault", status, headers=headers)
    story.ask([HI])
    story.reply([text("A")])

    assert len(story.end().run().turns[0].rounds) == rounds


def test_the_same_body_after_a_reply_is_a_new_request() -> None:
    story = asked()
    story.reply([text("A")])
    story.ask([HI])
    story.reply([text("A")])

    assert len(story.end().run().turns[0].rounds) == 2


def test_a_broken_stream_asked_for_again_is_a_retry_even_with_other_parameters() -> None:
    story = asked()
    story.reply([text("A")], whole=False)
    story.ask([HI], metadata={"attempt": 2})
    story.reply([text("A")])

    assert len(story.end().run().turns[0].rounds) == 1


def test_side_calls_are_kept_apart() -> None:
    story = asked()
    story.reply([text("A")])
    story.ask([user("A title, please")], lane="side")
    story.answer("side", 200)
    [turn] = story.end().run().turns

    assert [one.number for one in turn.rounds] == [1]
    assert [one.number for one in turn.side] == [2]


def test_rounds_are_chained_within_their_turn() -> None:
    story = asked()
    story.reply([call("toolu_1")], "tool_use")
    story.tool()
    story.ask([HI, assistant([call("toolu_1")])])
    story.reply([text("A")]).end()
    story.turn("More")
    story.ask([user("More")])
    first, second = story.reply([text("B")]).end().run().turns

    assert first.rounds[0].next is first.rounds[1]
    assert first.rounds[1].previous is first.rounds[0]
    assert first.rounds[1].next is None
    assert first.following is second
    assert second.following is None


def test_tool_runs_belong_to_the_reply_before_them() -> None:
    story = asked()
    story.reply([call("toolu_1")], "tool_use").tool(value={"n": 1})
    story.ask([HI, assistant([call("toolu_1")])])
    story.reply([call("toolu_2")], "tool_use").tool(value={"n": 2}).tool(error="no")
    [turn] = story.end().run().turns

    assert [one.started.input for one in turn.called(turn.rounds[0])] == [{"n": 1}]
    assert [one.failed for one in turn.called(turn.rounds[1])] == [False, True]


def test_a_transcript_is_the_threads_where_there_is_one() -> None:
    story = Story()
    story.turn()
    story.ask([user("More")], thread={"type": "continue"}, transcript=[HI, assistant("A"), user("More")])
    one = story.reply([text("B")]).end().run().turns[0].rounds[0]

    assert len(one.transcript) == 3
    assert one.threaded


def test_what_was_shown_is_the_outcomes_else_the_last_state() -> None:
    told = asked().publish("Working.").publish("A", "B").end(shown=["C"]).run().turns[0]
    published = asked().publish("Working.").publish("A", "B").end().run().turns[0]

    assert [one.text for one in told.shown or []] == ["C"]
    assert [one.text for one in published.shown or []] == ["A", "B"]


def test_what_the_user_said_and_what_earlier_turns_showed_is_not_shown_again() -> None:
    story = asked()
    story.publish({"role": "user", "content": "Hi"}, {"role": "assistant", "content": "A"}).end()
    story.turn("More")
    story.publish(
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "A"},
        {"role": "user", "content": "More"},
        {"role": "assistant", "content": [text("B"), text("C")]},
    ).end()
    first, second = story.run().turns

    assert [one.text for one in first.shown or []] == ["A"]
    assert [one.text for one in second.shown or []] == ["B\n\nC"]


def test_a_loop_that_shows_and_left_it_out_showed_nothing() -> None:
    assert asked(exposes=("shown",)).returns(None).run().turns[0].shown == []
    assert asked(exposes=("status",)).end().run().turns[0].shown is None


def marked(story: Story) -> bool | None:
    return story.run().turns[0].error_mark


def test_an_error_mark_is_a_status_a_flag_an_exception_or_words_of_the_loops_own() -> None:
    def cut() -> Story:
        return asked().reply([text("Half an answ")], "max_tokens")

    assert marked(cut().end("truncated", shown=["Half an answ"])) is True
    assert marked(cut().raises()) is True
    assert marked(cut().end(None, shown=[{"content": "Half an answ", "is_error": True}])) is True
    assert marked(cut().publish("Half an answ", has_error=True).end(None)) is True
    assert marked(cut().returns("Half an answ\n\n[cut off]")) is True
    assert marked(cut().returns("Half an answ")) is False
    assert marked(cut().end("completed", shown=["Half an answ"])) is False


def test_a_mark_cannot_be_told_of_a_loop_that_tells_nothing() -> None:
    story = asked(exposes=()).reply([text("Half")], "max_tokens")

    assert marked(story.returns(None)) is None


def test_what_tools_and_streams_said_are_no_words_of_the_loops_own() -> None:
    story = asked()
    story.reply([text("Looking it up now.")], whole=False)
    story.ask([HI])
    story.reply([text("First."), call("toolu_1")], "tool_use").tool(result="42 degrees")

    assert marked(story.returns("Looking it\nFirst.\n> 42 degrees\n---")) is False


def test_an_exception_stands_for_what_is_declared_by_its_class_or_a_base() -> None:
    declared = {"raises": {"TurnError": "truncated"}}
    turn = asked(**declared).raises("CutOff", bases=("TurnError", "Exception")).run().turns[0]

    assert (turn.status, turn.declared_status) == ("truncated", "truncated")
    assert asked().raises().run().turns[0].status == "failed"


def test_an_interrupt_of_a_cancelled_turn_is_a_cancellation() -> None:
    assert asked().cancel().raises("CancelledError").run().turns[0].status == "cancelled"
    assert asked().raises("CancelledError").run().turns[0].status == "failed"


def test_limits_count_where_the_loop_takes_them_and_declared_ones_always() -> None:
    def caps(**story: object) -> float | None:
        told = Story(**story)
        told.turn(max_iterations=3)
        return told.run().turns[0].caps.iterations

    assert caps(exposes=("iterations",)) == 3
    assert caps(exposes=()) is None
    assert caps(exposes=("iterations",), caps={"iterations": 10}) == 10


def test_what_a_turn_leaves_is_the_outcomes_history_else_the_last_published() -> None:
    told = asked().publish(history=[HI]).end(history=[HI, assistant("A")]).run().turns[0]
    published = asked().publish(history=[HI]).publish().end().run().turns[0]

    assert told.left_history == [HI, assistant("A")]
    assert published.left_history == [HI]


def test_hooks_of_a_turn_are_arranged_by_kind() -> None:
    story = asked()
    story.store("chat:checkpoint:1").report("no", "ValueError").usage(1, input_tokens=2).cancel()
    story.forget("chat:checkpoint:1").noted("late")
    turn = story.end().run().turns[0]

    assert [one.problem for one in turn.reports] == ["no"]
    assert [one.tokens for one in turn.usages] == [{"input_tokens": 2}]
    assert len(turn.store) == 2
    assert turn.cancelled_at == turn.cancels[0].at
    assert [one.kind for one in turn.notes] == ["late"]


def test_the_slack_grows_with_the_machines_lateness() -> None:
    assert arrange(asked().finish(lateness=0.5)).slack == pytest.approx(0.75)


def test_events_without_a_beginning_are_no_evidence() -> None:
    with pytest.raises(EvidenceError, match="began"):
        arrange([Finished()])


def test_a_scenario_that_cannot_be_read_is_no_evidence() -> None:
    story = Story(turns=[{"what": 1}])

    with pytest.raises(EvidenceError, match="cannot be read"):
        story.run()


def test_a_string_is_what_its_own_turn_said_also_where_an_earlier_one_said_the_same() -> None:
    story = Story()
    for _ in range(2):
        story.turn()
        story.returns("The model declined.")
    assert [[one.text for one in turn.shown or []] for turn in story.run().turns] == [
        ["The model declined."]
    ] * 2
