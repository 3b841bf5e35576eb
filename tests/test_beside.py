"""What a loop asks beside its conversation is told apart, also where it comes first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from harness.beside import ties_of
from harness.history import AnyEvent, RequestSeen, TurnBegan
from harness.provider.classify import SIDE, Classifier
from harness.provider.tools import Binder
from harness.scenario.model import Task
from harness.transcript import conversation_of
from tests.provider.serve import scenario

SHAPES = Path(__file__).parent / "shapes"
CLAUDE = json.loads((SHAPES / "claude-agent-sdk.json").read_text("utf-8"))
PROMPT, SYSTEM, TITLE, MAIN = (CLAUDE[name] for name in ("prompt", "system", "title", "conversation"))
WARM_UP = {**MAIN, "system": [], "messages": [{"role": "user", "content": "Warmup"}]}
QUOTA = {"model": "claude-haiku-4-5", "max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]}
ALONE = {"model": "claude-opus-4-6", "max_tokens": 100, "messages": [{"role": "user", "content": PROMPT}]}


def run_of(*bodies: dict[str, Any]) -> list[AnyEvent]:
    asked = [RequestSeen(at=1.0, turn=1, request=number, body=body) for number, body in enumerate(bodies, 1)]
    return [TurnBegan(at=0.0, turn=1, prompt=PROMPT, system=SYSTEM), *asked]


@pytest.mark.parametrize(
    ("bodies", "ties"),
    [
        ([TITLE, MAIN], ["system", "tools"]),
        ([MAIN, TITLE], ["system", "tools"]),
        ([QUOTA, WARM_UP, MAIN], ["prompt"]),
        ([TITLE, WARM_UP, MAIN], ["prompt", "system", "tools"]),
        ([MAIN], []),
        ([MAIN, MAIN], []),
        ([ALONE], []),
        ([TITLE, ALONE], []),
        ([QUOTA, ALONE], []),
        ([], []),
    ],
)
def test_the_first_run_shows_what_sets_the_conversation_apart(
    bodies: list[dict[str, Any]], ties: list[str]
) -> None:
    assert ties_of(run_of(*bodies)) == ties


def test_a_reply_that_goes_back_begins_nothing_new() -> None:
    said = [*MAIN["messages"], {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "x"}]
    assert ties_of(run_of(MAIN, {**MAIN, "messages": said, "tools": [], "system": []})) == []


def test_a_title_that_is_asked_for_first_takes_nothing_of_the_script() -> None:
    script = scenario([])
    classifier = Classifier(script, Binder(["look_up"]))
    lanes = {}
    for ties in ([], ties_of(run_of(TITLE, MAIN))):
        classifier.ties = frozenset(ties)
        classifier.begin_turn(PROMPT)
        lanes[bool(ties)] = [classifier.lane(body, conversation_of(body)) for body in (TITLE, MAIN)]
    assert lanes == {False: ["", ""], True: [SIDE, ""]}


def test_a_warm_up_with_tools_takes_nothing_of_the_script_either() -> None:
    classifier = Classifier(scenario([]), Binder(["look_up"]))
    classifier.ties = frozenset(ties_of(run_of(WARM_UP, MAIN)))
    classifier.begin_turn(PROMPT)
    assert [classifier.lane(body, conversation_of(body)) for body in (WARM_UP, MAIN)] == [SIDE, ""]


def test_where_the_scenario_has_nothing_to_tell_it_by_the_prompt_is_enough() -> None:
    bare = scenario([])
    classifier = Classifier(replace(bare, task=Task(system=""), tools=[]), Binder([]))
    classifier.ties = frozenset(["system", "tools"])
    classifier.begin_turn(PROMPT)
    assert classifier.lane(ALONE, conversation_of(ALONE)) == ""
