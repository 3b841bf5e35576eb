"""A small right scenario to break, one thing at a time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.scenario.load import parse_scenario
from harness.scenario.problems import ScenarioError

TOOL_TURN = """\
title: A tool call is run and its result goes back
clauses: [TOOL-1, TOOL-2]
why: a loop that shows the preamble and stops
task: {prompt: "How warm is it in Oslo?"}
tools:
  get_weather: {description: Current weather., result: 4 degrees and rain}
script:
  - reply:
      stop_reason: tool_use
      content:
        - text: Let me look that up.
        - tool_use: {name: get_weather, input: {city: Oslo}}
  - reply:
      content: [{text: Cold and wet.}]
expect: {requests: 2, status: completed, answer: [Cold and wet.]}
"""


def problems_of(text: str | bytes) -> list[str]:
    """What is wrong with a file, as `line:column: message`."""
    data = text.encode() if isinstance(text, str) else text
    try:
        parse_scenario(data, scenario_id="a/case", path="a/case.yaml")
    except ScenarioError as error:
        return [str(problem).removeprefix("a/case.yaml:") for problem in error.problems]
    return []


@pytest.fixture
def broken() -> Callable[..., list[str]]:
    """The problems of the small scenario after replacing each (old, new) in it."""

    def problems(*changes: tuple[str, str]) -> list[str]:
        text = TOOL_TURN
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        return problems_of(text)

    return problems


@pytest.fixture
def problems() -> Callable[[str | bytes], list[str]]:
    return problems_of
