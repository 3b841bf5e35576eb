from __future__ import annotations

from pathlib import Path

import pytest

from harness.baseline import moved
from harness.baseline.load import Known, load
from harness.baseline.versions import applies
from harness.clauses import CLAUSES
from harness.scenario.discover import find_scenarios
from harness.scenario.problems import ScenarioError
from tests.baseline.holding import baseline


def test_a_variant_may_be_written_as_a_run_names_it(tmp_path: Path) -> None:
    [entry] = baseline(
        tmp_path, 'known:\n  - {scenario: "pause/twice[sse]", grade: fail, reason: x}\n'
    ).entries

    assert (entry.scenario, entry.variant) == ("pause/twice", "sse")


def test_every_problem_is_told_with_its_place_and_the_nearest_name(tmp_path: Path) -> None:
    text = """\
known:
  - scenario: pause/twise
    grade: fail
    reason: x
  - scenario: pause/*
    clause: PAUS-1
    grade: failed
    reason: " "
  - scenario: fault/cut[json]
    grade: fail
    reason: x
    when: {anthropic: "<<1"}
  - scenario: pause/twice
    graed: fail
"""
    with pytest.raises(ScenarioError) as caught:
        baseline(tmp_path, text)

    told = [str(problem).partition("conformance.yaml:")[2] for problem in caught.value.problems]
    assert told == [
        "2:15: `pause/twise` matches no scenario; did you mean `pause/twice`?",
        "6:13: `PAUS-1` is no clause; did you mean `PAUSE-1`?",
        "7:12: `failed` is none of the words for this key; did you mean `fail`?",
        "8:13: say why this is known and not mended",
        "9:15: `fault/cut` has no variant [json]",
        "12:23: `<<1` names no versions; write them as pip does: '<3.12', '>=1,<2'",
        "13:5: `grade` is missing; write `grade: …`",
        "13:5: `reason` is missing; write `reason: …`",
        "14:5: unknown key `graed`; did you mean `grade`?",
    ]


def test_a_reason_that_says_nothing_and_a_clause_that_is_none_are_problems(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        baseline(
            tmp_path,
            "known:\n  - {scenario: pause/twice, clause: PAUS-1, grade: fail, reason: ' '}\n",
        )

    assert "`PAUS-1` is no clause; did you mean `PAUSE-1`?" in str(caught.value)
    assert "say why this is known and not mended" in str(caught.value)


def test_a_variant_that_is_none_is_no_pattern(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as told:
        baseline(tmp_path, "known:\n  - {scenario: 'pause/*[ssee]', grade: fail, reason: x}\n")

    assert str(told.value).endswith("conformance.yaml:2:16: unknown variant `ssee`; did you mean `sse`?")


@pytest.mark.parametrize("text", ["", "---\n", "# nothing is known yet\n", "known: []\n"])
def test_a_file_may_say_nothing(tmp_path: Path, text: str) -> None:
    assert baseline(tmp_path, text).entries == []


def test_an_old_name_still_matches_and_is_told_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = moved.Moved({"pause/two": "pause/twice"}, {"PAUSE-0": "PAUSE-1", "PAUSE-9": None})
    monkeypatch.setattr("harness.baseline.load.moved", lambda: table)
    found = baseline(
        tmp_path,
        "known:\n"
        "  - {scenario: pause/two, clause: PAUSE-0, grade: fail, reason: x}\n"
        "  - {scenario: pause/twice, clause: PAUSE-9, grade: fail, reason: x}\n",
    )

    assert (found.entries[0].scenario, found.entries[0].clause) == ("pause/twice", "PAUSE-1")
    assert [note.partition("conformance.yaml:")[2] for note in found.notes] == [
        "2: `pause/two` is called `pause/twice` now",
        "2: `PAUSE-0` is called `PAUSE-1` now",
        "3: `PAUSE-9` is retired; remove the entry",
    ]


def test_the_table_of_old_names_names_nothing_that_there_is() -> None:
    known = Known.of(find_scenarios(), CLAUSES)
    table = moved.moved()

    assert not table.scenarios.keys() & known.scenarios.keys()
    assert not table.clauses.keys() & set(known.clauses)
    assert {new for new in table.scenarios.values() if new} <= known.scenarios.keys()
    assert {new for new in table.clauses.values() if new} <= set(known.clauses)


@pytest.mark.parametrize(
    ("when", "version", "holds"),
    [
        ({}, None, True),
        ({"anthropic": "<1"}, "0.9", True),
        ({"anthropic": "<1"}, "2.0", False),
        ({"anthropic": "<1", "python": ">=3"}, "0.9", False),
        ({"anthropic": "<1"}, None, False),
        ({"anthropic": ">=2"}, "2.1rc1", True),
    ],
)
def test_an_entry_holds_for_the_versions_it_names(
    when: dict[str, str], version: str | None, holds: bool
) -> None:
    assert applies(when, lambda _: version) is holds


def test_the_example_of_the_documentation_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "baseline.md").read_text()
    path = tmp_path / "conformance.yaml"
    path.write_text(page.partition("```yaml\n")[2].partition("```")[0])

    found = load(path, Known.of(find_scenarios(), CLAUSES))

    assert [entry.flaky for entry in found.entries] == [False, False, True]
    assert found.coverage == {"my_agent.conformance:loop": 61}
