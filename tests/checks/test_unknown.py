"""UNKNOWN on histories written by hand."""

from __future__ import annotations

import pytest

from harness.checks.base import Finding
from tests.checks.histories import Story, assistant, text, user

HI = user("Hi")


def strange(**story: object) -> Story:
    told = Story(**story)
    told.turn()
    told.ask([HI])
    return told.reply([text("Half")], "brand_new_reason")


def levels(findings: list[Finding]) -> list[tuple[str, str | None]]:
    return [(one.kind, one.level) for one in findings]


@pytest.mark.parametrize(
    "story",
    [
        strange().end("failed", detail="stop_reason brand_new_reason"),
        strange().report("unknown stop reason brand_new_reason").end("failed"),
        strange().returns("Half\n[stopped: brand_new_reason]"),
        strange(raises={"UnknownStop": "failed"}).raises("UnknownStop", "brand_new_reason"),
    ],
)
def test_an_unknown_stop_that_can_be_read_holds(story: Story) -> None:
    assert levels(story.check("UNKNOWN-1")) == [("held", None)]


def test_an_unknown_stop_taken_for_the_end_is_found() -> None:
    assert levels(strange().returns("Half").check("UNKNOWN-1")) == [("broken", None)]


def test_an_unknown_stop_nobody_can_read_is_found() -> None:
    assert levels(strange().end("failed", detail="?").check("UNKNOWN-1")) == [("broken", None)]


def test_a_crash_on_an_unknown_stop_is_found() -> None:
    assert levels(strange().raises("KeyError", "?").check("UNKNOWN-1")) == [("broken", None)]


def test_an_exception_that_names_it_should_be_declared() -> None:
    [finding] = strange().raises("UnknownStop", "brand_new_reason").check("UNKNOWN-1")

    assert (finding.kind, finding.level) == ("broken", "SHOULD")
    assert "raises: {UnknownStop: failed}" in finding.advice


def test_going_on_after_an_unknown_stop_is_found() -> None:
    story = strange()
    story.ask([HI, assistant("Half"), user("Go on.")])

    assert levels(story.reply([text("Done.")]).end().check("UNKNOWN-1")) == [("broken", None)]


def test_known_reasons_are_not_unknown() -> None:
    story = Story()
    story.turn()
    story.ask([HI])

    assert story.reply([text("Hello.")], "stop_sequence").end().check("UNKNOWN-1") == []


def test_a_slip_is_a_crash_even_if_it_names_the_reason() -> None:
    def level(kind: str, *bases: str) -> str | None:
        story = Story()
        story.turn()
        story.ask([user("Hi")])
        story.reply([text("Half")], "brand_new_reason")
        [finding] = story.raises(kind, "brand_new_reason", bases).check("UNKNOWN-1")
        return finding.level

    assert level("KeyError", "LookupError") is None
    assert level("UnexpectedStop") == "SHOULD"


def test_a_loop_that_tells_nothing_leaves_it_open() -> None:
    assert levels(strange(exposes=()).end(None).check("UNKNOWN-1")) == [("unclear", None)]


def test_a_word_in_the_published_state_or_in_what_a_client_got_can_be_read() -> None:
    published = strange().publish({"content": "Stopped: brand_new_reason", "is_error": True})

    assert levels(published.end("failed").check("UNKNOWN-1")) == [("held", None)]
    answered = strange().end("failed", look=[("json.stop", "brand_new_reason")])
    assert levels(answered.check("UNKNOWN-1")) == [("held", None)]


def test_a_loop_that_has_no_place_for_the_reason_should_find_one() -> None:
    shown = [{"content": "Stopped.", "is_error": True}]

    assert levels(strange(exposes=("shown",)).end(None, shown=shown).check("UNKNOWN-1")) == [
        ("broken", "SHOULD")
    ]
