"""The exit-path sweep is made of scenarios like any that are written."""

from __future__ import annotations

import pytest
import yaml

from harness.scenario.discover import find_scenarios, validate_paths
from harness.scenario.exits import PATHS, TURNS, scenarios, values
from harness.scenario.load import parse_scenario
from harness.scenario.model import Scenario, Step
from harness.scenario.select import SelectorError, select

SWEEP = {scenario.id: scenario for scenario in scenarios()}


def test_every_path_is_walked_once_and_again_in_one_conversation() -> None:
    assert {identifier.rpartition("-")[0] for identifier in SWEEP} == {f"exit/{path.name}" for path in PATHS}
    assert {len(scenario.turns) for scenario in SWEEP.values()} == {1, 3}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
@pytest.mark.parametrize("turns", TURNS)
def test_it_could_have_been_written_as_a_file(path, turns) -> None:
    written = yaml.safe_dump(values(path, turns), sort_keys=False, allow_unicode=True)
    read = parse_scenario(written.encode(), scenario_id=f"exit/{path.name}-{turns}", path="")
    assert read == SWEEP[read.id]


def test_the_turns_of_a_conversation_are_equal_but_for_their_words() -> None:
    for scenario in SWEEP.values():
        first = scenario.turns[0]
        for turn in scenario.turns:
            assert (turn.expect, turn.cancel, turn.limits) == (first.expect, first.cancel, first.limits)
            assert [_kinds(step) for step in turn.script] == [_kinds(step) for step in first.script]


def _kinds(step: Step) -> list[object]:
    content = step.reply.content if step.reply else []
    return [step.repeat, step.reply and step.reply.stop_reason, *(block["type"] for block in content)]


def test_it_travels_with_the_bundled_scenarios_and_with_them_alone(tmp_path) -> None:
    (tmp_path / "one.yaml").write_text(
        "title: It answers\nclauses: [END-1]\nwhy: it might not\nscript: [{reply: {content: [text: Hi]}}]\n"
    )
    assert set(SWEEP) <= {scenario.id for scenario in find_scenarios()}
    assert [each.id for each in find_scenarios([tmp_path], bundled=False)] == ["one"]


def test_it_can_be_chosen_like_any_other() -> None:
    every: list[Scenario] = find_scenarios()
    assert len(select(every, ["exit"])) == 2 * len(SWEEP)
    assert [(one.id, variant) for one, variant in select(every, ["exit/refused-3[sse]"])] == [
        ("exit/refused-3", "sse")
    ]
    with pytest.raises(SelectorError, match=r"did you mean `exit/refused-"):
        select(every, ["exit/refused-2"])


def test_a_file_with_the_id_of_one_is_told_whose_it_is(tmp_path) -> None:
    folder = tmp_path / "exit"
    folder.mkdir()
    (folder / "late-1.yaml").write_text(
        "title: It answers\nclauses: [END-1]\nwhy: it might not\nscript: [{reply: {content: [text: Hi]}}]\n"
    )
    assert validate_paths([folder]) == []
    with pytest.raises(Exception, match="that of a made one"):
        find_scenarios([tmp_path])
