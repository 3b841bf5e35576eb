"""TOOL-6 to TOOL-11 on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.histories import Story, assistant, call, result, server_call, text, user

HI = user("Hi")
ONE = call("toolu_1", value={"n": {}})


def calling(*blocks: dict, stop_reason: str = "tool_use", **limits: float) -> Story:
    story = Story()
    story.turn(**limits)
    story.ask([HI])
    return story.reply(list(blocks), stop_reason)


def then(story: Story, *messages: dict) -> Story:
    story.ask([HI, *messages])
    return story.reply([text("Done.")]).end()


ANSWER = (assistant([ONE]), user([result("toolu_1")]))


def test_a_call_that_ran_once_with_its_input_holds() -> None:
    assert then(calling(ONE).tool(value={"n": {}}), *ANSWER).kinds("TOOL-6") == ["held"]


@pytest.mark.parametrize("given", [{"n": []}, {"n": {}, "more": 1}, {"n": None}, "{}"])
def test_another_input_is_found(given: Any) -> None:
    [finding] = then(calling(ONE).tool(value=given), *ANSWER).check("TOOL-6")

    assert finding.kind == "broken"
    assert finding.evidence == "hook"


def test_a_call_that_ran_twice_is_found() -> None:
    story = calling(ONE).tool(value={"n": {}}).tool(value={"n": {}})

    assert then(story, *ANSWER).kinds("TOOL-6") == ["broken"]


def test_a_call_that_failed_may_be_tried_again() -> None:
    story = calling(ONE).tool(value={"n": {}}, error="busy").tool(value={"n": {}})

    assert then(story, *ANSWER).kinds("TOOL-6") == ["held"]


def test_the_same_call_twice_may_run_twice() -> None:
    twin = {**ONE, "id": "toolu_2"}
    story = calling(ONE, twin).tool(value={"n": {}}).tool(value={"n": {}})

    answer = (assistant([ONE, twin]), user([result("toolu_1"), result("toolu_2")]))
    assert then(story, *answer).kinds("TOOL-6") == ["held"]


def test_a_result_for_a_call_that_never_ran_is_found() -> None:
    [finding] = then(calling(ONE), *ANSWER).check("TOOL-6")

    assert finding.kind == "broken"
    assert "did not run" in finding.happened


def test_a_call_that_was_not_run_and_says_so_is_no_fault() -> None:
    answer = (assistant([ONE]), user([result("toolu_1", "skipped", is_error=True)]))

    assert then(calling(ONE), *answer).check("TOOL-6") == []


def test_a_call_without_arguments_is_an_empty_object() -> None:
    bare = {"type": "tool_use", "id": "toolu_1", "name": "look"}

    assert then(calling(bare).tool(value={}), *ANSWER).kinds("TOOL-6") == ["held"]


SERVED = [server_call("srvtoolu_1", "look", {"q": 1}), text("Found.")]


def test_a_server_call_left_alone_holds() -> None:
    story = calling(*SERVED, stop_reason="pause_turn")

    assert then(story, assistant(SERVED)).kinds("TOOL-7") == ["held"]


def test_a_result_for_a_server_call_is_found() -> None:
    story = calling(*SERVED, stop_reason="pause_turn")

    assert then(story, assistant(SERVED), user([result("srvtoolu_1")])).kinds("TOOL-7") == ["broken"]


def test_a_client_tool_run_for_a_server_call_is_found() -> None:
    story = calling(*SERVED, stop_reason="pause_turn").tool(value={"q": 1})

    [finding] = then(story, assistant(SERVED)).check("TOOL-7")
    assert (finding.kind, finding.evidence) == ("broken", "hook")


def mixed(*answer: dict) -> Story:
    blocks = [server_call("srvtoolu_1"), ONE]
    return then(calling(*blocks).tool(value={"n": {}}), assistant(blocks), user(list(answer)))


def test_beside_an_open_server_call_only_results_are_sent() -> None:
    assert mixed(result("toolu_1")).kinds("TOOL-8") == ["held"]
    assert mixed(result("toolu_1"), text("Go on.")).kinds("TOOL-8") == ["broken"]
    assert mixed(result("toolu_1"), result("srvtoolu_1")).kinds("TOOL-8") == ["broken"]


def test_a_server_call_that_has_its_result_is_not_open() -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    blocks = [server_call("srvtoolu_1"), found, ONE]
    story = calling(*blocks).tool(value={"n": {}})

    answer = (assistant(blocks), user([result("toolu_1"), text("Go on.")]))
    assert then(story, *answer).check("TOOL-8") == []


FAST, SLOW = call("toolu_1", value={"n": 1}), call("toolu_2", value={"n": 2})


def beside_a_failure(first: dict) -> Story:
    story = calling(FAST, SLOW).tool(value={"n": 1}, result="quick result")
    story.tool(value={"n": 2}, error="timed out")
    return then(story, assistant([FAST, SLOW]), user([first, result("toolu_2", "timed out", is_error=True)]))


def test_a_siblings_result_survives() -> None:
    assert beside_a_failure(result("toolu_1", "quick result")).kinds("TOOL-9") == ["held"]


def test_a_siblings_lost_result_is_found() -> None:
    lost = result("toolu_1", "cancelled: a sibling failed", is_error=True)

    assert beside_a_failure(lost).kinds("TOOL-9") == ["broken"]


def test_a_wall_clock_should_bound_a_tool_that_hangs() -> None:
    stuck = calling(ONE, wall_clock=1.0).tool(value={"n": {}}, ends=False)
    bound = calling(ONE, wall_clock=1.0).tool(value={"n": {}}, ends=False)
    free = calling(ONE).tool(value={"n": {}}, ends=False)

    [finding] = stuck.overran().check("TOOL-9")
    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert bound.wait(1.0).end("capped").kinds("TOOL-9") == ["held"]
    assert free.overran().check("TOOL-9") == []


def without_a_call(count: int) -> Story:
    story = Story()
    story.turn()
    for number in range(count):
        story.ask([HI, *[user("Go on.")] * number])
        story.reply([text("Calling it now.")], "tool_use")
    return story


def test_a_tool_use_stop_without_a_call_that_ends_as_failed_holds() -> None:
    assert without_a_call(1).end("failed").kinds("TOOL-10") == ["held"]


def test_a_tool_use_stop_without_a_call_taken_for_an_answer_is_found() -> None:
    assert without_a_call(1).returns("Calling it now.").kinds("TOOL-10") == ["broken"]


def test_spinning_without_a_call_is_found() -> None:
    assert without_a_call(6).end("failed").kinds("TOOL-10") == ["broken"]
    assert without_a_call(2).overran().kinds("TOOL-10") == ["broken"]


def test_asking_once_more_without_a_call_is_noted() -> None:
    story = without_a_call(1)
    story.ask([HI, user("There was no call.")])

    assert story.answer("over").end("failed").kinds("TOOL-10") == ["note"]


@pytest.mark.parametrize("stop_reason", ["end_turn", "max_tokens", "refusal", "brand_new"])
def test_a_call_under_another_stop_reason_does_not_run(stop_reason: str) -> None:
    left = calling(ONE, stop_reason=stop_reason)
    ran = calling(ONE, stop_reason=stop_reason).tool(value={"n": {}})

    assert left.end("failed").kinds("TOOL-11") == ["held"]
    assert ran.end("failed").kinds("TOOL-11") == ["broken"]


def test_a_late_run_of_an_earlier_call_is_no_run_of_the_later_one() -> None:
    story = calling(ONE)
    story.ask([HI, *ANSWER])
    story.reply([{**ONE, "id": "toolu_2"}], "max_tokens").tool(value={"n": {}})

    assert story.end("truncated").kinds("TOOL-11") == ["held"]
