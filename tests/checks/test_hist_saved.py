"""The history a turn leaves: what the next one can use, and what it was made of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.hist import CALLING, HI, next_turn, tool_turn
from tests.checks.histories import (
    Json,
    Story,
    assistant,
    call,
    result,
    server_call,
    text,
    user,
)


def test_the_next_turns_first_request_tries_the_history() -> None:
    story = next_turn([HI, assistant([text("One."), text("Two.")]), user("More")])
    [first] = [one for one in story.check("HIST-8") if one.request]

    assert first.kind == "held"


def test_a_history_the_next_turn_cannot_use_breaks_the_clause() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([call("toolu_1")], "tool_use").end("cancelled")
    story.turn("More")
    story.ask([HI, assistant([call("toolu_1")]), user("More")])
    story.answer("rejected", rule="unanswered_call", body={"error": {"message": "`tool_use` ids were found"}})
    [finding] = story.end("failed").check("HIST-8")

    assert finding.kind == "broken"
    assert "`tool_use` ids were found" in finding.happened


def test_a_loop_whose_every_request_is_wrong_is_not_blamed_for_its_history() -> None:
    story = Story()
    for prompt in ("Hi", "More"):
        story.turn(prompt)
        story.ask([user(prompt)])
        story.answer("rejected", rule="extra_field").end("failed")

    assert "broken" not in story.kinds("HIST-8")


TWO_CALLS = [call("toolu_1"), call("toolu_2")]


ANSWERED = [assistant([call("toolu_1")]), user([result("toolu_1")])]


LEFT = {
    "dangling": [HI, assistant([call("toolu_1")])],
    "orphan": [HI, user([result("toolu_1")])],
    "twice": [HI, assistant([call("toolu_1")]), user([result("toolu_1"), result("toolu_1")])],
    "text-first": [HI, assistant([call("toolu_1")]), user([text("Here"), result("toolu_1")])],
    "empty": [HI, assistant([])],
    "same-id": [HI, *ANSWERED, *ANSWERED],
}


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT.keys())
def test_without_a_next_turn_the_history_itself_is_looked_at(left: list[Json]) -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([call("toolu_1")], "tool_use")
    [finding] = story.end("capped", history=left).check("HIST-8")

    assert (finding.kind, finding.evidence, finding.level) == ("broken", "outcome", None)


@pytest.mark.parametrize(
    "left",
    [
        [HI, assistant(TWO_CALLS), user([result("toolu_1")]), user([result("toolu_2")])],
        [HI, assistant([call("toolu_1")]), user([result("toolu_1"), text("go on")])],
        [HI],
        [HI, assistant("One.")],
        [HI, assistant([server_call("srvtoolu_1")]),
         assistant([{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}])],
    ],
)  # fmt: skip
def test_a_history_the_api_takes_holds(left: list[Json]) -> None:
    story = Story()
    story.turn()
    story.ask([HI])

    assert story.reply([text("One.")]).end(history=left).kinds("HIST-8") == ["held"]


def test_an_open_call_of_the_server_is_advised_against() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([server_call("srvtoolu_1")], "pause_turn")
    story.publish(history=[HI, assistant([server_call("srvtoolu_1")])])
    [finding] = story.end("capped").check("HIST-8")

    assert (finding.kind, finding.level, finding.evidence) == ("broken", "SHOULD", "hook")


@pytest.mark.parametrize(
    "left",
    ["opaque", {"id": 1}, [], [{"kind": "event"}], [{"content": "Hi"}], [{"role": "user"}], ["content"]],
)
def test_an_opaque_history_is_not_judged(left: Any) -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("One.")]).end(history=left)

    assert story.check("HIST-8") == []
    assert story.check("HIST-9") == []


def saved(left: list[Json], stop: str = "end_turn", status: str = "completed") -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    return story.reply([text("One."), call("toolu_1")], stop).end(status, history=left)


def test_a_history_of_what_was_sent_and_received_holds() -> None:
    story = tool_turn()
    history = [HI, assistant(CALLING), user([result("toolu_1")]), assistant("Found it.")]

    assert story.end(history=history).kinds("HIST-9") == ["held"]


@pytest.mark.parametrize(
    "left",
    [
        [HI, assistant([text("One."), call("toolu_1")]), user([result("toolu_1", "not run", is_error=True)])],
        [HI, assistant([text("One.")])],
        [HI, assistant([text("One.")]), user("[the tool was not run]")],
        [{"role": "system", "content": "Be kind."}, HI],
        [],
    ],
)
def test_notes_for_calls_that_did_not_run_and_dropped_messages_are_right(left: list[Json]) -> None:
    assert "broken" not in saved(left, "tool_use", "capped").kinds("HIST-9")


def test_an_error_text_in_the_models_mouth_is_found() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("Half an ans")], "max_tokens")
    left = [HI, assistant([text("Half an ans")]), assistant("The answer was cut off.")]
    [finding] = story.end("truncated", history=left).check("HIST-9")

    assert (finding.kind, finding.level) == ("broken", None)
    assert "cut off" in finding.happened


def test_a_note_in_the_users_name_weighs_less() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("One.")])
    [finding] = story.end(history=[HI, assistant("One."), user("[end of turn]")]).check("HIST-9")

    assert (finding.kind, finding.level) == ("broken", "SHOULD")


def test_a_result_other_than_the_one_sent_is_found() -> None:
    history = [HI, assistant(CALLING), user([result("toolu_1", "something else")]), assistant("Found it.")]

    assert tool_turn().end(history=history).kinds("HIST-9") == ["broken"]


def test_the_beginning_of_a_reply_that_broke_off_was_received() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("One two three.")], whole=False)

    assert story.end("failed", history=[HI, assistant("One two")]).kinds("HIST-9") == ["held"]


def test_blank_text_beside_a_call_weighs_less_for_it_was_seen_to_be_accepted() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("\n"), call("toolu_1")], "tool_use")
    left = [HI, assistant([text("\n"), call("toolu_1")]), user([result("toolu_1")])]
    story.ask(left)
    story.reply([text("Done.")]).end(history=left)
    [finding] = [one for one in story.check("HIST-6") if one.kind == "broken"]

    assert finding.level == "SHOULD"
    assert story.kinds("HIST-8") == ["held"]


def test_a_call_the_server_left_open_is_not_the_loops_fault() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([server_call("srvtoolu_1")], "pause_turn")
    left = [HI, assistant([server_call("srvtoolu_1")])]
    story.ask(left)
    story.reply([text("Done.")]).end(history=[*left, assistant("Done.")])

    assert story.kinds("HIST-8") == ["held"]


def test_a_prompt_like_the_one_before_is_not_the_one_before_changed() -> None:
    turns = [{"prompt": "Print the page.", "script": []}, {"prompt": "Print no more.", "script": []}]
    story = Story(turns=turns)
    story.turn("Print the page.")
    story.ask([user("Print the page.")])
    story.reply([text("Printed.")]).end()
    story.turn("Print no more.")
    story.ask([user("Print no more.")])

    assert "broken" not in story.reply([text("Right.")]).end().kinds("HIST-2")


def test_an_older_prompt_that_is_changed_in_the_next_turn_is_found() -> None:
    found = next_turn([user("Hi!"), assistant([text("One."), text("Two.")]), user("More")]).check("HIST-2")

    assert [(one.kind, one.level) for one in found] == [("broken", "SHOULD")]


def test_what_was_received_beside_the_script_may_be_saved() -> None:
    told = [text("There is no tool.")]
    story = Story()
    story.turn()
    story.ask([HI])
    story.answer("unbound", 200, body={"role": "assistant", "content": told, "stop_reason": "end_turn"})

    assert story.end(history=[HI, assistant(told)]).kinds("HIST-9") == ["held"]
    assert story.end(history=[HI, assistant("Made up.")]).kinds("HIST-9") == ["broken"]


def test_a_turn_that_was_stopped_left_no_history_of_its_own() -> None:
    story = Story()
    story.turn()
    story.ask([user("Hi")])
    story.reply([call("toolu_1")], "tool_use")
    story.publish(history=[user("Hi"), assistant([call("toolu_1")])])

    assert story.overran().check("HIST-8") == []


def refused_by_the_api(left: list[Any]) -> list[str]:
    """What is said to be wrong with a history that nobody tries."""
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([call("toolu_1")], "tool_use")
    return [one.happened for one in story.end("capped", history=left).check("HIST-8") if one.happened]


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ([assistant("Hello.")], "the first message is not the user's"),
        ([user(" ")], "a blank text block stands in a message of the user"),
        ([HI, assistant([text(" ")])], "a blank text block stands in a message of the assistant"),
        ([user([text("Hi"), text("")])], "a blank text block stands in a message of the user"),
        ([user([{"type": "image"}, text("")])], "a blank text block stands in a message of the user"),
        ([HI, *ANSWERED, user([result("toolu_1")])], "the call toolu_1 has two results"),
        ([HI, *ANSWERED, assistant("So."), user([result("toolu_1")])], "no call in the message before"),
        ([HI, ANSWERED[0], user([text("x"), result("toolu_1"), text("y")])], "something stands before"),
    ],
)
def test_what_the_api_would_refuse_is_named(left: list[Json], words: str) -> None:
    [happened] = refused_by_the_api(left)

    assert words in happened


@pytest.mark.parametrize(
    "left",
    [
        [{"role": "system", "content": "Be kind."}, HI, *ANSWERED],
        [HI, ANSWERED[0], {"role": "system", "content": "Be kind."}, ANSWERED[1]],
        [HI, assistant([text(""), call("toolu_1")]), ANSWERED[1]],
        [HI, ANSWERED[0], user([result("toolu_1"), text("x"), text("y")])],
    ],
)
def test_what_the_api_takes_is_not_refused(left: list[Json]) -> None:
    assert refused_by_the_api(left) == []


def test_no_more_than_three_problems_of_a_history_are_told() -> None:
    open_calls = [HI, assistant([call(f"toolu_{number}") for number in range(5)])]
    [happened] = refused_by_the_api(open_calls)

    assert happened.count("has no result") == 3


def test_a_history_is_not_tried_by_a_lost_thread_or_a_request_without_an_answer() -> None:
    def followed(rule: str) -> Story:
        story = Story()
        story.turn()
        story.ask([HI])
        story.reply([text("One.")]).end(history=[HI, assistant("One.")])
        story.turn("More")
        story.ask([HI, assistant("One."), user("More")])
        return story.answer("rejected", 404, rule=rule).end("failed") if rule else story.end("failed")

    assert followed("thread_not_found").kinds("HIST-8") == ["held"]
    assert followed("first_role").kinds("HIST-8") == ["broken"]
    [finding] = followed("").check("HIST-8")
    assert (finding.kind, finding.evidence) == ("held", "outcome")


def test_a_block_of_no_known_kind_stands_for_nothing() -> None:
    left = [HI, assistant([text("One."), {"type": "card", "title": "x"}])]

    assert saved(left, "tool_use", "capped").kinds("HIST-9") == ["broken"]


def test_a_result_stands_for_a_call_of_the_turn_that_was_never_answered() -> None:
    other = [HI, assistant([text("One."), call("toolu_1")]), user([result("toolu_9", "not run")])]

    assert saved(other, "tool_use", "capped").kinds("HIST-9") == ["broken"]


def test_a_note_needs_something_that_did_not_come_about() -> None:
    noted = [HI, assistant([text("One.")]), user("[the end]")]
    server = [text("One."), server_call("srvtoolu_1")]

    def left(content: list[Json], reason: str, *, cancelled: bool = False) -> list[str]:
        story = Story()
        story.turn()
        story.ask([HI])
        story.reply(content, reason)
        if cancelled:
            story.cancel()
        return story.end("capped", history=noted).kinds("HIST-9")

    assert left([text("One.")], "end_turn") == ["broken"]
    assert left([text("One.")], "end_turn", cancelled=True) == ["held"]
    assert left(server, "pause_turn") == ["held"]


def test_what_was_made_up_once_is_said_once() -> None:
    story = Story()
    for prompt in ("Hi", "More"):
        story.turn(prompt)
        story.ask([user(prompt)])
        story.reply([text("One.")]).end(history=[user(prompt), assistant("One."), assistant("Made up.")])

    assert [one.kind for one in story.check("HIST-9")] == ["broken", "held"]


@pytest.mark.parametrize(("answered", "level"), [(True, "SHOULD"), (False, None)])
def test_what_the_api_took_in_a_recording_it_takes(answered: bool, level: str | None) -> None:
    story = Story()
    story.events[0].recording = "a.yaml"  # type: ignore[union-attr]
    story.turn()
    story.ask([HI, user(" ")])
    story.reply([text("Yes?")]) if answered else story.answer("fault", 400)
    [finding] = story.check("HIST-6")

    assert (finding.kind, finding.level) == ("broken", level)
