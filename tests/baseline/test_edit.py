from __future__ import annotations

import difflib

import pytest
import yaml

from harness.baseline.edit import updated
from harness.baseline.ledger import Stale
from harness.baseline.model import Entry
from harness.scenario.problems import ScenarioError

TEXT = """\
# ours
coverage:
  mine: 40  # of the full run
known:
# those about pauses
- scenario: pause/twice   # for now
  clause: PAUSE-1
  grade: fail
  reason: >
    A long story
    of two lines.

- scenario: pause/no-tools
  grade: "fail"
  reason: 'short'
  when: {anthropic: '<1'}
# the end
"""
NEW = Entry(scenario="fault/cut", clause="FAULT-5", variant="sse", grade="fail", reason="it: is\nnew")


def changed(text: str, new: str) -> list[str]:
    lines = [*difflib.unified_diff(text.splitlines(), new.splitlines(), lineterm="", n=0)][2:]
    return [line for line in lines if not line.startswith("@@")]


def test_nothing_to_say_changes_nothing() -> None:
    assert updated(TEXT, "x.yaml", coverage={"mine": 40}) == TEXT


def test_an_entry_is_removed_with_its_own_lines_only() -> None:
    assert changed(TEXT, updated(TEXT, "x.yaml", stale=[Stale(0, "")])) == [
        "-- scenario: pause/twice   # for now",
        "-  clause: PAUSE-1",
        "-  grade: fail",
        "-  reason: >",
        "-    A long story",
        "-    of two lines.",
    ]


def test_an_entry_is_narrowed_in_its_place() -> None:
    assert changed(TEXT, updated(TEXT, "x.yaml", stale=[Stale(0, "", still="sse")])) == [
        "-- scenario: pause/twice   # for now",
        "+- scenario: pause/twice[sse]   # for now",
    ]


def test_new_entries_come_last_in_the_files_own_form() -> None:
    new = updated(TEXT, "x.yaml", add=[NEW])

    assert changed(TEXT, new) == [
        "+- scenario: fault/cut[sse]",
        "+  clause: FAULT-5",
        "+  grade: fail",
        '+  reason: "it: is\\nnew"',
    ]
    assert new.endswith("# the end\n")


def test_what_needs_no_quotes_gets_none() -> None:
    plain = Entry(scenario="pause/*", clause="PAUSE-1", variant="sse", grade="fail", reason="not yet")
    every = Entry(scenario="*", clause="HIST-1", grade="fail", reason="see a:b")

    new = updated("", "x.yaml", add=[plain, every], coverage={"my_agent.conformance:loop": 4})

    assert "  my_agent.conformance:loop: 4\n" in new
    assert "  - scenario: pause/*[sse]\n" in new
    assert '  - scenario: "*"\n' in new
    read = yaml.safe_load(new)
    assert read["coverage"] == {"my_agent.conformance:loop": 4}
    assert [each["scenario"] for each in read["known"]] == ["pause/*[sse]", "*"]
    assert read["known"][1]["reason"] == "see a:b"


def test_the_coverage_is_renewed_beside_its_comment() -> None:
    assert changed(TEXT, updated(TEXT, "x.yaml", coverage={"mine": 41, "other:loop": 7})) == [
        "-  mine: 40  # of the full run",
        "+  mine: 41  # of the full run",
        "+  other:loop: 7",
    ]


def test_the_last_entry_leaves_an_empty_list() -> None:
    new = updated(TEXT, "x.yaml", stale=[Stale(0, ""), Stale(1, "")])

    assert "known: []\n" in new
    assert changed(new, updated(new, "x.yaml", add=[NEW])) == [
        "-known: []",
        "+known:",
        "+  - scenario: fault/cut[sse]",
        "+    clause: FAULT-5",
        "+    grade: fail",
        '+    reason: "it: is\\nnew"',
    ]


@pytest.mark.parametrize("text", ["", "# ours\n"])
def test_a_file_is_begun(text: str) -> None:
    new = updated(text, "x.yaml", add=[NEW], coverage={"mine": 3})

    assert "coverage:\n  mine: 3\nknown:\n  - scenario: fault/cut[sse]\n" in new
    assert new.startswith(text or "# Known results")


def test_a_list_in_one_line_has_no_place_for_more() -> None:
    text = "known: [{scenario: pause/twice, grade: fail, reason: x}]\n"

    with pytest.raises(ScenarioError, match=r"x\.yaml:1:1: `known` is written in one line"):
        updated(text, "x.yaml", add=[NEW])


def test_a_file_without_an_end_of_line_gets_one() -> None:
    text = "known:\n  - {scenario: pause/twice, grade: fail, reason: x}"

    assert updated(text, "x.yaml", add=[NEW]).splitlines()[2] == "  - scenario: fault/cut[sse]"
