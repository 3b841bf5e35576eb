"""What holds for every scenario that travels with the package."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
import yaml

from harness.clauses import CLAUSES
from harness.scenario.discover import bundled_folder, find_scenarios
from harness.scenario.load import scenario_files
from harness.scenario.model import Scenario
from tests.every import every

SCENARIOS = find_scenarios()
FILES = scenario_files(bundled_folder())
ROOT = Path(__file__).parents[2]

each_scenario = every(SCENARIOS, lambda scenario: scenario.id)
each_file = every(FILES)


def test_there_are_many_in_families() -> None:
    families = {scenario.id.split("/")[0] for scenario in SCENARIOS}
    assert len(SCENARIOS) >= 45
    assert families >= {
        "text",
        "tool",
        "pause",
        "truncate",
        "refuse",
        "stop",
        "thinking",
        "cap",
        "cancel",
        "usage",
    }


@each_scenario
def test_it_says_why_and_reads_well(scenario: Scenario) -> None:
    assert re.fullmatch(r"[a-z]+/[a-z0-9-]+", scenario.id)
    assert scenario.title[0].isupper()
    assert not scenario.title.endswith(".")
    assert len(scenario.title) <= 100
    assert 40 <= len(scenario.why) <= 140
    assert not scenario.why.endswith(".")


@each_scenario
def test_it_writes_its_prompts(scenario: Scenario) -> None:
    assert all(turn.prompt and not turn.prompt.startswith("Please look at this") for turn in scenario.turns)


@each_scenario
def test_it_is_short(scenario: Scenario) -> None:
    assert scenario.deadline <= 10
    for turn in scenario.turns:
        assert (turn.limits.wall_clock or 0) <= 4
        for step in turn.script:
            times = 0 if step.repeat == "forever" else step.repeat
            assert (step.reply.delay if step.reply else 0) * times <= 2.5
    answers = [answer for tool in scenario.tools for answer in tool.answers]
    assert all(answer.delay <= 1 for answer in answers)
    assert not any(answer.hangs for answer in answers) or scenario.turns[0].limits.wall_clock


@each_scenario
def test_an_endless_step_gives_the_loop_time_to_be_stopped_in(scenario: Scenario) -> None:
    """Without a delay a loop that nothing stops would fill the memory before its deadline."""
    for turn in scenario.turns:
        for step in turn.script:
            if step.repeat == "forever" and step.reply:
                assert step.reply.delay >= 0.01
                assert scenario.deadline <= 5


@each_scenario
def test_it_survives_the_journey_into_a_history(scenario: Scenario) -> None:
    stored = msgspec.json.encode(msgspec.to_builtins(scenario))
    assert msgspec.json.decode(stored, type=Scenario) == scenario


@each_file
def test_both_yaml_parsers_read_it_alike(file: Path) -> None:
    """Not every platform has libyaml, and the pure parser is the stricter one."""
    text = file.read_text(encoding="utf-8")
    fast: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    assert yaml.load(text, Loader=yaml.SafeLoader) == yaml.load(text, Loader=fast)


@each_file
def test_it_points_editors_to_the_schema(file: Path) -> None:
    first = file.read_text(encoding="utf-8").splitlines()[0]
    reference = first.removeprefix("# yaml-language-server: $schema=")
    assert (file.parent / reference).resolve() == ROOT / "harness" / "scenario.schema.json"


@pytest.mark.parametrize("variant", ["truncate", "refuse", "cap", "cancel", "stop", "fault"])
def test_what_is_left_behind_is_shown_by_a_next_turn(variant: str) -> None:
    exits = [scenario for scenario in SCENARIOS if scenario.id.startswith(f"{variant}/")]
    alone = [scenario.id for scenario in exits if len(scenario.turns) == 1]
    assert exits
    assert set(alone) <= {"cap/iterations-reached", "stop/sequence"}


def test_caps_and_cancels_exist_with_and_without_client_tools() -> None:
    for family in ("cap/", "cancel/"):
        needs = {bool(scenario.tools) for scenario in SCENARIOS if scenario.id.startswith(family)}
        assert needs == {True, False}


def test_every_clause_has_a_scenario_that_is_about_it() -> None:
    """But threads, which only some loops use; and the address and what is expected, which are about each."""
    named = {clause for scenario in SCENARIOS for clause in scenario.clauses}
    assert set(CLAUSES) - named == {"THREAD-1", "BASE-1", "EXPECT"}


def test_loading_them_takes_a_moment() -> None:
    began = time.process_time()
    find_scenarios(seed=4711)  # with any other they may have been read before
    assert time.process_time() - began < 1.5


def test_loading_them_imports_neither_faker_nor_anthropic() -> None:
    code = (
        "import sys\nfrom harness.scenario.discover import find_scenarios\nfind_scenarios()\n"
        "print(sorted({'faker', 'anthropic', 'pytest', 'httptools', 'vcr'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
