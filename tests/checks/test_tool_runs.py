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


@pytest.mark.parametrize(("given", "kind"), [({"n": {}}, "held"), ({"n": 2}, "broken")])
def test_a_tool_that_is_offered_by_another_name_is_known_all_the_same(given: Any, kind: str) -> None:
    renamed = {**ONE, "name": "mcp__turn__look"}
    story = Story()
    story.turn()
    story.ask([HI], tools=[{"name": "mcp__turn__look", "input_schema": {"type": "object"}}])
    story.reply([renamed], "tool_use").tool(value=given)
    assert then(story, assistant([renamed]), user([result("toolu_1")])).kinds("TOOL-6") == [kind]


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


def test_a_result_for_the_one_of_two_like_calls_that_never_ran_is_found() -> None:
    other = call("toolu_2", value={"n": 2})
    answer = (assistant([ONE, other]), user([result("toolu_1"), result("toolu_2")]))
    story = calling(ONE, other).tool(value={"n": {}})

    [finding] = then(story, *answer).check("TOOL-6")
    assert '{"n":2}' in finding.expected


@pytest.mark.parametrize(("more", "kinds"), [({}, ["broken"]), ({"is_error": True}, [])])
def test_what_the_next_turn_says_of_a_call_that_was_stopped_is_looked_at(
    more: dict[str, bool], kinds: list[str]
) -> None:
    story = calling(ONE).cancel().end("cancelled")
    story.turn("Next")
    story.ask([HI, assistant([ONE]), user([result("toolu_1", "OK", **more), text("Next")])])
    findings = story.reply([text("Well.")]).end().check("TOOL-6")

    assert [one.kind for one in findings] == kinds
    assert [one.level for one in findings] == ["SHOULD"] * len(kinds)


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


def test_a_stop_for_tools_that_calls_none_is_judged_elsewhere() -> None:
    assert calling().end("failed").check("TOOL-6") == []
    assert calling(ONE).end("failed").check("TOOL-6") == []


def test_a_tool_that_nobody_called_is_found() -> None:
    [finding] = then(calling(ONE).tool(value={"n": {}}).tool("other"), *ANSWER).check("TOOL-6")

    assert finding.expected == "other does not run, as the reply to request 1 has it."


def test_a_call_of_an_earlier_reply_may_run_late() -> None:
    story = calling(ONE)
    story.ask([HI, *ANSWER])
    story.reply([call("toolu_2", "other")], "tool_use").tool(value={"n": {}}).tool("other")
    second = (assistant([call("toolu_2", "other")]), user([result("toolu_2")]))

    assert then(story, *ANSWER, *second).check("TOOL-6")[-1].kind == "held"


def test_a_result_may_be_remembered_from_an_earlier_turn() -> None:
    def kinds(value: dict) -> list[str]:
        story = then(calling(ONE).tool(value={"n": {}}), *ANSWER)
        story.turn("More")
        again = call("toolu_2", value=value)
        story.ask([HI, *ANSWER, user("More")])
        story.reply([again], "tool_use")
        return then(story, *ANSWER, user("More"), assistant([again]), user([result("toolu_2")])).kinds(
            "TOOL-6"
        )

    assert kinds({"n": {}}) == ["held"]
    assert kinds({"n": 9}) == ["broken", "held"]


def test_a_tool_that_is_not_the_turns_is_not_asked_after() -> None:
    own = call("toolu_1", "own")

    assert then(calling(own), assistant([own]), user([result("toolu_1")])).check("TOOL-6") == []


def test_a_run_with_another_input_is_told_once() -> None:
    assert len(then(calling(ONE).tool(value={}), *ANSWER).check("TOOL-6")) == 1


def test_three_runs_are_counted() -> None:
    story = calling(ONE)
    for _ in range(3):
        story.tool(value={"n": {}})
    [finding] = then(story, *ANSWER).check("TOOL-6")

    assert finding.happened == "look ran 3 times with the same input."


def test_a_server_call_that_nothing_follows_says_nothing() -> None:
    assert calling(*SERVED, stop_reason="pause_turn").end("failed").check("TOOL-7") == []
    assert calling(*SERVED).reply(SERVED, "pause_turn", whole=False).end("failed").check("TOOL-7") == []
    assert then(calling(ONE), *ANSWER).check("TOOL-7") == []


def test_a_result_for_a_server_call_is_found_in_the_next_turn() -> None:
    story = calling(*SERVED, stop_reason="end_turn").end()
    story.turn("More")
    story.ask([HI, assistant(SERVED), user([result("srvtoolu_1")])])
    story.reply([text("So.")], "pause_turn")

    [finding] = then(story, assistant(SERVED), user([result("srvtoolu_1")])).check("TOOL-7")
    assert (finding.kind, finding.request) == ("broken", 2)


def test_the_same_call_of_the_clients_own_may_run() -> None:
    both = [server_call("srvtoolu_1", "look", {"n": {}}), ONE]
    story = calling(*both).tool(value={"n": {}})

    assert then(story, assistant(both), user([result("toolu_1")])).kinds("TOOL-7") == ["held"]


@pytest.mark.parametrize(("seconds", "kinds"), [(0.1, []), (0.3, ["broken"])])
def test_a_sibling_is_slow_where_it_takes_noticeably_longer(seconds: float, kinds: list[str]) -> None:
    story = calling(FAST, SLOW).tool(value={"n": 1}, result="quick result")
    story.tool(value={"n": 2}, ends=False).wait(seconds).ends_tool(result="slow result")
    lost = user([result("toolu_1", "", is_error=True), result("toolu_2", "slow result")])

    assert then(story, assistant([FAST, SLOW]), lost).kinds("TOOL-9") == kinds


def test_a_siblings_result_that_is_not_there_at_all_is_found() -> None:
    story = calling(FAST, SLOW).tool(value={"n": 1}, result="quick result")
    story.tool(value={"n": 2}, error="timed out")
    [finding] = then(story, assistant([FAST, SLOW]), user([result("toolu_2", "x", is_error=True)])).check(
        "TOOL-9"
    )

    assert finding.happened == "Request 2 has no result for it."


def test_a_tool_that_hangs_in_a_cancelled_turn_or_returned_says_nothing() -> None:
    hangs = calling(ONE, wall_clock=1.0).tool(value={"n": {}}, ends=False).cancel()

    assert hangs.end("cancelled").check("TOOL-9") == []
    assert calling(ONE, wall_clock=1.0).tool(value={"n": {}}).overran().check("TOOL-9") == []


def test_a_result_is_not_remembered_from_a_later_turn() -> None:
    story = then(calling(ONE), *ANSWER)
    story.turn("More")
    story.ask([HI, *ANSWER, user("More")])
    story.reply([{**ONE, "id": "toolu_2"}], "tool_use").tool(value={"n": {}})

    assert story.end("failed").check("TOOL-6")[0].kind == "broken"


def test_a_run_belongs_to_the_reply_it_follows_and_to_no_other() -> None:
    def kinds(first: str, second: str, *, at_once: bool) -> list[str]:
        story = calling(ONE, stop_reason=first)
        if at_once:
            story.tool(value={"n": {}})
        story.ask([HI, user("Again.")])
        story.reply([{**ONE, "id": "toolu_2"}], second)
        if not at_once:
            story.tool(value={"n": {}})
        return [one.kind for one in story.end("failed").check("TOOL-11")]

    assert kinds("max_tokens", "refusal", at_once=False) == ["held", "broken"]
    assert kinds("max_tokens", "tool_use", at_once=True) == ["broken"]
    assert kinds("tool_use", "max_tokens", at_once=False) == ["held"]


def test_of_two_calls_of_a_tool_that_ran_with_something_else_the_first_is_named() -> None:
    story = calling(FAST, SLOW).tool(value={"n": 3})
    both = user([result("toolu_1", is_error=True), result("toolu_2", is_error=True)])
    [finding] = then(story, assistant([FAST, SLOW]), both).check("TOOL-6")

    assert finding.expected == 'look runs with {"n":1}, as the reply to request 1 has it.'


def test_a_result_may_be_remembered_from_an_earlier_request() -> None:
    story = calling(ONE).tool(value={"n": {}})
    story.ask([HI, *ANSWER])
    again = {**ONE, "id": "toolu_2"}
    story.reply([again], "tool_use")

    assert then(story, *ANSWER, assistant([again]), user([result("toolu_2")])).kinds("TOOL-6") == ["held"]


def test_of_two_results_that_lost_what_a_sibling_returned_the_first_is_named() -> None:
    story = calling(FAST, SLOW).tool(value={"n": 1}, result="quick result")
    story.tool(value={"n": 2}, error="timed out")
    lost = [result("toolu_1", "first", is_error=True), result("toolu_1", "second", is_error=True)]
    [finding] = then(story, assistant([FAST, SLOW]), user(lost)).check("TOOL-9")

    assert '"first"' in finding.happened


def test_of_two_foreign_blocks_beside_the_results_the_first_is_named() -> None:
    [finding] = mixed(result("toolu_1"), text("Go on."), text("Now.")).check("TOOL-8")
    assert "Go on." in finding.happened
