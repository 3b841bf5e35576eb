"""FAULT-4, 5, 7, 8 and 9 on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.faulty import HI, Faulty, asked, retried
from tests.checks.histories import assistant, call, text, thinking, user


@pytest.mark.parametrize(("clause", "how"), [("FAULT-4", "error"), ("FAULT-5", "end"), ("FAULT-5", "reset")])
def test_a_broken_stream_is_no_answer(clause: str, how: str) -> None:
    half = [text("Hello to all of you who came.")]
    assert retried(asked().breaks(half, how)).kinds(clause) == ["held"]
    assert asked().breaks(half, how).end("failed").kinds(clause) == ["held"]
    assert asked().breaks(half, how).raises("APIError").kinds(clause) == ["held"]
    [finding] = asked().breaks(half, how).end(shown=["Hello to all of you"]).check(clause)
    assert finding.kind == "broken"
    assert asked().breaks(half, how).returns(None).kinds(clause) in (["broken"], ["unclear"])


def test_what_broke_off_behind_its_stop_reason_was_whole() -> None:
    story = asked().breaks([text("Hello.")], "close", last="message_delta").end(shown=["Hello."])
    assert story.kinds("FAULT-5") == []
    assert story.kinds("FAULT-9") == []


def test_a_stream_that_the_loop_left_is_no_fault_of_the_provider() -> None:
    story = asked().breaks([text("Hello.")], "", by="client").end(shown=["Hel"])
    assert story.kinds("FAULT-5") == []


def next_turn(kept: list[Any], lost: list[Any]) -> Faulty:
    story = asked().breaks(lost)
    story.end("failed")
    story.turn("More")
    story.ask([HI, *kept, user("More")])
    story.reply([text("Yes?")])
    story.end()
    return story


@pytest.mark.parametrize(
    ("lost", "kept"),
    [
        (text("Hello there."), text("Hello")),
        (thinking("Let me see."), thinking("Let me", "")),
        (call("toolu_1", value={"a": 1}), call("toolu_1")),
    ],
)
def test_a_part_that_is_kept_as_if_whole_is_found(lost: dict, kept: dict) -> None:
    [finding] = next_turn([assistant([kept])], [lost]).check("FAULT-7")
    assert finding.kind == "broken"


def test_a_part_may_be_dropped_or_marked() -> None:
    lost = [text("Hello there.")]
    assert next_turn([], lost).kinds("FAULT-7") == ["held"]
    marked = [assistant([text("Hello")]), user("[The reply was cut off.]")]
    assert next_turn(marked, lost).kinds("FAULT-7") == ["held"]
    assert next_turn([assistant([text("Hello [cut off]")])], lost).kinds("FAULT-7") == ["held"]


def silent(wait: float, **limits: float) -> Faulty:
    story = Faulty()
    story.turn(**limits)
    story.ask([HI])
    story.breaks([text("Hello.")], "silence")
    story.wait(wait)
    return story


def test_silence_ends_with_the_wall_clock() -> None:
    assert silent(1.0, wall_clock=1.0).end("capped").kinds("FAULT-8") == ["held"]
    assert silent(4.0, wall_clock=1.0).end("capped").kinds("FAULT-8") == ["broken"]
    assert silent(4.0, wall_clock=1.0).overran(4).kinds("FAULT-8") == ["broken"]
    assert silent(4.0).end("failed").kinds("FAULT-8") == []


def test_a_failed_turn_says_so() -> None:
    assert asked().fails(400).end("failed").kinds("FAULT-9") == ["held"]
    assert asked().fails(400).raises("BadRequestError").kinds("FAULT-9") == ["held"]
    assert asked().fails(400).overran().kinds("FAULT-9") == ["broken"]
    [finding] = asked().fails(529).end(shown=[]).check("FAULT-9")
    assert (finding.kind, finding.level) == ("broken", None)


def test_a_failure_under_another_name_should_not_be() -> None:
    [finding] = asked().fails(400).end("truncated").check("FAULT-9")
    assert (finding.kind, finding.level) == ("broken", "SHOULD")


def test_a_broken_stream_leaves_it_open_where_the_loop_tells_nothing() -> None:
    def story(**declaration: Any) -> Faulty:
        return asked(**declaration).breaks([text("Hello.")], "end")

    silent_loop = {"exposes": ()}
    assert story(**silent_loop).end(None).kinds("FAULT-5") == ["unclear"]
    assert story(**silent_loop).end(None).kinds("FAULT-9") == ["unclear"]
    assert story().kinds("FAULT-5") == []
    assert story().cancel().end("cancelled").kinds("FAULT-5") == []


def test_a_part_that_the_model_is_to_go_on_from_is_marked_by_its_place() -> None:
    lost = [text("Hello there.")]
    story = asked().breaks(lost)
    story.ask([HI, assistant([text("Hello")])])
    assert story.reply([text(" there.")]).end().kinds("FAULT-7") == ["held"]


def test_a_part_behind_which_only_the_prompt_follows_is_not_marked() -> None:
    lost = [text("Hello there.")]

    assert next_turn([assistant([text("Hello")]), user("More")], lost).kinds("FAULT-7") == ["broken"]


def test_what_another_reply_brought_whole_is_no_part_of_the_broken_one() -> None:
    story = asked().breaks([text("Hello there.")])
    story.ask([HI])
    story.reply([text("Hello")]).end(shown=["Hello"])
    story.turn("More")
    story.ask([HI, assistant([text("Hello")]), user("More")])

    assert story.reply([text("Yes?")]).end().kinds("FAULT-7") == ["held"]


def test_silence_in_a_turn_that_is_over_otherwise_is_not_judged() -> None:
    assert silent(4.0, wall_clock=1.0).cancel().end("cancelled").kinds("FAULT-8") == []
    assert silent(4.0, wall_clock=1.0).kinds("FAULT-8") == []


def test_a_turn_that_waits_for_its_next_attempt_is_not_judged_for_its_end() -> None:
    assert asked().fails(529).overran().kinds("FAULT-9") == []
    assert asked().fails(400).cancel().end("completed").kinds("FAULT-9") == []
    assert retried(asked().fails(529)).kinds("FAULT-9") == []


def test_a_call_behind_a_text_is_a_part_as_well() -> None:
    lost = [text("Hello there."), call("toolu_1")]

    assert next_turn([assistant([call("toolu_1")])], lost).kinds("FAULT-7") == ["broken"]


def test_a_turn_that_was_stopped_in_silence_is_told_from_one_that_took_long() -> None:
    [stopped] = silent(4.0, wall_clock=1.0).overran(4).check("FAULT-8")
    [long] = silent(4.0, wall_clock=1.0).end("capped").check("FAULT-8")

    assert stopped.happened.endswith("and the turn had to be stopped.")
    assert long.happened.endswith("and the turn took 4.0 s.")
