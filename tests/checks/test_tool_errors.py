"""TOOL-4 and TOOL-5 on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story, assistant, call, result, text, user
from tests.checks.tools import HI, ONE, RIGHT, SECOND, TOOLS, TWO, answered, calling, levels


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


def test_of_a_tool_that_was_tried_again_the_last_error_is_to_be_told() -> None:
    def kinds(words: str) -> set[tuple[str, str | None]]:
        story = calling(ONE).tool("look", {"n": 1}, error="busy").tool("look", {"n": 1}, error="disk full")
        story.ask([HI, assistant([ONE]), user([result("toolu_1", words, is_error=True)])], tools=TOOLS)
        return levels(story.reply([text("Sorry.")]).end().check("TOOL-4"))

    assert kinds("disk full") == {("held", None)}
    assert kinds("busy") == {("broken", "SHOULD")}


def test_of_two_results_for_a_failed_call_the_first_is_looked_at() -> None:
    story = calling(ONE).tool("look", {"n": 1}, error="disk full")
    both = user([result("toolu_1", "ok"), result("toolu_1", "disk full", is_error=True)])
    story.ask([HI, assistant([ONE]), both], tools=TOOLS)
    [finding] = story.reply([text("Sorry.")]).end().check("TOOL-4")

    assert (finding.kind, finding.block) == ("broken", 0)
