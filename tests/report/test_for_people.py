"""Markdown, annotations and the badge: what is broken, short and first."""

from __future__ import annotations

import json

import pytest

from harness.report import markdown
from harness.report.kinds import View, rendered
from harness.report.model import Report
from tests.report.samples import KEPT, KNOWN, LOST, loop, report, result, right, undriven, wrong


def told(kind: str, of: Report, view: View | None = None) -> str:
    text = rendered(kind, of, view)
    assert isinstance(text, str)
    return text


def test_markdown_begins_with_what_each_loop_comes_to() -> None:
    lines = told("markdown", report(wrong(), right(), undriven())).splitlines()

    assert lines[2] == "| loop | | clauses decided | cases |"
    assert lines[4].startswith("| wrong | ❌ 2 clauses broken | 3 of ")
    assert lines[4].endswith("5 cases: 1 error, 2 fail, 1 warn, 1 unsupported |")
    assert lines[5].startswith("| right | ✅ nothing broken | ")
    assert lines[6] == "| gone | ❌ cannot be driven | | |"


def test_markdown_tells_each_clause_once_with_its_cases_and_what_to_do() -> None:
    text = told("markdown", report())

    assert text.count("TOOL-2](https://") + text.count("**TOOL-2**") == 1
    assert "in `tool/one[json]`, request 2, also in `tool/one[sse]`" in text
    assert "- **advice**: Answer every call, with its own id." in text
    assert '```diff\n-  "tool_use_id": "toolu_01A"\n' in text
    assert "```sh\nloop-harness run 'tool/one[json]' --loop mine:loop --seed 7\n```" in text
    assert "**Remarks**" in text


def test_what_is_known_is_no_failure_and_yet_counted() -> None:
    of = report(loop("mine", result("a/b", "json", KEPT, KNOWN)))

    assert "| mine | ✅ nothing new, 1 known |" in told("markdown", of)
    assert told("github", of) == ""


def test_nothing_in_markdown_is_taken_for_markup() -> None:
    odd = result("a/b", "json", LOST, grade="fail")

    assert r"no result \| \`in\` request 2 \<b\>." in told("markdown", report(loop("mine", odd)))


def test_a_fence_is_longer_than_any_within_it() -> None:
    fenced = list(markdown._fenced("````\ncode\n````", "diff"))

    assert fenced == ["`````diff", "````", "code", "````", "`````"]


def test_markdown_says_where_there_is_no_room_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "ROOM", 900)

    text = told("markdown", report(wrong("one"), wrong("two")))

    assert text.endswith("There is more than fits here; the other reports have all of it.\n")
    assert len(text) < 2500


def test_an_annotation_is_one_line_with_a_title() -> None:
    lines = told("github", report()).splitlines()

    assert lines[0].startswith(
        "::error title=TOOL-2 in tool/one[json]::The call toolu_01A has no result | `in` request 2 <b>.%0A"
    )
    assert "Also in tool/one[sse]." in lines[0]
    assert lines[1].startswith("::error title=end/odd[json]::the host died%0A")
    assert lines[2].startswith("::warning title=HIST-7 in text/one[json]::The model changed.")
    assert len(lines) == 3


def test_an_annotation_names_the_file_of_a_loop_and_escapes_what_would_end_it() -> None:
    one = loop("a, b: 100%", result("tool/one", "json", LOST), target="my/loop.py:run")

    first = told("github", report(one, right())).splitlines()[0]

    assert first.startswith("::error file=my/loop.py,title=a%2C b%3A 100%25%3A TOOL-2 in tool/one[json]::")


def test_the_tenth_annotation_tells_of_those_that_github_would_drop() -> None:
    names = [f"TOOL-{number}" for number in range(1, 12)] + ["END-1"]
    checks = [LOST.__class__(clause=name, level="MUST", grade="fail", message=name) for name in names]

    lines = told("github", report(loop("mine", result("a/b", "json", *checks)))).splitlines()

    assert len(lines) == 10
    assert lines[0].startswith("::error title=END-1 ")
    assert lines[-1] == "::error title=loop-harness::3 more clauses; the report names them"


@pytest.mark.parametrize(
    ("of", "message", "colour"),
    [
        (report(right()), "1 of 92 clauses kept", "brightgreen"),
        (report(wrong()), "3 of 92 clauses, 2 broken", "red"),
        (report(wrong(), right(), undriven()), "1 of 3 loops conform", "red"),
        (report(right("a"), right("b")), "2 of 2 loops conform", "brightgreen"),
        (report(loop("mine", result("a/b", "json", KEPT, KNOWN))), "2 of 92 clauses, 1 known", "brightgreen"),
        (report(undriven()), "not judged", "lightgrey"),
        (report(loop("mine")), "not judged", "lightgrey"),
        (Report(), "not judged", "lightgrey"),
    ],
)
def test_the_badge_says_it_in_a_word(of: Report, message: str, colour: str) -> None:
    badge = json.loads(told("badge", of))

    assert (badge["schemaVersion"], badge["label"]) == (1, "loop-harness")
    clauses = of.loops[0].coverage.clauses if of.loops else 0
    assert badge["message"].replace(f" of {clauses} ", " of 92 ") == message
    assert badge["color"] == colour
    assert badge.keys() <= {"schemaVersion", "label", "message", "color", "isError"}
