"""The pytest surface, used from other repositories."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness import conformance

ONE = "from harness import conformance\ntest_loop = conformance({loop!r}, select={select!r})\n"
REFERENCE = "harness.loops.reference:loop"
WRONG = """
import json, urllib.request

def loop(turn):
    body = {"model": turn.model, "max_tokens": turn.max_tokens, "messages": turn.messages}
    headers = {"x-api-key": turn.api_key, "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    request = urllib.request.Request(turn.base_url + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        reply = json.load(answer)
    return "".join(block["text"] for block in reply["content"] if block["type"] == "text")
"""


def test_a_right_loop_passes_every_scenario_chosen(adopter: Any) -> None:
    adopter.write({"test_it.py": ONE.format(loop=REFERENCE, select="text/one")})

    result = adopter.pytest("-v")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["test_it.py::test_loop?text/one-json? PASSED*"])


def test_a_loop_handed_over_as_a_function_runs_in_the_same_process(adopter: Any) -> None:
    adopter.write(
        {
            "mine.py": WRONG,
            "test_it.py": "import os\nimport mine\nfrom harness import conformance\nSEEN = set()\n"
            "def loop(turn):\n    SEEN.add(os.getpid())\n    return mine.loop(turn)\n"
            "test_loop = conformance(loop, select='text/one')\n"
            "def test_after():\n    assert SEEN == {os.getpid()}\n",
        }
    )

    adopter.pytest().assert_outcomes(passed=2, skipped=1)


def test_a_broken_clause_fails_with_its_report_and_without_a_traceback(adopter: Any) -> None:
    adopter.write({"mine.py": WRONG, "test_it.py": ONE.format(loop="mine:loop", select="pause/no-tools")})

    result = adopter.pytest(as_module=True)

    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*FAIL  PAUSE-1  *",
            "*where     pause/no-tools?json?, request 1",
            "*clause    *(MUST)",
            "*expected  *",
            "*happened  *",
            "*advice    *",
            "*trace",
            "*0.0??  turn 1*",
            "*request 1*",
            "*again     pytest 'test_it.py::test_loop?pause/no-tools-json?'",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*plugin.py*")


def test_a_failure_is_named_in_the_short_summary(adopter: Any) -> None:
    adopter.write({"mine.py": WRONG, "test_it.py": ONE.format(loop="mine:loop", select="pause/no-tools")})

    result = adopter.pytest("-rf", as_module=True)

    result.stdout.fnmatch_lines(["FAILED test_it.py::test_loop?pause/no-tools-json? - *PAUSE-1*"])


def test_a_variant_the_loop_does_not_have_is_skipped_at_the_test_files_line(adopter: Any) -> None:
    adopter.write({"mine.py": WRONG, "test_it.py": ONE.format(loop="mine:loop", select="text/one")})

    result = adopter.pytest("-rs", as_module=True)

    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED *test_it.py:2: the loop sends the same requests as ?json?*"])


def test_the_summary_says_what_was_decided_and_what_could_not_be(adopter: Any) -> None:
    adopter.write({"mine.py": WRONG, "test_it.py": ONE.format(loop="mine:loop", select="text/one")})

    result = adopter.pytest(as_module=True)

    result.stdout.fnmatch_lines(
        [
            "*loop-harness: mine:loop*",
            "not judged *call turn.report*",
            "* of * clauses decided*",
        ]
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_loop_that_cannot_be_driven_is_one_red_with_one_explanation(adopter: Any, workers: str) -> None:
    adopter.write({"test_it.py": ONE.format(loop="nowhere:loop", select="text")})

    result = adopter.pytest("-n", workers, "-rs")

    outcomes = result.parseoutcomes()
    assert outcomes["failed"] == 1
    assert outcomes["skipped"] >= 3
    assert "passed" not in outcomes
    result.stdout.fnmatch_lines(["*cannot be driven*", "*no module 'nowhere'*"])
    result.stdout.fnmatch_lines(["SKIPPED *nowhere:loop cannot be driven: the first failure says why"])


def test_cases_are_chosen_by_name_path_and_marker(adopter: Any) -> None:
    adopter.write({"tests/test_it.py": ONE.format(loop=REFERENCE, select="pause")})

    def collected(*arguments: str) -> int:
        result = adopter.pytest("--collect-only", "-q", *arguments)
        return sum("test_loop[" in line for line in result.outlines)

    everything = collected()
    assert everything > 6
    assert collected("-k", "no-tools and sse") == 1
    assert collected("-m", "conformance(family='pause')") == everything
    assert collected("-m", "conformance(variant='sse')") == everything // 2
    assert collected("tests/test_it.py::test_loop[pause/no-tools-json]") == 1


def test_fixtures_and_markers_of_the_repository_apply(adopter: Any) -> None:
    adopter.write(
        {
            "mine.py": WRONG,
            "test_it.py": "import pytest\nfrom harness import conformance\n"
            "@pytest.fixture\ndef db(): print('db is up')\n"
            "test_loop = pytest.mark.usefixtures('db')(conformance('mine:loop', select='text/one'))\n",
        }
    )

    result = adopter.pytest("-rP")

    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["db is up"])


def test_the_last_failed_case_alone_is_run_again(adopter: Any) -> None:
    adopter.write(
        {
            "mine.py": WRONG,
            "test_it.py": ONE.format(loop="mine:loop", select=["pause/no-tools", "text/one"]),
        }
    )
    adopter.pytest(as_module=True)

    result = adopter.pytest("--lf", as_module=True)

    result.assert_outcomes(failed=1)


def test_a_repositorys_own_scenarios_are_added(adopter: Any) -> None:
    scenario = (
        "title: Ours\nclauses: [END-1]\nwhy: it is ours\n"
        "script:\n  - reply: {content: [{text: Ours is here.}]}\n"
    )
    adopter.write(
        {
            "mine.py": WRONG,
            "scenarios/ours/one.yaml": scenario,
            "tests/test_it.py": "from harness import conformance\n"
            "test_loop = conformance('mine:loop', scenarios='scenarios', select='ours')\n",
        }
    )

    adopter.pytest("-v").assert_outcomes(passed=1, skipped=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("select='pause/no-tool'", "*did you mean `pause/no-tools`?"),
        ("scenarios='nowhere'", "*nowhere:1:1: there is no such folder of scenarios*"),
        (
            "declaration={'policys': {}}",
            "conformance(declaration=?): 'policys' *did you mean 'policies'?",
        ),
    ],
)
def test_a_mistake_in_the_call_is_one_line_and_no_traceback(
    adopter: Any, arguments: str, message: str
) -> None:
    adopter.write(
        {
            "test_it.py": "from harness import conformance\n"
            f"test_loop = conformance({REFERENCE!r}, {arguments})\n"
        }
    )

    result = adopter.pytest()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    result.stdout.no_fnmatch_line("*plugin.py:*")


def test_what_is_neither_a_name_nor_a_callable_is_refused_where_it_is_written() -> None:
    with pytest.raises(pytest.Collector.CollectError, match=r"conformance\(3\): name the loop as 'package"):
        conformance(3)  # type: ignore[arg-type]


def test_the_outer_net_is_wider_than_the_repositorys_own_timeout(adopter: Any) -> None:
    adopter.write(
        {
            "mine.py": WRONG,
            "test_it.py": ONE.format(loop="mine:loop", select="text/slow[json]"),
            "pytest.ini": "[pytest]\ntimeout = 0.2\n",
        }
    )

    adopter.pytest().assert_outcomes(passed=1)


def test_nothing_is_needed_of_pytest_timeout(adopter: Any) -> None:
    adopter.write({"mine.py": WRONG, "test_it.py": ONE.format(loop="mine:loop", select="text/one")})

    adopter.pytest("-p", "no:timeout", "--strict-markers").assert_outcomes(passed=1, skipped=1)


def test_a_scenario_can_be_run_by_hand(adopter: Any) -> None:
    adopter.write(
        {
            "mine.py": WRONG,
            "test_it.py": "def test_hand(harness_loop):\n"
            "    from mine import loop\n"
            "    result = harness_loop(loop, 'text/one', variant='json')\n"
            "    assert result.grade == 'pass', result\n"
            "    assert result.id == 'text/one[json]'\n",
        }
    )

    adopter.pytest().assert_outcomes(passed=1)


def test_a_scenario_that_is_none_is_told_with_the_nearest(adopter: Any) -> None:
    adopter.write(
        {
            "test_it.py": "def test_none(harness_loop):\n    harness_loop(print, 'pause/no-tool')\n"
            "def test_many(harness_loop):\n    harness_loop(print, 'pause')\n"
        }
    )

    result = adopter.pytest()

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["harness_loop: `pause/no-tool*did you mean `pause/no-tools`?"])
    result.stdout.fnmatch_lines(["harness_loop: pause[[]json] matches * scenarios; name one"])
    assert "Error" not in result.stdout.str()


def test_what_was_judged_is_on_the_report_as_plain_data(adopter: Any) -> None:
    adopter.write(
        {
            "mine.py": WRONG,
            "test_it.py": ONE.format(loop="mine:loop", select="text/one[json]"),
            "conftest.py": "import json\ndef pytest_runtest_logreport(report):\n"
            "    if report.when == 'call': print('DATA', json.dumps(report.loop_harness))\n",
        }
    )

    result = adopter.pytest("-s")

    line = next(line for line in result.outlines if "DATA" in line)
    data = json.loads(line.partition("DATA")[2].rpartition("}")[0] + "}")
    assert data["grade"] == "pass"
    assert data["case"] == "text/one[json]"
    assert ["END-1", "pass", "wire"] in [check[:3] for check in data["checks"]]
