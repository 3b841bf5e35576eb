"""What counts as the same, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from harness.wire.same import blocks, brief, difference, equal, pieces, starts_with
from tests.checks.histories import assistant, call, result, text, thinking, user

Json = dict[str, Any]


def same(one: list[Json], other: list[Json]) -> bool:
    found = difference(pieces(one), pieces(other))
    assert (found is None) == (difference(pieces(other), pieces(one)) is None)
    return found is None


CALL = call("toolu_1", value={"q": "x"})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param([user("Hi")], [user([text("Hi")])], id="a string and its one text block"),
        pytest.param(
            [assistant([text("A")]), assistant([text("B")])],
            [assistant([text("A"), text("B")])],
            id="messages of one role and their merged form",
        ),
        pytest.param(
            [assistant([text("A"), text(" \n")])], [assistant([text("A")])], id="blank text and none"
        ),
        pytest.param([user("Hi"), assistant([])], [user("Hi")], id="empty content and no message"),
        pytest.param(
            [assistant([{"type": "text", "text": "A"}])],
            [assistant([{"text": "A", "type": "text"}])],
            id="keys in another order",
        ),
        pytest.param(
            [assistant([text("A", citations=None)])], [assistant([text("A")])], id="null and absent"
        ),
        pytest.param(
            [assistant([text("A", citations=[])])], [assistant([text("A")])], id="no citations and none given"
        ),
        pytest.param(
            [user([text("A", cache_control={"type": "ephemeral"})])], [user("A")], id="a mark for caching"
        ),
        pytest.param(
            [assistant([call("toolu_1", value={"n": 1})])],
            [assistant([call("toolu_1", value={"n": 1.0})])],
            id="two spellings of a number",
        ),
        pytest.param(
            [assistant([call("toolu_1", caller={"type": "direct"})])],
            [assistant([call("toolu_1")])],
            id="a direct caller and none",
        ),
        pytest.param(
            [user([result("toolu_1", "ok")])],
            [user([result("toolu_1", [text("ok")])])],
            id="a result as a string and as a block",
        ),
        pytest.param(
            [user([result("toolu_1", "ok", is_error=False)])],
            [user([result("toolu_1", "ok")])],
            id="no error and none said",
        ),
        pytest.param(
            [user([result("toolu_1", "")])],
            [user([{"type": "tool_result", "tool_use_id": "toolu_1"}])],
            id="an empty result and none",
        ),
        pytest.param(
            [user([result("toolu_1", [text("ok", cache_control={"type": "ephemeral"})])])],
            [user([result("toolu_1", "ok")])],
            id="a mark for caching inside a result",
        ),
    ],
)
def test_the_api_takes_these_for_the_same(one: list[Json], other: list[Json]) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param([assistant([text("A"), text("B")])], [assistant("AB")], id="two blocks and a string"),
        pytest.param([user("Hi")], [assistant("Hi")], id="another role"),
        pytest.param([assistant([text("A"), CALL])], [assistant([CALL, text("A")])], id="another order"),
        pytest.param([assistant([text("A")])], [assistant([text("A ")])], id="a space at the end"),
        pytest.param(
            [assistant([call("toolu_1", value={"a": {}})])],
            [assistant([call("toolu_1", value={"a": []})])],
            id="an object and an array in an input",
        ),
        pytest.param(
            [assistant([call("toolu_1", value={"a": None})])],
            [assistant([call("toolu_1", value={"b": 1})])],
            id="other keys in an input",
        ),
        pytest.param(
            [assistant([{**call("toolu_1"), "input": {"a": None}}])],
            [assistant([{**call("toolu_1"), "input": {}}])],
            id="null and absent in an input",
        ),
        pytest.param(
            [assistant([call("toolu_1", value={"cache_control": 1})])],
            [assistant([call("toolu_1")])],
            id="a key of an input that is named like a mark",
        ),
        pytest.param(
            [assistant([call("toolu_1", value={"n": 1})])],
            [assistant([call("toolu_1", value={"n": True})])],
            id="one and true",
        ),
        pytest.param(
            [assistant([call("toolu_1", value={"n": 9223372036854775809})])],
            [assistant([call("toolu_1", value={"n": 9223372036854775809.0})])],
            id="a big integer that lost its last digit",
        ),
        pytest.param([assistant([thinking()])], [assistant([thinking(signature="")])], id="a signature"),
        pytest.param(
            [assistant([thinking("")])], [assistant([text("A")])], id="empty thinking is still thinking"
        ),
        pytest.param(
            [assistant([text("A", citations=[{"type": "web", "url": "u"}])])],
            [assistant([text("A")])],
            id="citations",
        ),
        pytest.param(
            [assistant([{"type": "new_thing", "deep": {"n": [1, {"x": "y"}]}}])],
            [assistant([{"type": "new_thing", "deep": {"n": [1, {"x": "z"}]}}])],
            id="an unknown block, deep inside",
        ),
        pytest.param(
            [user([result("toolu_1", "ok", is_error=True)])],
            [user([result("toolu_1", "ok")])],
            id="an error and none",
        ),
        pytest.param(
            [assistant([call("toolu_1", caller={"type": "code_execution", "tool_id": "srvtoolu_1"})])],
            [assistant([call("toolu_1")])],
            id="a caller that is not direct",
        ),
    ],
)
def test_the_api_does_not_take_these_for_the_same(one: list[Json], other: list[Json]) -> None:
    assert not same(one, other)


def test_a_difference_says_where_it_is_in_the_messages_as_they_were_sent() -> None:
    expected = [user("Hi"), assistant([text("A"), CALL])]
    actual = [user("Hi"), assistant([text("\n"), text("A")]), assistant([{**CALL, "input": {"q": "y"}}])]
    found = difference(pieces(expected), pieces(actual))

    assert found is not None
    assert found.path == "messages[2].content[0]"
    assert found.block == 0
    assert found.position == 2
    assert '-     "q": "x"' in found.text
    assert '+     "q": "y"' in found.text


def test_what_is_missing_at_the_end_is_a_difference() -> None:
    found = difference(pieces([user("Hi"), assistant("A")]), pieces([user("Hi")]))

    assert found is not None
    assert found.actual is None
    assert found.path == "after messages[0].content[0]"


def test_what_is_added_at_the_end_is_one_only_where_nothing_may_follow() -> None:
    before, after = pieces([user("Hi")]), pieces([user("Hi"), assistant("A")])

    assert difference(before, after, prefix=True) is None
    assert starts_with(after, before)
    assert not starts_with(before, after)
    found = difference(before, after)
    assert found is not None
    assert found.expected is None


def test_a_long_diff_is_cut() -> None:
    many = {str(n): n for n in range(200)}
    found = difference(
        pieces([assistant([call("toolu_1", value=many)])]), pieces([assistant([call("toolu_1")])])
    )

    assert found is not None
    assert len(found.text.splitlines()) < 40
    assert "more lines" in found.text


def test_what_is_no_message_is_compared_as_it_is() -> None:
    assert same(["what"], ["what"])  # type: ignore[list-item]
    assert not same(["what"], ["else"])  # type: ignore[list-item]
    assert not same([user("Hi")], [user([7])])


def test_equal_values_are_equal_whatever_the_order_of_keys() -> None:
    assert equal({"a": 1, "b": [2.0]}, {"b": [2], "a": 1})
    assert not equal({"a": 1}, {"a": True})
    assert not equal({"a": None}, {})


def test_content_is_a_list_of_blocks_in_each_of_its_forms() -> None:
    assert blocks(None) == []
    assert blocks("Hi") == [text("Hi")]
    assert blocks([text("Hi")]) == [text("Hi")]


def test_a_brief_form_is_cut() -> None:
    assert brief("x" * 500, 10) == "x" * 9 + "…"
    assert brief({"b": 1, "a": None}) == '{"a":null,"b":1}'
