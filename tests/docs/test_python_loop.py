"""docs/python-loop.md names all that a loop in Python is given, can say and can declare."""

from __future__ import annotations

import inspect

import pytest

from harness.declaration import CAPS, KEYS
from harness.turn import POLICIES, STATUSES, Declaration, Limits, Outcome, Tool, Turn, TurnSpec
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "python-loop.md").read_text(encoding="utf-8")
HOOKS = [name for name, _ in inspect.getmembers(Turn, inspect.isfunction) if not name.startswith("_")]
GIVEN = [name for name in TurnSpec.__struct_fields__ if f"self.{name} = " in inspect.getsource(Turn.__init__)]


@pytest.mark.parametrize("name", sorted({*HOOKS, *GIVEN, "tools", "store", "carry", "messages"}))
def test_everything_a_turn_has_is_named(name: str) -> None:
    assert f"`turn.{name}" in PAGE


@pytest.mark.parametrize(
    "names",
    [Outcome.__struct_fields__, Declaration.__struct_fields__, POLICIES, STATUSES, Limits.__struct_fields__],
)
def test_everything_a_loop_can_say_is_named(names: tuple[str, ...]) -> None:
    assert names
    assert [name for name in names if f"`{name}`" not in PAGE and f"\n{name} = " not in PAGE] == []


def test_every_choice_of_a_policy_is_named() -> None:
    for name, choices in POLICIES.items():
        [line] = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]
        assert all(f"`{choice}`" in line for choice in choices)
    assert all(f"{name} = " in PAGE for name in (*CAPS, *KEYS))


def test_a_tool_is_run_as_the_page_says() -> None:
    assert all(hasattr(Tool, name) for name in ("run", "arun"))
    assert "`run(input)` and `await arun(input)`" in PAGE
