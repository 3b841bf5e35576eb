"""Scenario files as they are written: read again, they say the same."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.scenario.load import parse_scenario
from harness.scenario.written import written

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, JSON, max_size=5))
def test_any_value_can_be_read_again(value: dict[str, object]) -> None:
    assert yaml.safe_load(written(value, [])) == value


SURPRISES = [
    "no",
    "2024-01-01",
    "1e5",
    "0x10",
    "1:30",
    "~",
    "",
    " a",
    "a: b",
    "- a",
    "# a",
    "é\u0085x",
    "a\tb\nc",
]


@pytest.mark.parametrize(
    "text", [*SURPRISES, "One.\n\nTwo.\n", "trailing \nspace", "🦅 bird\nflies", "a\tb\nc"]
)
def test_a_text_is_a_text_to_the_loader(text: str) -> None:
    call = {"name": "f", "input": {"a": text}}
    values = {
        "title": "t",
        "clauses": ["SHOW-1"],
        "why": "w",
        "task": {"prompt": "Go."},
        "script": [{"reply": {"content": [{"text": text + "x"}, {"tool_use": call}]}}],
        "tools": {"f": {"result": "done"}},
    }
    scenario = parse_scenario(written(values, ["why"]).encode(), scenario_id="x")
    [said, called] = scenario.turns[0].script[0].reply.content  # type: ignore[union-attr]

    assert (said["text"], called["input"]) == (text + "x", {"a": text})


def test_short_things_stand_in_one_line_and_long_texts_in_their_own() -> None:
    text = written({"a": {"b": 1, "c": ["x"]}, "d": {"e": [1, 2]}, "f": "One.\nTwo."}, ["Why."])

    assert text == "# Why.\na:\n  b: 1\n  c: [x]\nd:\n  e: [1, 2]\nf: |-\n  One.\n  Two.\n"
