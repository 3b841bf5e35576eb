"""BOUND on histories written by hand."""

from __future__ import annotations

import pytest

from harness.judge import judge
from tests.checks.histories import Story, assistant, call, text, thinking, user

HI = user("Hi")


def asked(**limits: float) -> Story:
    story = Story()
    story.turn(**limits)
    story.ask([HI])
    return story


def test_a_turn_that_returns_holds() -> None:
    assert asked().reply([text("Hello.")]).end().kinds("BOUND-1") == ["held"]


def test_a_turn_that_never_ends_is_found() -> None:
    [finding] = asked().reply([text("Hello.")]).overran(10.0).check("BOUND-1")

    assert finding.kind == "broken"
    assert "10 s" in finding.happened


def test_a_late_machine_leaves_it_open() -> None:
    verdict = judge(asked().reply([text("Hello.")]).overran().finish(lateness=3.0))

    assert [one.grade for one in verdict.checks if one.clause == "BOUND-1"] == ["inconclusive"]


def test_a_tool_that_hangs_is_judged_elsewhere() -> None:
    def hanging(**limits: float) -> list[str]:
        story = asked(**limits).reply([call("toolu_1")], "tool_use")
        return story.tool(ends=False).wait(9.0).overran().kinds("BOUND-1")

    assert hanging() == ["unclear"]
    assert hanging(wall_clock=1.0) == ["unclear"]


def test_a_loop_that_asks_without_end_waits_for_nobody() -> None:
    story = asked()
    for _ in range(50):
        story.reply([call("toolu_1")], "tool_use").wait(0.1)
        story.ask([HI, assistant([call("toolu_1")])])

    assert story.overran().kinds("BOUND-1") == ["broken"]


def test_a_crash_where_the_model_was_done_is_found() -> None:
    [finding] = asked().reply([text("Hello.")]).raises("TypeError", "no").check("BOUND-1")

    assert finding.kind == "broken"
    assert "TypeError: no" in finding.happened


def test_an_exception_where_something_was_in_the_way_is_an_outcome() -> None:
    assert asked().reply([text("Half")], "max_tokens").raises().kinds("BOUND-1") == ["held"]
    assert asked().answer("rejected").raises().kinds("BOUND-1") == ["held"]
    assert asked().reply([text("Hello.")]).cancel().raises().kinds("BOUND-1") == ["held"]
    assert asked(wall_clock=0.001).reply([text("A")]).raises().kinds("BOUND-1") == ["held"]
    failed = asked().reply([call("toolu_1")], "tool_use").tool(error="no")
    failed.ask([HI, assistant([call("toolu_1")])])
    assert failed.reply([text("Sorry.")]).raises().kinds("BOUND-1") == ["held"]


def test_an_exception_for_a_reply_that_is_no_answer_may_be_meant() -> None:
    for content in ([thinking()], [text("I would."), call("toolu_1")], [thinking(), text(" ")]):
        [meant] = asked().reply(content).raises().check("BOUND-1")
        [slip] = asked().reply(content).raises("KeyError", bases=("LookupError",)).check("BOUND-1")

        assert (meant.level, slip.level) == ("SHOULD", None)
        assert "raises: {RuntimeError: failed}" in meant.advice
        assert "declare" not in slip.advice
    for content in ([], [text("Hello."), thinking()]):
        [crash] = asked().reply(content).raises().check("BOUND-1")
        assert crash.level is None


def test_an_exception_of_a_hook_that_was_made_to_fail_is_judged_elsewhere() -> None:
    story = asked().reply([text("Hello.")]).noted("hook", "usage").raises()

    assert story.kinds("BOUND-1") == ["held"]


def test_an_answer_that_is_still_to_come_is_waited_for() -> None:
    def kinds(story: Story, seconds: float = 9.0) -> list[str]:
        return story.wait(seconds).overran().kinds("BOUND-1")

    assert kinds(asked()) == ["unclear"]
    assert kinds(asked().answered([text("Hello.")])) == ["unclear"]
    assert kinds(asked().answered([text("Hello.")]).breaks("provider")) == ["broken"]
    assert kinds(asked().answered([text("Hello.")]).delivered()) == ["broken"]
    assert kinds(asked(), 0.5) == ["broken"]
    assert kinds(asked(wall_clock=1.0)) == ["broken"]
    silent = asked().answered([text("Hello.")]).breaks("provider")
    silent.events[-1].how = "silence"  # type: ignore[union-attr]
    assert kinds(silent) == ["unclear"]


@pytest.mark.parametrize(("late", "grade"), [(0.9, "fail"), (1.1, "inconclusive")])
def test_a_second_of_lateness_is_too_much(late: float, grade: str) -> None:
    verdict = judge(asked().reply([text("Hello.")]).overran().finish(lateness=late))

    assert [one.grade for one in verdict.checks if one.clause == "BOUND-1"] == [grade]


def test_a_tool_that_was_begun_a_moment_ago_does_not_hang() -> None:
    story = asked().wait(3.0).reply([call("toolu_1")], "tool_use").tool(ends=False)

    assert story.wait(0.9).overran().kinds("BOUND-1") == ["broken"]


def test_a_tool_that_takes_more_than_a_second_hangs() -> None:
    story = asked().wait(3.0).reply([call("toolu_1")], "tool_use").tool(ends=False)

    assert story.wait(1.1).overran().kinds("BOUND-1") == ["unclear"]


def test_a_turn_without_a_request_that_never_ends_is_found() -> None:
    [finding] = Story().turn().overran().check("BOUND-1")

    assert "It had made 0 requests; it made none." in finding.happened


def test_of_two_tools_that_hang_the_first_is_named() -> None:
    story = asked().reply([call("toolu_1"), call("toolu_2", "other")], "tool_use")
    [finding] = story.tool(ends=False).tool("other", ends=False).wait(9.0).overran().check("BOUND-1")

    assert finding.happened.startswith("the tool look was still running")


def test_a_limit_that_the_loop_may_not_take_or_that_is_its_own_was_in_the_way() -> None:
    given = Story(exposes=("status",))
    given.turn(wall_clock=0.001)
    own = Story(caps={"wall_clock": 0.001})
    own.turn()
    for story in (given, own):
        story.ask([HI])
        assert story.reply([text("Hello.")]).raises().kinds("BOUND-1") == ["held"]


def test_a_budget_is_counted_from_the_beginning_of_its_turn() -> None:
    story = Story().wait(10.0)
    story.turn(wall_clock=5.0)
    story.ask([HI])

    assert story.reply([text("Hello.")]).raises().kinds("BOUND-1") == ["broken"]
