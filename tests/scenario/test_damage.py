"""Whatever happens to a file, the loader says what is wrong with it and never falls over."""

from __future__ import annotations

import random

import pytest

from harness.scenario.discover import bundled_folder
from harness.scenario.load import parse_scenario, scenario_files
from harness.scenario.problems import Problem, ScenarioError, Spot

TEXTS = [file.read_text(encoding="utf-8") for file in scenario_files(bundled_folder())]
SCRAPS = [
    *("no", "~", "[]", "{}", "- ", "  ", "\t", ": ", "&a ", "*a", "<<: ", "!x ", "'", '"', "=", "? "),
    *("# ", "%", "1.0e+999", ".nan", "\x00", "\U0001f989", "forever", "---\n", "null", "[[", "}}", "-1"),
]


def damaged(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 4)):
        lines = text.split("\n")
        line = chance.randrange(len(lines))
        place = chance.randrange(len(text) + 1)
        match chance.randrange(4):
            case 0:
                text = text[:place] + chance.choice(SCRAPS) + text[place:]
            case 1:
                text = text[:place] + text[place + chance.randint(1, 30) :]
            case 2:
                lines.insert(chance.randrange(len(lines)), lines[line])
                text = "\n".join(lines)
            case _:
                key, colon, _ = lines[line].partition(": ")
                lines[line] = key + colon + chance.choice(SCRAPS)
                text = "\n".join(lines)
    return text


def problems_of(text: str) -> list[Problem]:
    try:
        parse_scenario(text.encode(), scenario_id="damaged")
    except ScenarioError as error:
        return error.problems or [Problem("", Spot(0, 0), "")]
    return []


@pytest.mark.parametrize("seed", range(5))
def test_a_damaged_file_is_read_or_explained(seed: int) -> None:
    chance = random.Random(seed)
    explained = 0
    for _ in range(200):
        text = damaged(chance.choice(TEXTS), chance)
        for problem in problems_of(text):
            explained += 1
            assert 1 <= problem.spot.line <= text.count("\n") + 2
            assert problem.message
            assert "\n" not in str(problem)
    assert explained > 100
