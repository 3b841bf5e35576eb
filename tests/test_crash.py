"""A turn that was played twice, arranged as one."""

from __future__ import annotations

from tests.checks.histories import Story, assistant, call, result, text, user

KEY = "chat:checkpoint:"
ASKED = [user("Hi")]


def test_a_resumed_turn_is_one_turn_with_the_requests_of_both_runs() -> None:
    story = Story().turn().store(KEY)
    story.ask(ASKED)
    story.reply([call("toolu_1")], "tool_use").store(KEY).crash().again().tool()
    story.ask([*ASKED, assistant([call("toolu_1")]), user([result("toolu_1")])])
    (turn,) = story.reply([text("Done.")]).end().run().turns
    assert [one.number for one in turn.rounds] == [1, 2]
    assert turn.ended is not None
    assert turn.crash is not None
    assert [one.number for one in turn.crash.kept] == [1]


def test_a_lost_answer_that_is_asked_for_again_is_one_request() -> None:
    story = Story().turn().store(KEY)
    story.ask(ASKED)
    story.reply([text("Done.")]).crash().again()
    story.ask(ASKED)
    (turn,) = story.reply([text("Done.")]).end().run().turns
    assert [len(one.attempts) for one in turn.rounds] == [2]


def test_lost_tools_and_records_are_taken_out() -> None:
    story = Story().turn().store(KEY)
    story.ask(ASKED)
    story.reply([call("toolu_1")], "tool_use").store(KEY).tool().usage(1).publish(done=True).crash()
    (turn,) = story.again().end().run().turns
    assert (turn.tools, turn.usages, turn.publishes) == ([], [], [])
    assert turn.crash is not None
    assert [tool.name for tool in turn.crash.lost_tools] == ["look"]


def test_without_a_checkpoint_the_turn_is_what_the_new_process_did() -> None:
    story = Story().turn().store(KEY)
    story.ask(ASKED)
    story.reply([text("Done.")]).forget(KEY).report("odd").crash(keys=()).again()
    story.ask(ASKED)
    (turn,) = story.reply([text("Done.")]).end().run().turns
    assert [one.number for one in turn.exchanges] == [2]
    assert turn.began.rerun
    assert turn.reports == []


def test_a_turn_nobody_plays_again_keeps_what_it_had() -> None:
    story = Story().turn().store(KEY)
    story.ask(ASKED)
    first, second = story.reply([text("Done.")]).store(KEY).crash().turn("And now?").end().run().turns
    assert first.ended is None
    assert [one.whole for one in first.exchanges] == [True]
    assert second.crash is None
