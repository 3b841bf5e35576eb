from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from harness.declaration import DeclarationError, attributes, collect
from harness.turn import EXPOSABLE, POLICIES, Declaration


def problems(declared=None, options=None, folder=None) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        collect(declared or {}, options, folder)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return caught.value.problems


def loop(turn):
    return None


@pytest.fixture
def function():
    return type(loop)(loop.__code__, {})


def test_nothing_declared_is_the_default(tmp_path):
    assert collect({}, None, tmp_path) == Declaration()


def test_later_sources_win_entry_by_entry(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.loop-harness]\ntools = 'own'\n"
        "policies = {on_refusal = 'fallback', cancel = 'at_once', on_tool_error = 'raise'}\n"
        "caps = {pauses = 3}\n"
    )
    declared = {
        "policies": {"cancel": "between_requests", "on_tool_error": "answer"},
        "caps": {"iterations": 8},
    }
    options = Declaration(policies={"on_tool_error": "raise"}, caps={"pauses": 4})
    assert collect(declared, options, tmp_path) == Declaration(
        policies={"on_refusal": "fallback", "cancel": "between_requests", "on_tool_error": "raise"},
        caps={"pauses": 4, "iterations": 8},
        tools="own",
    )


def test_the_nearest_project_counts(tmp_path):
    inner = tmp_path / "packages" / "agent" / "src"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.loop-harness]\ntools = 'none'\n")
    assert collect({}, None, inner).tools == "none"
    (inner.parent / "pyproject.toml").write_text("[tool.other]\nloop = 'a:b'\n")
    assert collect({}, None, inner) == Declaration()


def test_what_is_said_to_a_run_is_not_passed_over_where_nobody_reads_it(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.loop-harness]\nbaseline = 'x.yaml'\n")
    assert problems(folder=tmp_path) == [
        f"{tmp_path}/pyproject.toml:2:1: 'baseline' is nothing to declare; say it to the run: --baseline"
    ]
    (tmp_path / "pyproject.toml").write_text("[project]\n[tool.loop_harness]\ntools = 'own'\n")
    assert problems(folder=tmp_path) == [
        f"{tmp_path}/pyproject.toml:2:1: [tool.loop_harness] is read by nobody; write [tool.loop-harness]"
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[tool.loop-harness]\ncaps = {pauses = 3, wall_clock = 1e400}\n", "2:21"),
        ("[tool.loop-harness]\ncaps.pauses = 3\n'caps'.\"wall_clock\" = 0 # [x]\n", "3:1"),
        ("[tool.loop-harness.caps] # wall_clock = 3\n\n  wall_clock = '[x]'\n", "3:3"),
        ("[other]\ncaps = {wall_clock = 1}\n[tool]\nloop-harness.caps.wall_clock = false\n", "4:1"),
        ("[tool.loop-harness.caps]\n'wall_clock' = -1\n[tool.x.caps]\nwall_clock = 0\n", "2:1"),
        ('[tool.loop-harness]\ncaps = {"wall_\\u0063lock" = -1}\n', "2:1"),
    ],
)
def test_a_problem_of_a_project_is_told_where_its_key_is_written(tmp_path, text, place):
    (tmp_path / "pyproject.toml").write_text(text)

    (problem,) = problems(folder=tmp_path)

    assert problem.startswith(f"{tmp_path}/pyproject.toml:{place}: caps.wall_clock: a number above 0, not ")


def test_every_problem_is_told_at_once_with_its_place_and_the_nearest_name(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text(
        "[tool.loop-harness]\npolicy = {}\ntools = 'turns'\n"
        "[tool.loop-harness.caps]\niteration = 4\npauses = 0\n"
    )
    declared = {
        "policies": {"on_refused": "stop", "on_max_tokens": "continues"},
        "raises": {"Cut": "truncate"},
        "keys": "chat:*",
        "exposes": ["shwon", "usage"],
    }
    assert problems(declared, Declaration(keys={"cancel": ""}), tmp_path) == [
        f"{path}:2:1: 'policy' is not something to declare; did you mean 'policies'?",
        f"{path}:3:1: tools: one of turn, own, none, not 'turns'; did you mean 'turn'?",
        (
            f"{path}:5:1: caps.iteration: unknown; did you mean 'iterations'?"
            " (one of iterations, wall_clock, pauses)"
        ),
        f"{path}:6:1: caps.pauses: a number above 0, not 0",
        (
            "the loop's attributes: policies.on_refused: unknown; did you mean 'on_refusal'?"
            f" (one of {', '.join(POLICIES)})"
        ),
        (
            "the loop's attributes: policies.on_max_tokens: one of stop, continue, not 'continues';"
            " did you mean 'continue'?"
        ),
        (
            "the loop's attributes: raises.Cut: one of completed, refused, truncated, capped, cancelled,"
            " failed, not 'truncate'; did you mean 'truncated'?"
        ),
        "the loop's attributes: keys is a mapping, not 'chat:*'",
        (
            f"the loop's attributes: exposes: one of {', '.join(EXPOSABLE)}, not 'shwon'; did you"
            " mean 'shown'?"
        ),
        "the options: keys.cancel: a pattern, as text",
    ]


@pytest.mark.parametrize("value", [True, "4", None, -1])
def test_a_cap_is_a_number_above_nothing(value, tmp_path):
    (problem,) = problems({"caps": {"pauses": value}}, None, tmp_path)
    assert problem.endswith(f"caps.pauses: a number above 0, not {value!r}")


@pytest.mark.parametrize("value", [["on_refusal"], {"a": 1}, 3, None])
def test_values_of_a_wrong_kind_are_problems_not_crashes(value, tmp_path):
    assert problems({"tools": value}, None, tmp_path)
    assert problems({"policies": {"cancel": value}}, None, tmp_path)
    assert problems({"raises": {"Cut": value}}, None, tmp_path)
    assert problems({"exposes": [value]}, None, tmp_path)


def test_a_project_that_cannot_be_read_is_a_problem(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.loop-harness\n")
    (problem,) = problems(folder=tmp_path)
    assert problem.startswith(f"{tmp_path}/pyproject.toml:1:19: not TOML: ")
    (tmp_path / "pyproject.toml").write_bytes(b"[tool]\nx = '\xff'\n")
    assert problems(folder=tmp_path) == [f"{tmp_path}/pyproject.toml:2:6: byte 0xff is not UTF-8"]
    (tmp_path / "pyproject.toml").write_text("[tool]\nloop-harness = 4\n")
    assert problems(folder=tmp_path) == [
        f"{tmp_path}/pyproject.toml:2:1: [tool.loop-harness] is a table, not 4"
    ]
    (tmp_path / "pyproject.toml").write_text("tool = 4\n")
    assert collect({}, None, tmp_path) == Declaration()


def test_attributes_of_a_function_are_its_declaration(function):
    function.policies = {"cancel": "at_once"}
    function.raises = {LookupError: "failed"}
    function.tools = "own"
    assert attributes(function) == {
        "policies": {"cancel": "at_once"},
        "raises": {"LookupError": "failed"},
        "tools": "own",
    }


def test_a_wrong_attribute_of_a_function_is_not_passed_over(function, tmp_path):
    function.tools = ["search"]
    assert problems(attributes(function), None, tmp_path) == [
        "the loop's attributes: tools: one of turn, own, none, not ['search']"
    ]


def test_a_whole_declaration_may_be_one_attribute(function):
    function.declaration = Declaration(tools="own", caps={"pauses": 2})
    function.caps = {"iterations": 9}
    assert attributes(function) == {"tools": "own", "caps": {"iterations": 9}}


def test_what_an_object_calls_its_tools_is_not_taken_for_a_declaration():
    class Agent:
        tools = ("search", "fetch")
        exposes = "everything"

        def keys(self):
            return []

        def __call__(self, turn):
            return None

    agent = Agent()
    assert attributes(agent) == {}
    agent.policies = {"cancel": "at_once"}
    assert attributes(agent) == {"policies": {"cancel": "at_once"}}
    assert attributes(MagicMock()) == {}
