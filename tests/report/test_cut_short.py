"""Reports of a run that was cut short: each kind says that it is one, and what was not played."""

from __future__ import annotations

import pytest
from lxml import etree

from harness.commands.part import _of
from harness.report.compare import compared
from harness.report.html import render as page
from harness.report.json import render as as_json
from harness.report.kinds import View, rendered
from harness.report.load import decode
from harness.report.merge import MergeError, Stored, merged
from tests.report.samples import KEPT, LOST, cut, loop, report, result, right, wrong

SAID = "the run was cut short: 2 cases were not played"


@pytest.mark.parametrize("kind", ["text", "markdown", "github", "html", "junit"])
def test_whoever_reads_one_learns_that_there_is_more(kind: str) -> None:
    text = str(rendered(kind, report(cut())))

    assert SAID in text
    assert "tool/one[sse]" in text
    assert "text/one[json]" in text
    assert "cut short" not in str(rendered(kind, report(right())))


@pytest.mark.parametrize("kind", ["text", "markdown", "github", "junit"])
def test_so_does_who_reads_the_failures_alone(kind: str) -> None:
    assert SAID in str(rendered(kind, report(cut()), View(only_failures=True)))


def test_a_loop_that_was_not_begun_is_told_with_all_its_cases() -> None:
    nothing = loop("mine", unplayed=["a/b[json]"])

    assert "1 case was not played: a/b[json]" in str(rendered("text", report(nothing)))
    assert "not judged" not in str(rendered("text", report(nothing)))


def test_it_is_not_green_to_a_server_and_has_no_colour_on_a_badge() -> None:
    root = etree.fromstring(str(rendered("junit", report(cut()))).encode())

    assert (root.get("errors"), root.get("failures")) == ("1", "0")
    [error] = root.iter("error")
    assert error.getparent().get("name") == "the run comes to its end"
    assert '"message": "incomplete", "color": "lightgrey"' in str(rendered("badge", report(cut())))
    assert '"color": "red"' in str(rendered("badge", report(cut(), wrong())))


def test_what_is_broken_comes_before_what_is_not_known() -> None:
    broken = loop("mine", result("a/b", "json", LOST), unplayed=["a/c[json]"])

    assert "❌ 1 clause broken, incomplete" in str(rendered("markdown", report(broken)))
    assert "⚠️ incomplete" in str(rendered("markdown", report(cut())))


def test_it_is_stored_and_read_again() -> None:
    again = decode(as_json(report(cut()), View()))

    assert again.loops[0].unplayed == ["tool/one[sse]", "text/one[json]"]
    assert again.incomplete
    assert page(again, View()) == page(report(cut()), View())


def test_what_was_not_played_is_not_gone_and_the_comparison_says_so() -> None:
    whole = loop("cut", *(result(case, variant, KEPT) for case, variant in
                          (("tool/one", "json"), ("tool/one", "sse"), ("text/one", "json"))))  # fmt: skip
    found = compared(report(whole), report(cut()))

    assert found.changes == []
    assert found.notes == [f"the new report is incomplete: cut: {SAID}"]


def test_the_next_run_of_what_failed_plays_what_was_not_played_too() -> None:
    assert _of(report(cut()), "cut", "x.json", alone=True) == {"tool/one[sse]", "text/one[json]"}


def test_a_shard_that_was_cut_short_makes_the_whole_incomplete_and_one_without_cases_none() -> None:
    cases = ["tool/one[json]", "tool/one[sse]", "text/one[json]"]
    first = loop("mine", result("tool/one", "json", KEPT), shard="1/2", cases=cases, unplayed=cases[1:2])
    second = loop("mine", result("text/one", "json", KEPT), shard="2/2", cases=cases)
    never = loop("mine", shard="2/2", unplayed=["text/one[json]"])

    [whole] = merged([Stored("1.json", report(first)), Stored("2.json", report(second))]).loops
    assert [each.id for each in whole.results] == ["tool/one[json]", "text/one[json]"]
    assert whole.unplayed == ["tool/one[sse]"]
    with pytest.raises(MergeError, match=r"2\.json was cut short before anything was played; run that shard"):
        merged([Stored("1.json", report(first)), Stored("2.json", report(never))])
