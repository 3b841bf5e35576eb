"""What the checks share: findings, excuses, and the right ways to go on."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks import registered
from harness.checks.base import (
    broken,
    check,
    continuations,
    cut_short,
    departure,
    ended_as_asked,
    happened_at,
    held,
    note,
    resumes_before,
    unclear,
)
from harness.evidence import TurnView
from harness.wire.same import difference, pieces
from tests.checks.histories import Story, assistant, text, user

HI = user("Hi")


def paused(count: int, **limits: float) -> Story:
    story = Story()
    story.turn(**limits)
    messages = [HI]
    for number in range(count):
        story.ask(messages)
        story.reply([text(f"Part {number}.")], "pause_turn")
        messages = [*messages, assistant([text(f"Part {number}.")])]
    return story


def turn_of(story: Story) -> TurnView:
    return story.run().turns[0]


def test_a_finding_knows_its_turn_and_its_request() -> None:
    turn = turn_of(paused(2).end())
    last = turn.rounds[-1]

    assert (held(exchange=last).request, held(turn=turn).turn) == (2, 0)
    assert unclear("why", exchange=last).happened == "why"
    assert note("by the way").kind == "note"


def test_a_difference_fills_in_block_and_diff() -> None:
    found = difference(pieces([HI]), pieces([user("Ho")]))
    assert found
    finding = broken(expected="Hi.", happened="Ho.", diff=found)

    assert finding.block == 0
    assert '+   "text": "Ho"' in finding.diff


def test_what_is_missing_is_told_as_such() -> None:
    turn = turn_of(paused(2).end())
    found = difference(pieces([HI, HI, HI]), turn.rounds[0].pieces)

    assert found
    assert "nothing more" in happened_at(turn.rounds[0], found)


def test_resumes_are_counted_in_a_row() -> None:
    turn = turn_of(paused(3).end())

    assert [resumes_before(one) for one in turn.rounds] == [0, 1, 2]


@pytest.mark.parametrize(
    ("limits", "excused"),
    [
        ({}, False),
        ({"max_iterations": 2}, True),
        ({"max_iterations": 3}, False),
        ({"pauses": 1}, True),
        ({"pauses": 2}, False),
        ({"wall_clock": 100.0}, False),
    ],
)
def test_a_limit_excuses_only_where_it_was_reached(limits: dict[str, float], excused: bool) -> None:
    turn = turn_of(paused(2, **limits).end("capped", shown=[]))

    assert (ended_as_asked(turn, turn.rounds[-1]) is not None) is excused


def test_a_budget_that_is_half_gone_may_be_too_little_to_go_on() -> None:
    turn = turn_of(paused(1, wall_clock=1.0).wait(0.6).end("capped"))

    assert ended_as_asked(turn, turn.rounds[-1])


def test_an_overrun_leaves_open_what_would_have_followed() -> None:
    turn = turn_of(paused(1).overran())

    assert cut_short(turn, turn.rounds[-1])


def test_an_exception_is_no_excuse() -> None:
    turn = turn_of(paused(1).raises())

    assert cut_short(turn, turn.rounds[-1]) is None


def keys(found: list[Any]) -> list[list[bytes]]:
    return [[piece.key for piece in one] for one in found]


def test_after_one_reply_there_is_one_way_to_go_on() -> None:
    turn = turn_of(paused(1).end())

    assert keys(continuations(turn.rounds[0])) == keys([pieces([HI, assistant([text("Part 0.")])])])


def test_of_several_right_forms_the_closest_one_is_compared() -> None:
    story = Story()
    story.turn()
    older, newer = [text("One.")], [text("One."), text("Two."), text("Three.")]
    story.ask([HI])
    story.reply(older, "pause_turn")
    story.ask([HI, assistant(older)])
    story.reply(newer, "pause_turn")
    story.ask([HI, assistant([*newer[:2], text("Other.")])])
    turn = turn_of(story.reply([text("Done.")]).end())
    found = departure(turn.rounds[1], turn.rounds[2])

    assert len(continuations(turn.rounds[1])) == 2
    assert found
    assert found.path == "messages[1].content[2]"


def test_a_reply_that_the_request_began_may_go_back_with_its_beginning() -> None:
    story = Story()
    story.turn()
    begun = [HI, assistant([text("Sure.")]), user("And?"), assistant([text("The")])]
    story.ask(begun)
    turn = turn_of(story.reply([text(" answer."), text("More.")]).end())

    apart = pieces([*begun, assistant([text(" answer."), text("More.")])])
    whole = pieces([*begun[:-1], assistant([text("The answer."), text("More.")])])
    assert keys(continuations(turn.rounds[0])) == keys([apart, whole])


def test_a_check_is_registered_once() -> None:
    assert "PAUSE-1" in registered()
    with pytest.raises(ValueError, match="PAUSE-1 has a check already: a_paused_reply_is_resumed"):
        check("PAUSE-1")(lambda _: iter(()))


def test_what_a_cut_reply_is_continued_by_is_no_newer_pause() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("One.")], "max_tokens")
    story.ask([HI, assistant([text("One.")])])
    turn = turn_of(story.reply([text("One."), text("Two.")]).end())

    assert len(continuations(turn.rounds[1])) == 2


def test_a_budget_of_which_more_than_half_is_left_excuses_nothing() -> None:
    turn = turn_of(paused(1, wall_clock=1.0).wait(0.4).end("capped", shown=[]))

    assert ended_as_asked(turn, turn.rounds[-1]) is None
