"""SHOW-5 on histories written by hand."""

from __future__ import annotations

from typing import Any

from tests.checks.histories import Story, assistant, call, server_call, text, user

HI = user("Hi")
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [{"title": "A page", "url": "https://example.com"}],
}
CONTENT = [server_call("srvtoolu_1"), FOUND, text("Here.")]
KEPT = [HI, assistant(CONTENT)]
WITHOUT = [HI, assistant([text("Here.")])]


def searched(stop_reason: str = "end_turn", content: Any = CONTENT) -> Story:
    story = Story()
    story.turn()
    story.ask([HI])
    return story.reply(content, stop_reason)


def test_a_reply_without_such_results_says_nothing() -> None:
    assert Story().check("SHOW-5") == []
    assert searched(content=[call("toolu_1")], stop_reason="tool_use").end().check("SHOW-5") == []


def test_results_in_a_published_history_or_state_hold() -> None:
    assert searched().publish(history=KEPT).end().kinds("SHOW-5") == ["held"]
    assert searched().publish(assistant(CONTENT)).end().kinds("SHOW-5") == ["held"]


def test_a_later_publish_is_early_enough() -> None:
    story = searched().publish("Here.").publish(history=KEPT, done=True)

    assert story.end().kinds("SHOW-5") == ["held"]


def test_results_that_are_filtered_out_of_what_is_published_are_found() -> None:
    [finding] = searched().publish(history=WITHOUT, done=True).end(history=KEPT).check("SHOW-5")

    assert finding.kind == "broken"
    assert finding.evidence == "hook"
    assert "web_search_tool_result" in finding.expected


def test_where_nothing_with_blocks_is_published_the_returned_history_counts() -> None:
    assert searched().publish("Here.").end(history=KEPT).kinds("SHOW-5") == ["held"]
    assert searched().end(history=WITHOUT).kinds("SHOW-5") == ["broken"]


def test_of_a_paused_reply_the_returned_history_need_hold_nothing() -> None:
    assert searched("pause_turn").end(history=WITHOUT).check("SHOW-5") == []
    assert searched("pause_turn").publish(history=WITHOUT).end().kinds("SHOW-5") == ["broken"]


def test_a_loop_that_hands_out_texts_alone_cannot_be_judged() -> None:
    assert searched().publish("Here.").end(shown=["Here."]).kinds("SHOW-5") == ["unclear"]


def test_turns_that_were_thrown_away_are_not_judged() -> None:
    assert searched().cancel().publish(history=WITHOUT).end("cancelled").check("SHOW-5") == []
    assert searched("refusal").publish(history=WITHOUT).end("refused").check("SHOW-5") == []


def test_what_is_returned_to_show_and_what_is_kept_count_together() -> None:
    other = {**FOUND, "tool_use_id": "srvtoolu_2"}
    both = [server_call("srvtoolu_1"), FOUND, other, text("Here.")]
    story = searched(content=both).end(history=[HI, assistant([FOUND])], shown=[assistant([other])])

    assert story.kinds("SHOW-5") == ["held"]
    assert searched().end(history=KEPT, shown=[assistant(CONTENT)]).kinds("SHOW-5") == ["held"]
