from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from harness.own_tools import OwnTool
from harness.provider.classify import SIDE, Classifier, contains
from harness.provider.tools import Binder
from harness.scenario.model import Lane, Scenario, Task
from harness.transcript import conversation_of
from tests.provider.serve import PROMPT, SYSTEM, body, scenario, text

TITLE = {"role": "user", "content": f"Write a title for: {PROMPT}"}


def classifier_of(script: Scenario) -> Classifier:
    return Classifier(script, Binder(tool.name for tool in script.tools))


@pytest.fixture
def classifier() -> Classifier:
    made = classifier_of(scenario([]))
    made.begin_turn(PROMPT)
    return made


def lane(classifier: Classifier, asked: dict[str, Any]) -> str:
    return classifier.lane(asked, conversation_of(asked))


def bare(*messages: dict[str, Any]) -> dict[str, Any]:
    return body(*messages, system="", tools=[])


def test_a_request_with_the_turns_tools_is_of_the_conversation(classifier: Classifier) -> None:
    assert lane(classifier, body({"role": "user", "content": "x"}, system="")) == ""


def test_a_request_with_the_system_prompt_is_of_the_conversation(classifier: Classifier) -> None:
    blocks = [text("Preamble."), text(f"{SYSTEM} And more.")]
    assert lane(classifier, body({"role": "user", "content": "x"}, tools=[], system=blocks)) == ""


def test_a_loop_that_sends_the_prompt_alone_is_recognised_by_it(classifier: Classifier) -> None:
    assert lane(classifier, bare()) == ""
    assert lane(classifier, bare({"role": "user", "content": [text(f"Now: {PROMPT}")]})) == ""


def test_a_transcript_that_holds_a_reply_is_of_the_conversation(classifier: Classifier) -> None:
    classifier.sent([text("Two modules were removed.")])
    said = {"role": "assistant", "content": "Two modules were removed."}
    assert (
        lane(classifier, bare({"role": "user", "content": "x"}, said, {"role": "user", "content": "y"})) == ""
    )


def test_a_foreign_request_is_a_side_call(classifier: Classifier) -> None:
    assert lane(classifier, bare({"role": "user", "content": "Something else"})) == SIDE


def test_a_title_generator_that_is_told_the_prompt_is_a_side_call(classifier: Classifier) -> None:
    assert lane(classifier, body()) == ""
    assert lane(classifier, bare(TITLE)) == SIDE


def test_a_resume_that_lost_tools_and_system_is_still_of_the_conversation(classifier: Classifier) -> None:
    assert lane(classifier, body()) == ""
    classifier.sent([{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}])
    paused = {"role": "assistant", "content": [{"type": "server_tool_use", "id": "srvtoolu_1"}]}
    assert lane(classifier, bare({"role": "user", "content": PROMPT}, paused)) == ""


def test_where_nothing_sets_the_conversation_apart_every_request_is_part_of_it() -> None:
    script = scenario([])
    classifier = classifier_of(replace(script, task=Task(system=""), tools=[]))
    classifier.begin_turn("")
    assert lane(classifier, bare()) == ""
    classifier.sent([text("Hello.")])
    said = {"role": "assistant", "content": "Hello."}
    assert (
        lane(classifier, bare({"role": "user", "content": "x"}, said, {"role": "user", "content": "y"})) == ""
    )
    assert lane(classifier, bare({"role": "user", "content": "Another conversation"})) == ""


def test_a_written_lane_comes_first() -> None:
    lanes = [Lane(name="title", when={"max_tokens": 20})]
    classifier = classifier_of(scenario([], lanes=lanes))
    classifier.begin_turn(PROMPT)
    assert lane(classifier, body(max_tokens=20)) == "title"
    assert lane(classifier, body(max_tokens=21)) == ""


def test_a_predicate_holds_for_a_body_that_has_all_of_it() -> None:
    assert contains({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": 1}, "d": [1]})
    assert not contains({"a": {"b": 1}}, {"a": {"b": 2}})
    assert not contains({"d": [1, 2]}, {"d": [1]})
    assert not contains(None, {"a": 1})


def own_binder(given: dict[str, Any] | None, named: str = "") -> Binder:
    binder = Binder(["look_up"], {"look_up": {"Bash": given, "*search*": None}})
    binder.own = OwnTool(named)
    return binder


@pytest.mark.parametrize(
    ("offered", "name", "given"),
    [
        (["Read", "Bash"], "Bash", {"command": "true"}),
        (["Read", "web_search"], "web_search", {"key": "a"}),
        (["web_search", "Bash"], "Bash", {"command": "true"}),
        (["Read"], "look_up", {"key": "a"}),
        (["Bash", "look_up"], "look_up", {"key": "a"}),
    ],
)
def test_a_rule_of_the_scenario_names_the_tool_of_the_loops_own_to_call(
    offered: list[str], name: str, given: dict[str, Any]
) -> None:
    binder = own_binder({"command": "true"})
    call = {"type": "tool_use", "name": "look_up", "input": {"key": "a"}}
    assert binder.can_bind(call, offered) == (name in offered)
    binder.bind(call, offered)
    assert (call["name"], call["input"]) == (name, given)


def test_the_rule_of_the_scenario_goes_before_that_of_the_run() -> None:
    binder = own_binder({"command": "true"}, named="Read")
    call = {"type": "tool_use", "name": "look_up", "input": {"key": "a"}}
    binder.bind(call, ["Read", "Bash"])
    assert call["name"] == "Bash"
    binder.bind(call := {**call, "name": "look_up"}, ["Read", "Write"])
    assert call["name"] == "Read"
