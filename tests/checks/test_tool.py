"""TOOL-1 to TOOL-3 on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, call, result, text, user
from tests.checks.tools import FIRST, HI, ONE, RIGHT, SECOND, TOOLS, TWO, answered, calling, levels


@pytest.mark.parametrize("clause", ["TOOL-1", "TOOL-2", "TOOL-3"])
def test_calls_answered_as_documented_hold(clause: str) -> None:
    assert answered(RIGHT).kinds(clause) == ["held"]


def test_a_turn_that_ends_on_a_tool_call_is_found() -> None:
    [finding] = calling(ONE).end().check("TOOL-1")

    assert finding.kind == "broken"
    assert "look" in finding.expected


def test_a_request_without_any_result_is_found() -> None:
    assert answered(user("Go on.")).kinds("TOOL-1") == ["broken"]


def test_a_cancelled_or_capped_turn_needs_no_further_request() -> None:
    assert calling(ONE).cancel().end("cancelled").check("TOOL-1") == []
    assert calling(ONE, max_iterations=1).end("capped").check("TOOL-1") == []


def test_a_turn_that_a_failing_tool_ended_is_left_to_its_own_clause() -> None:
    story = calling(ONE).tool("look", {"n": 1}, error="disk full")

    assert story.end("failed").kinds("TOOL-1") == ["unclear"]


def test_one_result_of_two_is_found() -> None:
    [finding] = answered(user([FIRST])).check("TOOL-2")

    assert finding.kind == "broken"
    assert "toolu_2" in finding.expected


def test_a_result_under_an_id_nobody_called_is_found() -> None:
    story = calling(ONE)
    story.ask([HI, assistant([ONE]), user([result("toolu_9")])], tools=TOOLS)
    [finding] = story.answer("rejected").end("failed").check("TOOL-2")

    assert finding.kind == "broken"
    assert "no result for toolu_1, but one for toolu_9" in finding.happened


def test_a_connection_refused_after_the_calls_leaves_open_whether_the_turn_went_on() -> None:
    refused = {"fault": {"connection": "refuse", "seconds": 0.1}}

    def called() -> Story:
        story = Story(turns=[{"prompt": "Hi", "script": [{"reply": {"content": []}}, refused]}])
        story.turn()
        story.ask([HI], tools=TOOLS)
        return story.answer("reply", 200, body={"content": [ONE], "stop_reason": "tool_use"}, step=0)

    assert called().raises("URLError").kinds("TOOL-1") == ["unclear"]
    assert called().end().kinds("TOOL-1") == ["broken"]


def test_two_results_for_one_call_are_found() -> None:
    assert answered(user([FIRST, SECOND, SECOND])).kinds("TOOL-2") == ["broken"]


def test_a_result_that_comes_a_message_too_late_is_found() -> None:
    story = answered(user([FIRST]), assistant("Well."), user([SECOND]))

    assert story.kinds("TOOL-2") == ["broken"]


def test_results_in_several_messages_are_one_message_to_the_api() -> None:
    story = answered(user([FIRST]), user([SECOND]))

    assert story.kinds("TOOL-2") == ["held"]
    assert levels(story.check("TOOL-3")) == {("broken", "SHOULD")}


def test_results_in_another_order_should_not_be() -> None:
    assert levels(answered(user([SECOND, FIRST])).check("TOOL-3")) == {("broken", "SHOULD")}


def test_text_before_the_results_is_found() -> None:
    [finding] = answered(user([text("Here:"), FIRST, SECOND])).check("TOOL-3")

    assert (finding.kind, finding.level) == ("broken", None)


def test_text_after_the_results_is_allowed() -> None:
    assert answered(user([FIRST, SECOND, text("Go on.")])).kinds("TOOL-3") == ["held"]


def test_swapped_results_are_found() -> None:
    swapped = user([result("toolu_1", "second result"), result("toolu_2", "first result")])
    findings = answered(swapped).check("TOOL-3")

    assert levels(findings) == {("broken", None)}
    assert "that of toolu_2" in findings[0].happened


def test_a_result_that_lost_what_the_tool_returned_is_found() -> None:
    assert levels(answered(user([result("toolu_1", ""), SECOND])).check("TOOL-3")) == {("broken", None)}


@pytest.mark.parametrize(
    "form",
    ["first result", [text("first result")], '{"output": "first result"}', "Result:\n  first   result\n"],
)
def test_a_result_may_be_wrapped(form: object) -> None:
    assert answered(user([result("toolu_1", form), SECOND])).kinds("TOOL-3") == ["held"]


PICTURE = {"type": "image", "source": {"type": "url", "url": "https://example.com/1.png"}}
SMALLER = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}


def pictured(sent: object, *behind: dict) -> Story:
    """A tool that returned two words and a picture, and what went back."""
    story = calling(ONE).tool("look", {"n": 1}, result=[text("At noon:"), PICTURE])
    story.ask([HI, assistant([ONE]), user([result("toolu_1", sent), *behind])], tools=TOOLS)
    return story.reply([text("Done.")]).end()


@pytest.mark.parametrize("sent", ["At noon:", [text("At noon:")], f"[{text('At noon:')}, {PICTURE}]"])
def test_a_picture_that_did_not_go_back_is_found(sent: object) -> None:
    [finding] = pictured(sent).check("TOOL-3")

    assert (finding.kind, finding.level) == ("broken", None)
    assert "has no `image` in the result (messages[2].content[0])" in finding.happened


def test_a_picture_may_go_back_in_another_size_or_behind_the_results() -> None:
    assert pictured([text("At noon:"), SMALLER]).kinds("TOOL-3") == ["held"]
    assert pictured("At noon:", PICTURE).kinds("TOOL-3") == ["held"]


def test_results_are_not_compared_where_the_tools_are_the_loops_own() -> None:
    swapped = user([result("toolu_1", "second result"), result("toolu_2", "first result")])

    assert answered(swapped, runs=False, story=Story(exposes=("status",))).kinds("TOOL-3") == ["held"]


def test_a_call_that_succeeded_should_not_be_marked_as_failed() -> None:
    marked = result("toolu_1", "first result", is_error=True)

    assert levels(answered(user([marked, SECOND])).check("TOOL-3")) == {("broken", "SHOULD")}


def test_a_result_without_words_may_be_taken_for_a_failure() -> None:
    story = calling(ONE).tool("look", {"n": 1}, result="")
    story.ask([HI, assistant([ONE]), user([result("toolu_1", "nothing", is_error=True)])], tools=TOOLS)

    assert story.reply([text("Done.")]).end().kinds("TOOL-3") == ["held"]


def left_running(**limits: float) -> Story:
    """A call that is answered while its tool is at work."""
    story = calling(ONE, **limits).tool("look", {"n": 1}, ends=False)
    story.ask([HI, assistant([ONE]), user([result("toolu_1", "It runs.")])], tools=TOOLS)
    return story


def test_a_tool_should_be_waited_for_where_nothing_limits_its_time() -> None:
    story = left_running().ends_tool().reply([text("Done.")]).end()

    assert levels(story.check("TOOL-3")) == {("broken", "SHOULD")}


def test_a_tool_may_be_left_behind_where_time_is_limited_or_the_turn_cancelled() -> None:
    assert left_running(wall_clock=0.5).reply([text("Done.")]).end().kinds("TOOL-3") == ["held"]
    assert left_running().cancel().reply([text("Done.")]).end().kinds("TOOL-3") == ["held"]


def test_a_stop_for_tools_that_calls_none_is_judged_elsewhere() -> None:
    assert calling().end("failed").check("TOOL-1") == []


def test_what_a_turn_without_an_outcome_would_have_done_is_open() -> None:
    assert calling(ONE).kinds("TOOL-1") == ["unclear"]


def test_a_tool_that_does_not_exist_may_end_the_turn_by_its_own_clause() -> None:
    assert calling(call("toolu_1", "nope")).end("failed").kinds("TOOL-1") == ["unclear"]
    assert calling(call("toolu_1", "nope")).report("no such tool").end().kinds("TOOL-1") == ["unclear"]
    assert calling(call("toolu_1", "nope")).end(shown=[]).kinds("TOOL-1") == ["broken"]


def test_ids_that_repeat_are_the_scripts_own_doing() -> None:
    twin = {**TWO, "id": "toolu_1"}
    story = calling(ONE, twin)
    story.ask([HI, assistant([ONE, twin]), user([FIRST])], tools=TOOLS)

    assert story.reply([text("Done.")]).end().check("TOOL-2") == []


def test_a_request_without_results_is_judged_once() -> None:
    for clause in ("TOOL-2", "TOOL-3"):
        assert answered(user("Go on.")).check(clause) == []


LONG = "A long text. " * 20


@pytest.mark.parametrize(
    ("returned", "sent", "kind"),
    [
        (LONG, "A summary.", "unclear"),
        (LONG, "", "broken"),
        (LONG[:200], "A summary.", "broken"),
        (LONG[:201], "A summary.", "unclear"),
        ("short", "Something else.", "broken"),
    ],
)
def test_a_long_result_may_go_back_in_a_shorter_form(returned: str, sent: str, kind: str) -> None:
    story = calling(ONE).tool("look", {"n": 1}, result=returned)
    story.ask([HI, assistant([ONE]), user([result("toolu_1", sent)])], tools=TOOLS)

    assert story.reply([text("Done.")]).end().kinds("TOOL-3") == [kind]


def test_a_long_result_that_is_anothers_or_marked_as_failed_is_no_shorter_form() -> None:
    def kinds(**more: object) -> list[str]:
        story = calling(ONE, TWO).tool("look", {"n": 1}, result=LONG).tool("other", {"n": 2}, result="b" * 9)
        back = user([result("toolu_1", "b" * 9, **more), result("toolu_2", "b" * 9)])
        story.ask([HI, assistant([ONE, TWO]), back], tools=TOOLS)
        return [one.kind for one in story.reply([text("Done.")]).end().check("TOOL-3")]

    assert kinds() == ["broken"]
    assert kinds(is_error=True) == ["broken"]


def test_a_tool_that_took_its_time_was_waited_for_long_enough() -> None:
    story = calling(ONE).tool("look", {"n": 1}, ends=False).wait(1.0)
    story.ask([HI, assistant([ONE]), user([result("toolu_1", "It runs.")])], tools=TOOLS)

    assert story.reply([text("Done.")]).end().kinds("TOOL-3") == ["held"]


def test_json_of_a_text_beyond_ascii_carries_it_either_way() -> None:
    def kinds(sent: str) -> list[str]:
        story = calling(ONE).tool("look", {"n": 1}, result='naïve "yes"')
        story.ask([HI, assistant([ONE]), user([result("toolu_1", sent)])], tools=TOOLS)
        return story.reply([text("Done.")]).end().kinds("TOOL-3")

    assert kinds(r'{"out": "naïve \"yes\""}') == ["held"]
    assert kinds(r'{"out": "na\u00efve \"yes\""}') == ["held"]
    assert kinds('{"out": "naive"}') == ["broken"]


def test_calls_at_the_very_end_of_a_request_have_no_results() -> None:
    story = calling(ONE)
    story.ask([HI, assistant([ONE, text("Hm.")])], tools=TOOLS)

    assert story.reply([text("Done.")]).end().kinds("TOOL-1") == ["broken"]


def test_results_for_a_reply_that_is_not_kept_are_looked_for_everywhere() -> None:
    story = calling(ONE)
    story.ask([user([result("toolu_1", "first result")]), HI], tools=TOOLS)

    assert story.reply([text("Done.")]).end().kinds("TOOL-1") == ["held"]
    [finding] = story.check("TOOL-2")
    assert "0 there and 1 elsewhere" in finding.happened


def test_a_turn_that_ends_with_the_last_step_of_its_script_may_have_gone_on() -> None:
    story = Story(turns=[{"prompt": "Hi", "script": [{"reply": {"content": []}}]}])
    story.turn()
    story.ask([HI], tools=TOOLS)
    story.answer("reply", 200, body={"content": [ONE], "stop_reason": "tool_use"}, step=0)

    assert story.raises("URLError").kinds("TOOL-1") == ["broken"]


def test_a_result_that_holds_those_of_two_others_is_told_to_be_the_first_ones() -> None:
    calls = [call(f"toolu_{number}", value={"n": number}) for number in range(3)]
    story = calling(*calls)
    for number, words in enumerate(("zero is nil", "one is unit", "two is pair")):
        story.tool("look", {"n": number}, result=words)
    back = [result("toolu_0", "one is unit, two is pair"), result("toolu_1", "one is unit"),
            result("toolu_2", "two is pair")]  # fmt: skip
    story.ask([HI, assistant(calls), user(back)], tools=TOOLS)
    [finding] = story.reply([text("Done.")]).end().check("TOOL-3")

    assert "has that of toolu_1 for toolu_0" in finding.happened


def test_a_result_that_stands_before_its_call_is_none() -> None:
    story = calling(ONE)
    story.ask([HI, user([FIRST]), assistant([ONE])], tools=TOOLS)

    assert story.reply([text("Done.")]).end().kinds("TOOL-1") == ["broken"]
