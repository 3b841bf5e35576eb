"""Every mutant dies by the clause it declares, and the reference loop passes where it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.checks import registered
from harness.clauses import CLAUSES
from harness.runner import Runner, cases_of
from tests import picture, proof
from tests.every import every
from tests.kills import KILLS, STAYS
from tests.loops.mutants import MUTANTS, Mutant

HANDFULS = 10
"""Into how many tests the kills are split: each plays its mutants side by side."""


def all_killed(plays: Sequence[tuple[Mutant, str, Sequence[str]]]) -> None:
    kills = proof.play_all([one for one in plays if proof.cases_for(one[0], one[2])])

    assert {kill.mutant.name: kill.errors for kill in kills if kill.errors} == {}
    assert {kill.mutant.name: sorted(kill.survived) for kill in kills if kill.survived} == {}
    assert {kill.mutant.name for kill in kills} == {mutant.name for mutant, _, _ in plays}


def sample() -> list[tuple[Mutant, str, Sequence[str]]]:
    """Every mutant in one of its forms: every second one asynchronous and streamed, where that can be told.

    A process of its own costs seconds: of those that need one, the first for each clause is enough here.
    """
    plays: list[tuple[Mutant, str, Sequence[str]]] = []
    dear: list[tuple[Mutant, str, Sequence[str]]] = []
    for place, mutant in enumerate(MUTANTS.values()):
        first, second = proof.FORMS_AND_VARIANTS[:: 1 if place % 2 else -1]
        form, variant = first if proof.cases_for(mutant, (first[1],)) else second
        needy = proof.needs_a_host(proof.cases_for(mutant, (variant,)))
        (dear if needy else plays).append((mutant, form, (variant,)))
    killing = {clause for mutant, _, _ in plays for clause in mutant.clauses}
    for mutant, form, variants in dear:
        if not killing.issuperset(mutant.clauses):
            plays.append((mutant, form, variants))
            killing.update(mutant.clauses)
    return plays


@pytest.mark.timeout(120)
@pytest.mark.parametrize("handful", range(HANDFULS))
def test_mutants_are_killed_by_each_clause_they_declare(handful: int) -> None:
    all_killed(sample()[handful::HANDFULS])


def test_the_sample_leaves_no_clause_without_a_kill() -> None:
    plays = sample()

    assert {clause for mutant, _, _ in plays for clause in mutant.clauses} == {
        clause for mutant in MUTANTS.values() for clause in mutant.clauses
    }
    assert len(plays) > 0.9 * len(MUTANTS)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_mutant_is_killed_in_all_its_forms() -> None:
    all_killed([(mutant, form, ("json", "sse")) for mutant in MUTANTS.values() for form in proof.FORMS])


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_reference_loop_passes_where_the_mutants_die() -> None:
    scenarios = [proof.known()[name] for name in sorted({n for m in MUTANTS.values() for n in m.scenarios})]
    # The asynchronous form, whose task can be cancelled: the blocking one has none.
    with Runner("harness.loops.reference:async_loop", jobs=2) as runner:
        results = runner.run_all(cases_of(scenarios, ("json", "sse")))

    assert {result.id: result.grade for result in results if result.grade != "pass"} == {}


def test_every_clause_that_must_hold_kills_a_mutant() -> None:
    killing = {clause for mutant in MUTANTS.values() for clause in mutant.clauses}

    assert [
        clause.id for clause in CLAUSES.values() if clause.level == "MUST" and clause.id not in killing
    ] == []


@every(registered())
def test_a_mutant_is_alive_once_a_check_is_switched_off(clause: str) -> None:
    # A mutant is dead when each clause it declares was broken: that all are, is shown above.
    dead = [proof.Kill(mutant, frozenset(mutant.clauses)) for mutant in MUTANTS.values()]
    assert [kill.mutant.name for kill in dead if kill.survived] == []

    without = [proof.Kill(kill.mutant, kill.broken - {clause}) for kill in dead]

    assert [kill.mutant.name for kill in without if kill.survived] != []


def test_every_scenario_kills_a_mutant_or_says_why_it_stays() -> None:
    named = {name for mutant in MUTANTS.values() for name in mutant.scenarios}

    assert sorted([*named, *KILLS, *STAYS]) == sorted(proof.known())
    assert set(KILLS.values()) <= MUTANTS.keys()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_scenarios_that_no_mutant_names_kill_as_they_say() -> None:
    plays = [
        (replace(MUTANTS[mutant], scenarios=(scenario,)), form, (variant,))
        for scenario, mutant in KILLS.items()
        for form, variant in proof.FORMS_AND_VARIANTS
    ]
    kills = proof.play_all([one for one in plays if proof.cases_for(one[0], one[2])])
    killed = {kill.mutant.scenarios[0] for kill in kills if kill.broken & set(kill.mutant.clauses)}

    assert sorted(KILLS.keys() - killed) == []


def test_the_picture_of_the_kill_matrix_is_current() -> None:
    assert picture.PICTURE.read_text(encoding="utf-8") == picture.picture(), "run `python -m tests.picture`"


def test_the_kill_matrix_is_current() -> None:
    assert proof.PAGE.read_text(encoding="utf-8") == proof.page(), "run `python -m tests.proof`"
