"""Agents with a command line of their own, judged by what they ask and what they print."""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec import structs

from harness.case import Case
from harness.chosen import find_cases
from harness.history import Answered, Ended, Lost, RequestSeen
from harness.loops.command import Command
from harness.runner import Runner
from harness.turn import Declaration
from tests.loops.commanding import played

AGENT = str(Path(__file__).parent / "agent.py")
CHOSEN = [
    "text/one[json]",
    "text/two[json]",
    "pause/no-tools[json]",
    "tool/chained[json]",
    "tool/unknown[json]",
]
CHOSEN += ["truncate/text[json]", "refuse/partial[json]", "fault/rejected[json]", "cap/iterations[json]"]


def agent(*words: str, answer: str = "stdout") -> Command:
    return Command(words=(sys.executable, "-S", AGENT, *words), answer=answer, hello={"tools": "own"})


def judged(command: Command, tool: str = 'run_command={"command": "true"}', chosen=CHOSEN):
    declared = Declaration(tools="own", own_tool=tool) if tool else None
    with Runner(command, declaration=declared, jobs=2) as runner:
        assert runner.probe().problem is None
        return {result.scenario: result for result in runner.run_all(find_cases(chosen))}


def broken(result):
    return {check.clause for check in result.checks if check.grade == "fail"}


def test_a_right_agent_passes_and_its_tool_stands_for_the_scenarios():
    results = judged(agent("-p", "{prompt}"))
    assert {name: broken(result) for name, result in results.items() if result.grade == "fail"} == {}
    chained = [event for event in results["tool/chained"].events if isinstance(event, Answered)]
    calls = [
        (block["name"], block["input"])
        for answer in chained
        for block in answer.body["content"]
        if block["type"] == "tool_use"
    ]
    assert calls
    assert all(call == ("run_command", {"command": "true"}) for call in calls)
    asked = [event for event in results["text/one"].events if isinstance(event, RequestSeen)]
    assert [event.lane for event in asked] == ["side", ""]
    assert {check.grade for check in results["truncate/text"].checks if check.clause == "TRUNC-1"} == {"pass"}


def test_a_wrong_agent_is_caught_by_its_requests_and_by_what_it_prints():
    results = judged(agent("--wrong"))
    assert "PAUSE-1" in broken(results["pause/no-tools"])
    assert "TRUNC-1" in broken(results["truncate/text"])
    assert results["tool/chained"].grade == "pass"


def test_without_a_name_for_its_tool_no_call_is_made_of_it():
    results = judged(agent("-p", "{prompt}"), tool="", chosen=["tool/chained[json]", "text/one[json]"])
    assert results["tool/chained"].grade == "unsupported"
    assert "own_tool" in results["tool/chained"].reason
    # The title it asks for first is told by what the probe saw: that has no tools.
    asked = [event for event in results["text/one"].events if isinstance(event, RequestSeen)]
    assert [event.lane for event in asked] == ["side", ""]
    assert results["text/one"].grade == "pass"


def test_a_scenario_names_the_tool_that_stands_for_its_own():
    text = find_cases(["tool/chained[json]"])[0].scenario
    rule = {"run_*": {"command": "ls"}}
    tools = [structs.replace(tool, own=rule) for tool in text.tools]
    with Runner(agent("-p", "{prompt}")) as runner:
        result = runner.run(Case(structs.replace(text, tools=tools), "json"))
    assert result.grade == "pass"
    answers = [event.body for event in result.events if isinstance(event, Answered)]
    calls = [block for body in answers for block in body["content"] if block["type"] == "tool_use"]
    assert {(call["name"], str(call["input"])) for call in calls} == {("run_command", "{'command': 'ls'}")}


def printed(script: str, *turns: dict, answer: str = "stdout"):
    return played(Command(words=("sh", "-c", script), answer=answer), *turns)


def test_exit_0_is_an_answer_and_any_other_a_failure():
    [[answered, _], [failed, _]] = printed('read -r x; echo "$x"; test "$x" = Hello', {}, {"prompt": "Bye"})
    assert answered == Ended(returned="text", shown=["Hello"])
    assert (failed.returned, failed.raised.type, failed.shown) == ("raised", "exit 1", ["Bye"])


def test_what_it_is_asked_may_stand_in_its_words():
    [[answered, _]] = printed("cat; echo '{prompt}' '{model}' '{base_url}'", {"prompt": "a {model}"})
    said = answered.shown[0]
    assert said.startswith("a {model} claude-opus-4-6 http://127.0.0.1:")


def test_an_agent_that_never_complains_tells_the_user_something_when_it_does():
    [[first, _], [second, _]] = printed(
        'read -r x; echo "$x"; test "$x" = Hello || echo cut >&2', {}, {"prompt": "Bye"}
    )
    assert (first.shown, second.shown) == (["Hello"], ["Bye", "cut"])


def test_where_nobody_looks_at_its_answer_it_has_to_ask():
    [[silent, _]] = printed("echo Hello", answer="none")
    assert isinstance(silent, Lost)
