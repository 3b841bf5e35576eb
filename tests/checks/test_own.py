"""OWN on histories written by hand."""

from __future__ import annotations

import pytest

from tests.checks.histories import Story


def returned(**what: object) -> Story:
    return Story().turn().end(**what)


def test_where_nobody_could_look_nothing_is_said() -> None:
    assert Story().check("OWN-1") == []
    assert returned().check("OWN-1") == []


def test_what_is_as_it_was_holds() -> None:
    assert returned(changed=[]).kinds("OWN-1") == ["held"]


@pytest.mark.parametrize("what", ["messages[0]", "the input_schema of look"])
def test_what_was_changed_in_place_is_found(what: str) -> None:
    [finding] = returned(changed=[what], appended=2).check("OWN-1")

    assert (finding.kind, finding.level) == ("broken", None)
    assert what in finding.happened


def test_messages_that_were_appended_weigh_less() -> None:
    [finding] = returned(changed=[], appended=2).check("OWN-1")

    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert "2 messages" in finding.happened
