"""The lines of a run: failures first, each kind of breach explained once."""

from __future__ import annotations

from harness.report.kinds import View
from harness.report.told import loops_line, render
from tests.report.samples import report, right, undriven, wrong


def test_a_clause_broken_twice_is_explained_once() -> None:
    text = render(report(), View())

    assert text.startswith("FAIL  TOOL-2  The call toolu_01A")
    assert text.count("FAIL  TOOL-2") == 1
    assert "also          TOOL-2 in tool/one[sse]\n" in text
    assert "ERROR  end/odd[json]  the host died\n" in text
    assert "warn          HIST-7  text/one[json]: The model changed.\n" in text
    assert text.endswith("5 cases: 1 error, 2 fail, 1 warn, 1 unsupported\n")


def test_only_failures_leaves_the_remarks_out() -> None:
    text = render(report(), View(only_failures=True))

    assert "FAIL  TOOL-2" in text
    assert "HIST-7" not in text
    assert "not judged" not in text


def test_quiet_is_a_line_for_each_breach_and_the_sum() -> None:
    lines = render(report(), View(detail="quiet")).splitlines()

    assert lines[0] == "FAIL   TOOL-2  tool/one[json]: The call toolu_01A has no result | `in` request 2 <b>."
    assert lines[1].startswith("FAIL   TOOL-2  tool/one[sse]: ")
    assert lines[2] == "ERROR  end/odd[json]: the host died"
    assert lines[3].endswith("1 unsupported")
    assert len(lines) == 4


def test_verbose_tells_every_case_and_every_failure_in_full() -> None:
    text = render(report(), View(detail="verbose"))

    assert text.count("FAIL  TOOL-2") == 2
    assert "warn          text/one[json]  0.50 s\n" in text
    assert "unsupported   cap/all[json]  0.50 s\n" in text


def test_several_loops_each_have_a_heading() -> None:
    text = render(report(wrong("one"), right("two"), undriven("three")), View())

    assert text.startswith("== one (mine:loop)\n\nFAIL  TOOL-2")
    assert "\n\n== two (mine:loop)\n" in text
    assert "ERROR  the loop cannot be driven, so nothing was judged\n  there is no module 'gone'\n" in text
    assert (
        loops_line(report(wrong("one"), right("two"), undriven("three"))).text == "2 of 3 loops with failures"
    )
    assert loops_line(report(right("two"), right("one"))).text == "2 loops without a failure"


def test_colour_is_nowhere_in_the_text() -> None:
    assert "\x1b" not in render(report(), View(detail="verbose"))
