"""Scenarios are found in folders and chosen by name, family, clause, file and variant."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.scenario.discover import bundled_folder, find_scenarios, validate_paths
from harness.scenario.model import Scenario, Task, TurnScript
from harness.scenario.problems import ScenarioError
from harness.scenario.select import SelectorError, select

MINIMAL = (
    "title: t\nclauses: [END-1]\nwhy: w\ntask: {prompt: p}\nscript: [{reply: {content: [{text: Hello}]}}]\n"
)


def scenario(name: str, *clauses: str, **more: object) -> Scenario:
    turn = TurnScript(prompt="p", script=[])
    return Scenario(
        id=name,
        title="t",
        clauses=list(clauses),
        why="w",
        task=Task(),
        turns=[turn],
        path=f"x/{name}.yaml",
        **more,
    )


ALL = [
    scenario("cancel/streaming", "CANCEL-1", streams="only"),
    scenario("pause/no-tools", "PAUSE-1", "PAUSE-2"),
    scenario("pause/twice", "PAUSE-1"),
    scenario("text/one", "END-1"),
]


@pytest.mark.parametrize(
    ("selectors", "chosen"),
    [
        (["text/one"], ["text/one[json]", "text/one[sse]"]),
        (["text/one[sse]"], ["text/one[sse]"]),
        (["pause[json]"], ["pause/no-tools[json]", "pause/twice[json]"]),
        (
            ["pause/"],
            ["pause/no-tools[json]", "pause/no-tools[sse]", "pause/twice[json]", "pause/twice[sse]"],
        ),
        (["*/t*[sse]"], ["pause/twice[sse]"]),
        (["PAUSE-2[sse]"], ["pause/no-tools[sse]"]),
        (["PAUSE[sse]"], ["pause/no-tools[sse]", "pause/twice[sse]"]),
        (["CANCEL-1"], ["cancel/streaming[sse]"]),
        (["[json]"], ["pause/no-tools[json]", "pause/twice[json]", "text/one[json]"]),
        (
            ["text/one[sse]", "pause/twice[json]", "text/one"],
            ["pause/twice[json]", "text/one[json]", "text/one[sse]"],
        ),
        (["x/text/one.yaml[sse]"], ["text/one[sse]"]),
    ],
)
def test_a_selector_chooses(selectors: list[str], chosen: list[str]) -> None:
    assert [f"{each.id}[{variant}]" for each, variant in select(ALL, selectors)] == chosen


def test_without_selectors_everything_is_chosen() -> None:
    assert len(select(ALL)) == 7


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("pause/no-tool", "did you mean `pause/no-tools`?"),
        ("puase", "did you mean `pause`?"),
        ("PAUSE-7", "did you mean `PAUSE-"),
        ("text/one[see]", "unknown variant `see`; did you mean `sse`?"),
        ("text/one[sse", "a selector is a name, then perhaps [sse] or [json]"),
        ("cancel/streaming[json]", "there is cancel/streaming[sse]"),
        ("zzzz", "`loop-harness list` shows what there is"),
    ],
)
def test_a_selector_that_matches_nothing_says_what_comes_nearest(selector: str, said: str) -> None:
    with pytest.raises(SelectorError) as caught:
        select(ALL, ["text", selector])
    assert said in str(caught.value)
    assert selector.split("[", maxsplit=1)[0] in str(caught.value)


def test_a_prefix_ends_at_a_folder() -> None:
    with pytest.raises(SelectorError):
        select(ALL, ["text/on"])


def test_bundled_scenarios_come_before_those_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(MINIMAL)
    found = find_scenarios([tmp_path])
    assert found[-1].id == "own"
    assert len(found) > 40
    assert [each.id for each in find_scenarios([tmp_path], bundled=False)] == ["own"]


def test_two_files_with_one_id_are_an_error_that_names_both(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
        (folder / "own.yaml").write_text(MINIMAL)
    with pytest.raises(ScenarioError) as caught:
        find_scenarios([first, second], bundled=False)
    assert f"{second / 'own.yaml'}:1:1: " in str(caught.value)
    assert str(first / "own.yaml") in str(caught.value)


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_without_scenarios_is_an_error(tmp_path: Path, make: bool) -> None:
    folder = tmp_path / "none"
    if make:
        folder.mkdir()
        (folder / ".hidden.yaml").write_text("title: x")
    with pytest.raises(
        ScenarioError, match="holds no scenario" if make else "there is no such folder of scenarios"
    ):
        find_scenarios([folder], bundled=False)


def test_the_problems_of_all_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(MINIMAL.replace("why", "wyh"))
    (tmp_path / "worse.yml").write_text("")
    (tmp_path / "good.yaml").write_text(MINIMAL)
    (tmp_path / "odd name.yaml").write_text(MINIMAL)
    said = validate_paths([tmp_path, tmp_path / "good.yaml", tmp_path / "missing.yaml"])
    assert len(said) == 5
    assert sum("bad.yaml" in line for line in said) == 2
    assert any("worse.yml:1:1: the file is empty" in line for line in said)
    assert any("missing.yaml:1:1: there is no such file or folder" in line for line in said)
    assert any("`odd name` is no id of a scenario" in line for line in said)
    assert validate_paths([tmp_path / "good.yaml"]) == []


def test_bundled_scenarios_have_no_problem() -> None:
    assert validate_paths([bundled_folder()]) == []
