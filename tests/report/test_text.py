"""The report of a failure: defect first, then all that is needed to understand it."""

from __future__ import annotations

from harness.history import Answered, Began, Ended, RequestSeen, TurnBegan
from harness.judge import CheckResult
from harness.report.lines import Line, counted, labelled, listed, shortened, visible
from harness.report.text import also_lines, case_lines, check_lines, kinds_of, remark_lines
from harness.runner import CaseResult

LOST = CheckResult(
    clause="HIST-1",
    level="MUST",
    grade="fail",
    ground="documented",
    message="The signature of a thinking block is gone.",
    expected="The reply to request 1 goes back as it came.",
    happened="In request 2 block 0 has no signature.",
    turn=1,
    request=2,
    block=0,
    diff='-  "signature": "abc"\n+  "signature": ""\n   "type": "thinking"',
    advice="Append the content as it came.",
)
OWN = CheckResult(clause="EXPECT", level="MUST", grade="fail", message="The loop made 1 request.")
EVENTS = [
    Began(scenario_id="tool/one", variant="json", scenario={}, seed=7),
    TurnBegan(at=0.0, prompt="Look it up."),
    RequestSeen(at=0.012, request=1, body={"messages": [{"role": "user", "content": "Look it up."}]}),
    Answered(
        at=0.013, request=1, kind="reply",
        body={"stop_reason": "end_turn", "content": [{"type": "text", "text": "Found."}]},
    ),
    Ended(at=0.02, status="completed", shown=["Found."]),
]  # fmt: skip


def result(*checks: CheckResult, grade: str = "fail", reason: str = "") -> CaseResult:
    return CaseResult(
        scenario="tool/one", variant="json", grade=grade, checks=list(checks), events=EVENTS, reason=reason
    )


def text(lines: object) -> str:
    return "\n".join(line.text for line in lines)  # type: ignore[attr-defined]


def test_the_defect_is_the_first_line() -> None:
    first = next(case_lines(result(LOST), "again"))

    assert first == Line("FAIL  HIST-1  The signature of a thinking block is gone.", "bad")


def test_a_check_says_where_what_was_expected_what_happened_and_what_to_do() -> None:
    said = text(check_lines(LOST, "tool/one[json]"))

    assert "  where     tool/one[json], turn 2, request 2, block 0\n" in said
    assert "  clause    Assistant content" in said
    assert "(MUST)" in said
    assert "  ground    documented: http" in said
    assert "  expected  The reply to request 1 goes back as it came.\n" in said
    assert "  happened  In request 2 block 0 has no signature.\n" in said
    assert said.endswith("  advice    Append the content as it came.")


def test_what_changed_is_shown_as_a_diff() -> None:
    lines = list(check_lines(LOST, "tool/one[json]"))

    assert Line('    -  "signature": "abc"', "removed") in lines
    assert Line('    +  "signature": ""', "added") in lines
    assert Line('       "type": "thinking"') in lines


def test_the_trace_the_seed_and_the_line_to_run_it_again_close_the_report() -> None:
    said = text(case_lines(result(LOST), "loop-harness run 'tool/one[json]'"))

    assert '      0.012  request 1    1 message, the last: user "Look it up."\n' in said
    assert '      0.013  answer 1     end_turn: ["Found."]\n' in said
    assert '      0.020  outcome      completed; shown: "Found."\n' in said
    assert said.endswith("  seed      7\n  again     loop-harness run 'tool/one[json]'")


def test_what_only_the_scenario_expects_is_named_beside_a_clause_and_told_alone() -> None:
    assert kinds_of(result(LOST, OWN)) == {"HIST-1"}
    assert kinds_of(result(OWN)) == {"EXPECT"}
    assert "  also      broken in this case: EXPECT" in text(case_lines(result(LOST, OWN), ""))
    assert text(case_lines(result(OWN), "")).startswith("FAIL  EXPECT  The loop made 1 request.")


def test_a_clause_that_is_known_to_be_broken_is_only_named() -> None:
    said = text(case_lines(result(LOST, OWN), "", known={"HIST-1"}))

    assert "FAIL" not in said
    assert "  also      broken in this case: HIST-1, EXPECT" in said


def test_an_error_without_a_check_tells_its_reason() -> None:
    failed = result(grade="error", reason="the host died\nits last words")

    said = text(case_lines(failed, ""))

    assert kinds_of(failed) == {"error: the host died\nits last words"}
    assert said.startswith("ERROR  tool/one[json]  the host died\n  its last words\n")


def test_a_case_that_passed_has_nothing_wrong() -> None:
    passed = CheckResult(clause="HIST-1", level="MUST", grade="pass")

    assert kinds_of(result(passed, grade="pass")) == set()


def test_remarks_are_one_line_a_clause() -> None:
    found = {("warn", "HIST-7"): [("a[json]", "The model changed."), ("b[json]", "It changed, too.")]}

    assert text(remark_lines(found)) == "warn          HIST-7  a[json]: The model changed. (and in 1 more)"


def test_further_cases_are_named_up_to_a_handful() -> None:
    found = {"HIST-1": [f"{letter}[json]" for letter in "abcdefg"], "HIST-2": []}

    said = text(also_lines(found))

    assert said.startswith("also          HIST-1 in a[json], b[json], ")
    assert said.endswith("e[json] and 2 more")


def test_long_lines_are_wrapped_below_their_start() -> None:
    first, second = labelled("because", "word " * 30)

    assert first.text.startswith("  because   word")
    assert second.text.startswith(" " * 12 + "word")
    assert max(len(first.text), len(second.text)) <= 100


def test_small_words() -> None:
    assert [counted(number, "case") for number in (0, 1, 2)] == ["0 cases", "1 case", "2 cases"]
    assert counted(2, "reply", "replies") == "2 replies"
    assert shortened("one\n two   three") == "one two three"
    assert shortened("abcdef", 4) == "abc…"


def test_what_a_loop_printed_moves_nothing_on_a_terminal() -> None:
    assert visible("\x1b[2J\a\rüber\t\x9b\n") == "\\x1b[2J\\x07\\x0düber\t\\x9b\n"
    assert listed(["a", "b"]) == "a, b"
