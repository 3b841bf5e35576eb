"""JUnit XML: valid, and red only where a MUST is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from harness.report.junit import render
from harness.report.kinds import View
from harness.report.model import Report
from tests.report.samples import KNOWN, LOST, loop, report, result, right, undriven, wrong

# The schema of Jenkins' xUnit plugin, by whose authors it is licensed as it says itself.
XSD = etree.XMLSchema(etree.parse(Path(__file__).parent / "junit-10.xsd"))


def parsed(of: Report) -> etree._Element:
    return etree.fromstring(render(of, View()).encode())


@pytest.mark.parametrize(
    "of", [report(), report(wrong("one"), right("two"), undriven("three")), report(undriven()), Report()]
)
def test_it_is_valid(of: Report) -> None:
    XSD.assertValid(parsed(of))


def test_a_suite_is_a_scenario_and_a_case_a_clause() -> None:
    root = parsed(report())

    assert [suite.get("name") for suite in root] == ["tool/one", "text/one", "cap/all", "end/odd"]
    cases = [(case.get("classname"), case.get("name")) for case in root[0].iter("testcase")]
    assert cases == [
        ("tool.one[json]", "TOOL-2"),
        ("tool.one[json]", "END-1"),
        ("tool.one[sse]", "TOOL-2"),
        ("tool.one[sse]", "END-1"),
    ]


def test_the_numbers_are_those_of_the_cases() -> None:
    root = parsed(report(wrong("one"), undriven("two")))

    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        for suite in root:
            assert int(suite.get(name)) == len(list(suite.iter(tag)))
        assert int(root.get(name)) == len(list(root.iter(tag)))
    assert sum(int(suite.get("skipped")) for suite in root) == len(list(root.iter("skipped")))
    assert [suite.get("id") for suite in root] == [str(number) for number in range(len(root))]


def test_a_failure_says_all_that_the_terminal_says() -> None:
    [failure, _] = parsed(report()).iter("failure")

    assert failure.get("message") == LOST.message
    assert failure.get("type") == "MUST"
    assert failure.text.startswith("FAIL  TOOL-2")
    assert "advice    Answer every call" in failure.text
    assert "again     loop-harness run 'tool/one[json]' --loop mine:loop --seed 7" in failure.text


def test_a_should_is_not_red_and_yet_told() -> None:
    suite = parsed(report())[1]

    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "0", "1")
    assert "warn  HIST-7  text/one[json]: The model changed." in suite.findtext("system-out")


def test_what_is_known_is_skipped_with_its_reason() -> None:
    root = parsed(report(loop("mine", result("a/b", "json", KNOWN))))

    assert (root.get("tests"), root.get("failures")) == ("1", "0")
    assert root.find("testsuite/testcase/skipped").get("message") == KNOWN.message


def test_a_case_that_could_not_be_judged_is_an_error_and_one_that_was_not_is_skipped() -> None:
    root = parsed(report())

    assert root[2].find("testcase/skipped").get("message") == "CAP-1: no iterations"
    error = root[3].find("testcase/error")
    assert error.get("message").startswith("the host died")
    assert "its last words" in error.text


def test_a_loop_that_cannot_be_driven_is_one_error() -> None:
    root = parsed(report(undriven("two")))

    assert root.get("errors") == "1"
    assert root.find("testsuite/testcase/error").text == "there is no module 'gone'\nlook again"


def test_several_loops_are_told_apart_and_their_names_are_no_packages() -> None:
    root = parsed(report(wrong("a.b"), right("two")))

    assert root[0].get("name") == "a.b: tool/one"
    assert root[0].find("testcase").get("classname") == "a_b.tool.one[json]"


def test_the_seconds_of_a_case_are_shared_among_its_clauses() -> None:
    suite = parsed(report())[0]

    assert suite.get("time") == "1.000"
    assert sum(float(case.get("time")) for case in suite.iter("testcase")) == pytest.approx(1.0)


def test_characters_that_xml_lacks_are_replaced() -> None:
    odd = result("a/b", "json", grade="error", reason="\x00 and \x1b[31m and ]]> and \ufffe")

    root = parsed(report(loop("mine", odd)))

    assert root.find("testsuite/testcase/error").get("message") == "� and �[31m and ]]> and �"
