"""TOOL-1 to TOOL-5 on histories written by hand."""

from __future__ import annotations

import pytest

from harness.checks.base import Finding
from tests.checks.histories import Story, assistant, call, result, text, user

HI = user("Hi")
TOOLS = [{"name": "look", "input_schema": {}}, {"name": "other", "input_schema": {}}]
ONE, TWO = call("toolu_1", value={"n": 1}), call("toolu_2", "other", {"n": 2})


def calling(*calls: dict, story: Story | None = None, **limits: float) -> Story:
    story = story or Story()
    story.turn(tools=("look", "other"), **limits)
    story.ask([HI], tools=TOOLS)
    return story.reply(list(calls), "tool_use")


def answered(*messages: dict, runs: bool = True, story: Story | None = None) -> Story:
    """Two calls, run, answered by `messages`, and a last reply."""
    story = calling(ONE, TWO, story=story)
    if runs:
        story.tool("look", {"n": 1}, result="first result").tool("other", {"n": 2}, result="second result")
    story.ask([HI, assistant([ONE, TWO]), *messages], tools=TOOLS)
    return story.reply([text("Done.")]).end()


FIRST, SECOND = result("toolu_1", "first result"), result("toolu_2", "second result")
RIGHT = user([FIRST, SECOND])


def levels(findings: list[Finding]) -> set[tuple[str, str | None]]:
    return {(one.kind, one.level) for one in findings}


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


def test_results_are_not_compared_where_the_tools_are_the_loops_own() -> None:
    swapped = user([result("toolu_1", "second result"), result("toolu_2", "first result")])

    assert answered(swapped, runs=False, story=Story(exposes=("status",))).kinds("TOOL-3") == ["held"]


def raising(answer: dict | None, **declaration: object) -> Story:
    story = calling(ONE, story=Story(**declaration)).tool("look", {"n": 1}, error="disk full")
    if answer is not None:
        story.ask([HI, assistant([ONE]), user([answer])], tools=TOOLS)
        story.reply([text("Sorry.")])
    return story


def test_a_failure_told_to_the_model_holds() -> None:
    told = raising(result("toolu_1", "Error: disk full", is_error=True))

    assert told.end().kinds("TOOL-4") == ["held"]


@pytest.mark.parametrize(
    "answer",
    [
        result("toolu_1", "Error: disk full"),
        result("toolu_1", "", is_error=True),
        {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True},
    ],
)
def test_a_failure_without_its_flag_or_its_words_is_found(answer: dict) -> None:
    assert levels(raising(answer).end().check("TOOL-4")) == {("broken", None)}


def test_a_failure_should_be_named() -> None:
    told = raising(result("toolu_1", "Something went wrong.", is_error=True))

    assert levels(told.end().check("TOOL-4")) == {("broken", "SHOULD")}


def test_a_loop_that_fails_with_its_tool_should_declare_it() -> None:
    [finding] = raising(None).raises("ToolError", "disk full").check("TOOL-4")

    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert "on_tool_error" in finding.advice


def test_a_loop_that_declares_it_may_fail_with_its_tool() -> None:
    declared = {"policies": {"on_tool_error": "raise"}}

    assert raising(None, **declared).raises("ToolError").kinds("TOOL-4") == ["held"]
    assert raising(None, **declared).end("completed").kinds("TOOL-4") == ["broken"]


def test_a_loop_that_declares_to_answer_must() -> None:
    declared = {"policies": {"on_tool_error": "answer"}}

    assert levels(raising(None, **declared).raises("ToolError").check("TOOL-4")) == {("broken", None)}


def test_a_failing_tool_that_ends_the_turn_in_silence_is_found() -> None:
    assert levels(raising(None).end("completed", shown=[]).check("TOOL-4")) == {("broken", None)}


def test_a_tool_tried_again_with_success_did_not_fail() -> None:
    story = raising(None).tool("look", {"n": 1}, result="ok")
    story.ask([HI, assistant([ONE]), user([result("toolu_1", "ok")])], tools=TOOLS)

    assert story.reply([text("Done.")]).end().check("TOOL-4") == []


NOPE = call("toolu_1", "nope")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (result("toolu_1", "There is no tool nope.", is_error=True), "held"),
        (result("toolu_1", "ok"), "broken"),
        (result("toolu_1", "", is_error=True), "broken"),
    ],
)
def test_a_call_to_a_tool_nobody_offered_is_an_error(answer: dict, kind: str) -> None:
    story = calling(NOPE)
    story.ask([HI, assistant([NOPE]), user([answer])], tools=TOOLS)

    assert story.reply([text("Sorry.")]).end().kinds("TOOL-5") == [kind]


def test_a_crash_on_an_unknown_tool_should_be_declared_or_gone() -> None:
    assert levels(calling(NOPE).raises("KeyError", "nope").check("TOOL-5")) == {("broken", "SHOULD")}


def test_a_known_tool_is_not_an_unknown_one() -> None:
    assert answered(RIGHT).check("TOOL-5") == []


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


def test_a_failed_call_beside_one_that_was_answered_needs_a_result_too() -> None:
    story = calling(ONE, TWO).tool("look", {"n": 1}, error="disk full").tool("other", {"n": 2})
    story.ask([HI, assistant([ONE, TWO]), user([SECOND])], tools=TOOLS)
    [finding] = story.reply([text("Done.")]).end().check("TOOL-4")

    assert (finding.kind, finding.level) == ("broken", None)
    assert "has no result for it" in finding.happened


def test_a_failed_call_in_a_turn_that_a_limit_ended_needs_no_answer() -> None:
    story = calling(ONE, max_iterations=1).tool("look", {"n": 1}, error="disk full")

    assert story.end("capped").check("TOOL-4") == []


def test_failures_of_tools_that_are_the_loops_own_are_not_known() -> None:
    story = calling(ONE, story=Story(exposes=("status",))).tool("look", {"n": 1}, error="disk full")

    assert story.end("completed").check("TOOL-4") == []


def test_a_tool_that_is_offered_in_the_middle_is_known() -> None:
    def kinds(added: dict) -> list[str]:
        story = Story()
        story.turn()
        story.ask(
            [HI, {"role": "system", "content": [{"type": "tool_addition", "tool": added}]}], tools=TOOLS
        )
        return story.reply([NOPE], "tool_use").end("failed").kinds("TOOL-5")

    assert kinds({"name": "nope"}) == []
    assert kinds({"tool_name": "nope"}) == []
    assert kinds({"name": "other"}) == ["broken"]


def test_a_thread_remembers_the_tools_it_began_with() -> None:
    story = Story()
    story.turn()
    story.ask([HI], tools=[*TOOLS, {"name": "nope"}], thread={"type": "create"})
    story.reply([text("Hm.")], "pause_turn")
    story.ask([HI], thread={"type": "continue", "id": "msg_1"})

    assert story.reply([NOPE], "tool_use").end("failed").check("TOOL-5") == []


def test_json_of_a_text_beyond_ascii_carries_it_either_way() -> None:
    def kinds(sent: str) -> list[str]:
        story = calling(ONE).tool("look", {"n": 1}, result='naïve "yes"')
        story.ask([HI, assistant([ONE]), user([result("toolu_1", sent)])], tools=TOOLS)
        return story.reply([text("Done.")]).end().kinds("TOOL-3")

    assert kinds(r'{"out": "naïve \"yes\""}') == ["held"]
    assert kinds(r'{"out": "na\u00efve \"yes\""}') == ["held"]
    assert kinds('{"out": "naive"}') == ["broken"]
