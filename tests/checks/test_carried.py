"""What of a reply may be missing from the next turn."""

from __future__ import annotations

from tests.checks.histories import Story, assistant, server_call, text, user

HI, MORE = user("Hi"), user("More")
CALL, SAID = server_call("srvtoolu_1"), text("Found it.")
RESULT = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def next_turn(reply: list[dict], kept: list[dict]) -> list[str]:
    story = Story()
    story.turn("Hi")
    story.ask([HI])
    story.reply(reply).end(shown=["Found it."])
    story.turn("More", handed=[HI, assistant(kept)])
    story.ask([HI, assistant(kept), MORE])
    return story.reply([text("There.")]).end().kinds("HIST-1")


def test_a_server_run_call_with_its_result_is_to_be_kept() -> None:
    assert next_turn([CALL, RESULT, SAID], [CALL, RESULT, SAID]) == ["held"]
    assert next_turn([CALL, RESULT, SAID], [RESULT, SAID]) == ["broken"]


def test_a_server_run_call_that_nobody_answered_may_go() -> None:
    assert next_turn([CALL, SAID], [SAID]) == ["held"]
