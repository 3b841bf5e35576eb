"""Files become scenarios: ids, short forms, defaults."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.scenario.load import load_folder, load_scenario, parse_scenario
from harness.scenario.model import Scenario
from harness.scenario.problems import ScenarioError

SCENARIOS = Path(__file__).parents[2] / "scenarios"

MINIMAL = b"""
title: A reply ends the turn
clauses: [END-1]
why: a loop may ask again
task: {prompt: Say something}
script:
  - reply: {content: [{text: Hello}]}
"""


def parse(data: bytes) -> Scenario:
    return parse_scenario(data, scenario_id="some/case")


def blocks(content: str) -> list[dict[str, object]]:
    text = MINIMAL.decode().replace("[{text: Hello}]", content)
    reply = parse(text.encode()).turns[0].script[0].reply
    assert reply is not None
    return reply.content


def test_the_short_form_is_one_turn_with_the_task_as_prompt() -> None:
    scenario = parse(MINIMAL)
    assert scenario.id == "some/case"
    assert [turn.prompt for turn in scenario.turns] == ["Say something"]
    assert scenario.variants == ("json", "sse")
    assert scenario.task.prompt == "Say something"


def test_the_id_is_the_path_below_the_folder_without_the_ending(tmp_path: Path) -> None:
    (tmp_path / "family").mkdir()
    file = tmp_path / "family" / "case.yaml"
    file.write_bytes(MINIMAL)
    assert load_scenario(file, tmp_path).id == "family/case"
    assert load_scenario(file).id == "case"
    assert [scenario.id for scenario in load_folder(tmp_path)] == ["family/case"]


@pytest.mark.parametrize(
    ("written", "wire"),
    [
        ("[{text: Hi}]", {"type": "text", "text": "Hi"}),
        ("[{thinking: Hm}]", {"type": "thinking", "thinking": "Hm"}),
        (
            "[{thinking: Hm, signature: abc}]",
            {"type": "thinking", "thinking": "Hm", "signature": "abc"},
        ),
        ("[{redacted_thinking: xyz}]", {"type": "redacted_thinking", "data": "xyz"}),
        (
            "[{server_tool_use: {name: web_search, input: {query: q}}}]",
            {"type": "server_tool_use", "name": "web_search", "input": {"query": "q"}},
        ),
        (
            "[{mcp_tool_use: {name: look, server_name: files}}]",
            {"type": "mcp_tool_use", "name": "look", "server_name": "files", "input": {}},
        ),
        ("[{type: brand_new, odd: [1]}]", {"type": "brand_new", "odd": [1]}),
        ("[{type: text, text: Hi, citations: null}]", {"type": "text", "text": "Hi", "citations": None}),
    ],
)
def test_a_block_is_written_short_or_as_on_the_wire(written: str, wire: dict[str, object]) -> None:
    assert blocks(written) == [wire]


def test_a_result_that_has_content_of_its_own_is_the_content() -> None:
    page = {"type": "web_fetch_result", "content": {"type": "document"}}
    [_, found] = blocks(
        "[server_tool_use: {name: web_fetch}, "
        "web_fetch_tool_result: {type: web_fetch_result, content: {type: document}}]"
    )

    assert found == {"type": "web_fetch_tool_result", "content": page}


def test_a_scenario_survives_encoding() -> None:
    scenario = parse(MINIMAL)
    assert msgspec.convert(msgspec.to_builtins(scenario), Scenario) == scenario


def test_every_problem_of_a_file_is_reported_with_its_place() -> None:
    with pytest.raises(ScenarioError) as caught:
        parse(MINIMAL.replace(b"why: a loop may ask again", b"wyh: no").replace(b"END-1", b"END-11"))
    assert [(problem.spot.line, problem.spot.column) for problem in caught.value.problems] == [
        (2, 1),
        (3, 11),
        (4, 1),
    ]
    assert "did you mean `why`?" in str(caught.value)


def test_bundled_scenarios_load() -> None:
    scenarios = load_folder(SCENARIOS)
    assert len(scenarios) >= 8
    for scenario in scenarios:
        # A list of crashes makes several of one file.
        assert scenario.id.startswith(scenario.path.partition("scenarios/")[2].removesuffix(".yaml"))
