"""The register of mutants is in order; that each of them dies by its clauses is shown elsewhere."""

from __future__ import annotations

import inspect

import pytest

from harness.clauses import CLAUSES
from harness.loops.reference import ReferenceTurn
from harness.scenario.discover import find_scenarios
from harness.turn import Limits
from tests.every import every
from tests.loops import mutants
from tests.loops.canned import call, play, reply, search, text, tool
from tests.loops.mutants import MUTANTS, Mutant
from tests.loops.threaded import ThreadedTurn

NEEDED = {
    "END": (1, 2, 3),
    "TOOL": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
    "PAUSE": (1, 2, 3, 4, 5),
    "TRUNC": (1, 2, 3, 4),
    "REFUSE": (1, 2, 3, 4, 5),
    "WINDOW": (1,),
    "COMPACT": (1,),
    "UNKNOWN": (1,),
    "BOUND": (1,),
    "HIST": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
    "OWN": (1,),
    "THREAD": (1,),
    "SHOW": (1, 2, 3, 4, 5, 6),
    "CAP": (1, 2, 3, 4, 5, 6, 7),
    "CANCEL": (1, 2, 3, 4, 5),
    "CLEAN": (1, 2, 3, 4, 5, 6, 7, 8),
    "RESUME": (1, 2, 3, 4, 5, 6),
    "USAGE": (1, 2, 3),
    "FAULT": (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    "STREAM": (1, 2),
}
SCENARIOS = {scenario.id for scenario in find_scenarios()}
EACH = every(MUTANTS.values(), lambda mutant: mutant.name)


def test_every_clause_has_a_mutant_that_breaks_it():
    broken = {clause for mutant in MUTANTS.values() for clause in mutant.clauses}
    needed = {f"{family}-{number}" for family, numbers in NEEDED.items() for number in numbers}
    assert needed - broken == set()


@EACH
def test_a_mutant_names_clauses_and_scenarios_that_exist(mutant: Mutant):
    assert mutant.clauses
    assert set(mutant.clauses) <= set(CLAUSES)
    assert mutant.scenarios
    assert set(mutant.scenarios) - SCENARIOS == set()
    assert mutant.doc.endswith(".")


@EACH
def test_a_mutant_overrides_something_of_a_right_turn(mutant: Mutant):
    base = ThreadedTurn if issubclass(mutant.machine, ThreadedTurn) else ReferenceTurn
    own = [name for name in vars(mutant.machine) if callable(getattr(mutant.machine, name))]
    assert any(hasattr(base, name) for name in own)


@EACH
def test_a_mutant_can_be_named_in_both_forms(mutant: Mutant):
    blocking = getattr(mutants, mutant.target().rpartition(":")[2])
    asynchronous = getattr(mutants, mutant.target("async").rpartition(":")[2])
    assert not inspect.iscoroutinefunction(blocking)
    assert inspect.iscoroutinefunction(asynchronous)


def test_a_name_that_is_no_mutant_is_an_attribute_error():
    with pytest.raises(AttributeError):
        mutants.does_everything_right  # noqa: B018


@pytest.mark.parametrize("form", ["loop", "async_loop"])
@pytest.mark.parametrize("stream", [False, True], ids=["json", "sse"])
def test_the_same_fault_is_in_all_four_forms(form, stream):
    mutant = MUTANTS["exits_on_no_tool_call"]
    played = play(getattr(mutant, form), [reply("pause_turn", text("Looking."), search())], stream=stream)
    assert len(played.requests) == 1
    assert played.outcome.status == "completed"


def test_a_threaded_turn_says_only_what_is_new():
    from harness.loops.reference import loop_of

    script = [
        reply("tool_use", call("add"), id="msg_1"),
        (404, {"x-should-retry": "false"}, {"error": {"message": "No usable thread was found"}}),
        reply("end_turn", text("3"), id="msg_2"),
    ]
    played = play(loop_of(ThreadedTurn), script, tools=(tool("add"),), limits=Limits(max_iterations=5))
    first, second, third = played.requests
    assert first["thread"] == {"type": "create"}
    assert second["thread"] == {"type": "continue", "previous_message_id": "msg_1"}
    assert [block["type"] for block in second["messages"][0]["content"]] == ["tool_result"]
    assert "tools" not in second
    assert third["thread"] == {"type": "create"}
    assert len(third["messages"]) == 3
    assert played.outcome.status == "completed"
