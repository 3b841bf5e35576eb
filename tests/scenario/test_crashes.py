"""Points after which a process is killed, and the scenarios a list of them makes."""

from __future__ import annotations

import pytest

from harness.scenario.crashes import Moment, each_crash, parse_moment
from harness.scenario.load import parse_scenario
from harness.scenario.model import Scenario
from harness.scenario.problems import ScenarioError

FILE = """
title: A turn goes on
clauses: [RESUME-1, RESUME-2, RESUME-3]
why: because it has to
task: {{prompt: Hi.}}
tools: {{look_up: {{}}}}
crash: {crash}
script: [reply: {{content: [text: Hello.]}}]
"""


def scenario(crash: str) -> Scenario:
    return parse_scenario(FILE.format(crash=crash).encode(), scenario_id="resume/it")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("request 2", Moment(kind="request", number=2)),
        ("answer 1", Moment(kind="answer")),
        ("answer 3 kept", Moment(kind="answer", number=3, kept=True)),
        ("tool look_up", Moment(kind="tool", tool="look_up")),
        ("tool look_up ended", Moment(kind="tool", tool="look_up", ended=True)),
        ("tool look_up kept", Moment(kind="tool", tool="look_up", ended=True, kept=True)),
        ("usage", Moment(kind="usage")),
        ("done", Moment(kind="done")),
        ("moment 12", Moment(kind="moment", number=12)),
        ("request 0", None),
        ("request 1 kept", None),
        ("lunch", None),
    ],
)
def test_a_moment_is_read(text: str, moment: Moment | None) -> None:
    assert parse_moment(text) == moment


def test_one_point_is_one_scenario_in_both_variants() -> None:
    one = scenario("{after: answer 1 kept}")
    assert each_crash(one) == [one]
    assert one.variants == ("json", "sse")


def test_a_list_is_a_scenario_for_each_point() -> None:
    first, second = each_crash(scenario("{after: [answer 1, tool look_up kept], then: cancel}"))
    assert (first.id, second.id) == ("resume/it-after-answer-1", "resume/it-after-tool-look-up-kept")
    assert (first.variants, second.variants) == (("json",), ("sse",))
    assert first.turns[0].crash is not None
    assert (first.turns[0].crash.after, first.turns[0].crash.then) == ("answer 1", "cancel")
    assert first.crashes


def test_a_point_before_anything_is_remembered_is_about_less() -> None:
    early, kept, late = each_crash(scenario("{after: [answer 1, answer 1 kept, tool look_up]}"))
    assert early.clauses == ["RESUME-3"]
    assert kept.clauses == ["RESUME-1", "RESUME-3"]
    assert late.clauses == ["RESUME-1", "RESUME-2", "RESUME-3"]


@pytest.mark.parametrize(
    ("crash", "message"),
    [
        ("{after: lunch}", "`lunch` is no point after which a process is killed; write `request N`"),
        ("{after: [answer 1, answer 2]}", "answer 2 never comes: the script answers 1"),
        ("{after: tool look_out}", "the tool `look_out` is not defined under `tools`; did you mean"),
        ("{after: []}", "`after` is an empty list"),
        ("{after: answer 1, then: move on}", "nothing comes after the last turn"),
    ],
)
def test_what_cannot_happen_is_a_problem(crash: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=r".") as found:
        scenario(crash)
    assert message in str(found.value)
