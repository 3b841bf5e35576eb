"""How two plays of the same cases are compared."""

from __future__ import annotations

import pytest

from tests.steadiness import Difference, differences

FIRST = {"a[json]": {"CAP-1": "pass", "CAP-3": "inconclusive"}, "b[json]": {"END-1": "fail"}}


def test_plays_that_are_judged_alike_differ_nowhere() -> None:
    assert differences(FIRST, dict(FIRST)) == []


def test_a_clause_that_is_decided_otherwise_contradicts() -> None:
    [found] = differences(FIRST, {**FIRST, "b[json]": {"END-1": "pass"}})

    assert found == Difference("b[json]", "END-1", "fail", "pass")
    assert found.contradicts


@pytest.mark.parametrize("grade", ["inconclusive", "unsupported", None])
def test_what_is_decided_once_only_contradicts_nothing(grade: str | None) -> None:
    assert not Difference("a[json]", "CAP-3", grade, "pass").contradicts
    assert not Difference("a[json]", "CAP-3", "pass", grade).contradicts


def test_an_error_of_the_harness_is_never_a_verdict() -> None:
    assert Difference("a[json]", "", None, "error").contradicts
