"""Text that was left out is generated, the same for the same seed."""

from __future__ import annotations

from harness.scenario.filler import prompt
from harness.scenario.load import parse_scenario

TURNS = b"""
title: t
clauses: [END-1]
why: w
turns:
  - script: [{reply: {content: [{text: One}]}}]
  - script: [{reply: {content: [{text: Two}]}}]
"""


def prompts(scenario_id: str, seed: int) -> list[str]:
    return [turn.prompt for turn in parse_scenario(TURNS, scenario_id=scenario_id, seed=seed).turns]


def test_the_same_seed_gives_the_same_text() -> None:
    assert prompts("a", 1) == prompts("a", 1)
    assert prompt(3, "key") == prompt(3, "key")


def test_seeds_scenarios_and_turns_differ() -> None:
    texts = [*prompts("a", 1), *prompts("a", 2), *prompts("b", 1)]
    assert len(set(texts)) == len(texts) == 6
    assert all(text.strip() for text in texts)
