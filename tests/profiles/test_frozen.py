"""Profiles stay what they are, and name what there is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.clauses import CLAUSES
from harness.profiles.make import RULES, Rules, main, make, put_together
from harness.profiles.model import FOLDER, NotScored, Profile, catalogue_of, digests, profile, stored
from harness.scenario.discover import find_scenarios

NAMES = list(digests())
RULE = Rules(
    title="t",
    clauses=["TOOL-*", "!TOOL-2"],
    scenarios=["tool/*", "!tool/kept"],
    not_scored=[NotScored(clauses=["*"], why="w")],
)


def test_the_first_of_every_line_is_there() -> None:
    assert NAMES[:4] == ["core-1", "turn-job-1", "threads-1", "wire-only-1"]
    assert sorted(path.stem for path in FOLDER.glob("*-[0-9]*.yaml")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_frozen_profile_is_what_its_digest_says(name: str) -> None:
    assert stored(name).digest == digests()[name], (
        f"{name} is frozen: what is to be otherwise is a new number's"
    )
    assert stored(name).name == name


@pytest.mark.parametrize("name", NAMES)
def test_what_a_profile_names_is_there_or_was_renamed(name: str) -> None:
    scenarios = {scenario.id: scenario for scenario in find_scenarios()}
    today = profile(name)

    assert today.clauses.keys() <= CLAUSES.keys()
    for scenario, variants in today.scenarios.items():
        assert set(variants) <= set(scenarios[scenario].variants)
        assert set(scenarios[scenario].clauses) & today.clauses.keys()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_scored_has_one_reason(name: str) -> None:
    left = [clause for why in stored(name).not_scored for clause in why.clauses]

    assert len(left) == len(set(left))
    assert not set(left) & stored(name).clauses.keys()
    assert all(why.why and why.clauses for why in stored(name).not_scored)


def test_any_change_is_another_digest() -> None:
    one = stored("core-1")

    assert msgspec.structs.replace(one, scenarios=dict(reversed(one.scenarios.items()))).digest == one.digest
    for changed in (
        msgspec.structs.replace(one, clauses={**one.clauses, "END-1": "SHOULD"}),
        msgspec.structs.replace(one, scenarios={**one.scenarios, "text/one": ["json"]}),
        msgspec.structs.replace(one, not_scored=one.not_scored[1:]),
    ):
        assert changed.digest != one.digest


def test_a_profile_is_put_together_from_patterns() -> None:
    made = put_together("tools-1", RULE, scenarios=find_scenarios())

    assert {"TOOL-1", "TOOL-3"} < made.clauses.keys()
    assert made.clauses["TOOL-1"] == CLAUSES["TOOL-1"].level
    assert "TOOL-2" not in made.clauses
    assert "tool/one" in made.scenarios
    assert "tool/kept" not in made.scenarios
    assert {"TOOL-2", "END-1"} < set(made.not_scored[0].clauses)


def test_a_clause_that_is_neither_scored_nor_left_out_for_one_reason_is_an_error() -> None:
    silent = msgspec.structs.replace(RULE, not_scored=[])
    twice = msgspec.structs.replace(
        RULE, not_scored=[*RULE.not_scored, NotScored(clauses=["END-1"], why="x")]
    )

    with pytest.raises(ValueError, match=r"END-1, .*: neither scored nor left out"):
        put_together("x-1", silent)
    with pytest.raises(ValueError, match="x-1: END-1: neither"):
        put_together("x-1", twice)


def test_the_command_makes_the_next_number_and_changes_no_other(tmp_path: Path) -> None:
    frozen = tmp_path / "frozen.yaml"
    before = "core-1: abc\ncore-9: def\nthreads-1: fed\n"
    frozen.write_text(before)

    path = make("core", tmp_path)

    made = msgspec.yaml.decode(path.read_bytes(), type=Profile)
    assert path.name == "core-10.yaml"
    assert frozen.read_text() == f"{before}core-10: {made.digest}\n"


def test_a_line_without_rules_cannot_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["coer"]) == 2
    assert (
        "there are rules for core, turn-job, threads, wire-only, and none for coer" in capsys.readouterr().err
    )
    assert main([]) == 2
    assert RULES.exists()


def test_a_catalogue_has_the_levels_of_its_time_and_a_name_nobody_knows_is_no_limit() -> None:
    assert list(catalogue_of("core-1")) == [each for each in CLAUSES if each in stored("core-1").clauses]
    assert catalogue_of("core-99") is CLAUSES
