"""SHOW on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, call, result, server_call, text, thinking, user

HI = user("Hi")
CALLING = [text("Let me look."), call("toolu_1")]
ANSWER = [text("Two were found."), text("Both are red.")]


def tool_turn(
    answer: list[dict] | None = None, *, activity: object = "Looking", story: Story | None = None
) -> Story:
    story = story or Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLING, "tool_use")
    story.publish(activity=activity)
    story.tool(result="2 hits: a7, b9")
    story.ask([HI, assistant(CALLING), user([result("toolu_1", "2 hits: a7, b9")])])
    return story.reply(ANSWER if answer is None else answer)


@pytest.mark.parametrize("clause", ["SHOW-1", "SHOW-2", "SHOW-3", "SHOW-4", "SHOW-6"])
def test_a_run_in_which_nothing_happened_says_nothing(clause: str) -> None:
    assert Story().check(clause) == []


@pytest.mark.parametrize(
    "shown",
    [
        ["Two were found.\n\nBoth are red."],
        ["Let me look.", "Two were found.", "Both are red."],
        ["Let me look. Two were found. Both  are red."],
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": ANSWER}],
        [{"role": "tool", "content": "2 hits: a7, b9"}, "Two were found.Both are red."],
    ],
)
@pytest.mark.parametrize("clause", ["SHOW-1", "SHOW-3", "SHOW-6"])
def test_the_whole_answer_in_any_form_holds(clause: str, shown: list) -> None:
    assert tool_turn().end(shown=shown).kinds(clause) == ["held"]


@pytest.mark.parametrize("shown", ["Two were found.", "Both are red.\nTwo were found.", "Let me look."])
def test_a_text_left_out_or_out_of_order_is_found(shown: str) -> None:
    [finding] = tool_turn().returns(shown).check("SHOW-1")

    assert (finding.kind, finding.evidence) == ("broken", "outcome")


def test_the_last_published_state_is_what_was_shown_where_the_outcome_does_not_say() -> None:
    story = tool_turn()
    story.publish({"role": "assistant", "content": "Two were found."}, done=True)
    [finding] = story.end(shown=None).check("SHOW-1")

    assert (finding.kind, finding.evidence) == ("broken", "hook")


@pytest.mark.parametrize("stop", ["refusal", "max_tokens", "pause_turn"])
def test_only_a_reply_that_ended_the_turn_is_an_answer(stop: str) -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("Half")], stop)
    story.end("failed", shown=[])

    assert story.check("SHOW-1") == []
    assert story.check("SHOW-6") == []


def test_an_answer_thrown_away_by_a_cancellation_is_no_fault() -> None:
    assert tool_turn().cancel().end("cancelled", shown=[]).check("SHOW-1") == []


HALF, WHOLE = "Red, yellow and blue.", "They are red, yellow, blue."


def tried_again(then: str = "Hi") -> Story:
    """A stream that breaks off, and another request after it."""
    story = Story()
    story.turn()
    story.ask([HI])
    story.answered([text(HALF)]).breaks("provider", events=3)
    story.ask([user(then)])
    return story.reply([text(WHOLE)])


def test_what_came_of_a_stream_that_broke_off_does_not_stand_beside_the_reply() -> None:
    [glued] = tried_again().returns("Red, yellow and" + WHOLE).check("SHOW-3")
    [apart] = tried_again().end(shown=["Red, yellow and", WHOLE]).check("SHOW-3")
    [again] = tried_again().end(shown=[WHOLE]).check("SHOW-3")

    assert (glued.kind, glued.level, glued.request) == ("broken", None, 2)
    assert (apart.kind, apart.level) == ("broken", "SHOULD")
    assert again.kind == "held"


def test_a_part_that_is_marked_or_gone_on_from_may_stand() -> None:
    marked = [{"content": "Red, yellow and", "is_error": True}, WHOLE]

    assert tried_again().end(shown=marked).kinds("SHOW-3") == ["held"]
    assert tried_again().returns(f"Red, yellow and (lost; once more:) {WHOLE}").kinds("SHOW-3") == ["held"]
    assert tried_again("Go on.").returns("Red, yellow and" + WHOLE).kinds("SHOW-3") == ["held"]
    assert tried_again().end("failed", shown=["Red, yellow and", WHOLE]).kinds("SHOW-3") == ["held"]


def test_a_loop_that_shows_nothing_to_us_is_not_judged() -> None:
    assert tool_turn(story=Story(exposes=("status",))).end(shown=None).check("SHOW-3") == []


@pytest.mark.parametrize("blank", ["", " \n", {"role": "assistant", "content": []}, [text("")]])
def test_a_blank_bubble_is_found(blank: object) -> None:
    shown = [blank, "Two were found. Both are red."]
    story = tool_turn()
    story.ask([HI])
    story.reply([call("toolu_9")], "tool_use")

    assert story.end("capped", shown=shown).kinds("SHOW-2") == ["broken"]


def silent(content: list[dict]) -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    return story.reply(content)


@pytest.mark.parametrize("content", [[], [thinking()], [text(" ")]])
def test_nothing_shown_for_a_reply_without_text_holds(content: list[dict]) -> None:
    assert silent(content).end(shown=[]).kinds("SHOW-2") == ["held"]
    assert silent(content).end(shown=[""]).kinds("SHOW-2") == ["broken"]


def test_a_returned_empty_string_is_no_bubble() -> None:
    assert silent([]).returns("").check("SHOW-2") == []


def test_a_card_without_text_is_not_blank() -> None:
    shown = [{"role": "assistant", "content": [call("toolu_1")]}]

    assert silent([thinking()]).end(shown=shown).kinds("SHOW-2") == ["held"]


def test_text_shown_twice_is_found() -> None:
    [finding] = tool_turn().end(shown=["Two were found.", "Two were found.\n\nBoth are red."]).check("SHOW-3")

    assert finding.kind == "broken"
    assert "2 times" in finding.happened


def test_text_the_model_said_twice_may_be_shown_twice() -> None:
    story = tool_turn([text("Let me look.")])

    assert story.end(shown=["Let me look.", "Let me look."]).kinds("SHOW-3") == ["held"]


def test_a_text_that_is_part_of_another_is_not_shown_twice() -> None:
    story = tool_turn([text("Found."), text("Found. Really.")])

    assert story.end(shown=["Found.\nFound. Really."]).kinds("SHOW-3") == ["held"]


def test_what_earlier_turns_showed_is_not_shown_again() -> None:
    story = tool_turn()
    story.end(shown=["Two were found.", "Both are red."])
    story.turn("More")
    story.ask([user("More")])
    story.reply([text("That is all.")])
    story.end(shown=["Two were found.", "Both are red.", "That is all."])

    assert story.kinds("SHOW-3") == ["held"]
    assert story.kinds("SHOW-1") == ["held"]


def test_activity_between_a_call_and_the_next_request_holds() -> None:
    assert tool_turn().end().kinds("SHOW-4") == ["held"]


def test_activity_that_was_set_before_and_stays_holds() -> None:
    story = Story()
    story.turn()
    story.publish(activity="Working")
    story.ask([HI])
    story.reply([server_call("srvtoolu_1")], "pause_turn")
    story.ask([HI, assistant([server_call("srvtoolu_1")])])

    assert story.reply([text("Done.")]).end().kinds("SHOW-4") == ["held"]


@pytest.mark.parametrize("activity", [None, "", []])
def test_activity_left_empty_while_a_tool_runs_is_found(activity: object) -> None:
    [finding] = tool_turn(activity=activity).end().check("SHOW-4")

    assert (finding.kind, finding.evidence) == ("broken", "hook")


def test_a_loop_whose_state_has_no_activity_is_not_judged() -> None:
    story = tool_turn()
    for event in story.events:
        getattr(event, "state", {}).pop("activity", None)

    assert story.end().check("SHOW-4") == []


@pytest.mark.parametrize(
    "shown", ["Let me look.", "2 hits: a7, b9", "Two were found. Both are red. Let me look."]
)
def test_an_earlier_text_or_a_tools_output_as_the_answer_is_found(shown: str) -> None:
    assert tool_turn().returns(shown).kinds("SHOW-6") == ["broken"]


def test_an_empty_last_reply_leaves_the_earlier_text_as_it_is() -> None:
    assert tool_turn([]).returns("Let me look.").check("SHOW-6") == []


def test_a_reply_that_calls_and_yet_ends_may_be_taken_for_no_answer() -> None:
    def ended(status: str) -> list[str]:
        story = Story()
        story.turn()
        story.ask([user("Hi")])
        return story.reply([text("So."), call("toolu_1")]).end(status, shown=["No."]).kinds("SHOW-1")

    assert ended("failed") == []
    assert ended("completed") == ["broken"]


def test_only_a_state_of_that_time_says_what_was_going_on() -> None:
    def kinds(*, before: str, between: str | None) -> list[str]:
        story = Story()
        story.turn()
        story.publish(activity=before)
        story.ask([HI])
        story.reply(CALLING, "tool_use")
        if between is not None:
            story.publish(activity=between)
        story.ask([HI, assistant(CALLING), user([result("toolu_1")])])
        return story.publish(activity="Late").reply(ANSWER).end().kinds("SHOW-4")

    assert kinds(before="Working", between=None) == ["held"]
    assert kinds(before="Working", between="") == ["broken"]
    assert kinds(before="", between=None) == ["broken"]
    assert kinds(before="", between="Looking") == ["held"]


def test_a_turn_that_ran_out_of_time_may_have_thrown_its_answer_away() -> None:
    for status in ("capped", "cancelled"):
        assert tool_turn().end(status, shown=[]).check("SHOW-1") == []
    assert tool_turn().end("failed", shown=[]).kinds("SHOW-1") == ["broken"]


def test_an_answer_at_the_very_beginning_is_shown() -> None:
    assert tool_turn([text("Two were found.")]).end(shown=["Two were found."]).kinds("SHOW-6") == ["held"]


def test_something_else_in_place_of_the_answer_is_found() -> None:
    assert tool_turn().end(shown=["Something else."]).kinds("SHOW-6") == ["broken"]
    assert tool_turn().end(shown=[]).check("SHOW-6") == []


def test_an_error_of_a_tool_that_stands_behind_the_answer_is_found() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLING, "tool_use").tool(error="disk full")
    story.ask([HI, assistant(CALLING), user([result("toolu_1", "disk full", is_error=True)])])
    [finding] = story.reply(ANSWER).end(shown=["Two were found. Both are red. disk full"]).check("SHOW-6")

    assert finding.happened == "What was shown ends with: disk full"


def test_what_was_going_on_before_the_answer_came_is_over_where_the_state_says_so() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.publish(activity="Waiting").reply(CALLING, "tool_use").publish(activity="")
    story.ask([HI, assistant(CALLING), user([result("toolu_1")])])

    assert story.reply(ANSWER).end().kinds("SHOW-4") == ["broken"]


def test_of_two_calls_the_first_is_named() -> None:
    story = Story()
    story.turn()
    story.publish(activity="").ask([HI])
    story.reply([call("toolu_1"), call("toolu_2", "other")], "tool_use")
    story.ask([HI, user("And?")])
    [finding] = story.reply(ANSWER).end().check("SHOW-4")

    assert "which calls look," in finding.expected
