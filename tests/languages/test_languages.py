"""Loops in other languages get the verdicts of the reference loop, and their wrong twins are caught."""

from __future__ import annotations

import pytest

from harness.probe import Probe
from harness.turn import EXPOSABLE
from tests.languages.loops import LANGUAGES, REFERENCE, Language, compared, differences, verdicts

FEW = [
    "tool/one-of-three-raises[json]",
    "pause/container[json]",
    "stream/escapes[sse]",
]


@pytest.fixture(params=LANGUAGES, ids=lambda one: one.name)
def language(request: pytest.FixtureRequest) -> Language:
    one: Language = request.param
    if lacking := one.lacking():
        pytest.skip(lacking)
    return one


@pytest.fixture(scope="module")
def right() -> dict:
    return verdicts(REFERENCE, FEW, Probe(exposes=sorted(EXPOSABLE)))


def test_a_loop_in_another_language_is_judged_as_the_reference(language: Language, right: dict) -> None:
    got = verdicts(language.command(), FEW, language.known)
    assert differences(right, got) == []
    assert "pass" in {result.grade for result in got.values()}


def test_its_wrong_twin_is_caught_by_the_clause_it_breaks(language: Language) -> None:
    [result] = verdicts(language.command(wrong=True), [language.case], language.known).values()
    assert language.clauses <= {one.clause for one in result.checks if one.grade == "fail"}, result.reason


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_every_scenario_gets_the_verdicts_of_the_reference(language: Language) -> None:
    _, differ = compared(verdicts(REFERENCE, [], jobs=2), language)
    assert differ == []
