"""HIST on histories written by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.checks.histories import Story, assistant, call, result, server_call, text, thinking, user

Json = dict[str, Any]
HI = user("Hi")
ALL_HIST = [f"HIST-{number}" for number in range(1, 10)]
CALLING = [thinking("Hm.", "sig-1"), text("Let me look."), call("toolu_1", value={"q": "x"})]


def tool_turn(
    sent_back: Any = None, *, prompt: Any = None, results: Any = None, story: Story | None = None
) -> Story:
    """A tool turn; `sent_back` is what the second request makes of the first reply."""
    story = Story()
    story.turn()
    story.ask([HI], model="m", system="s")
    story.reply(CALLING, "tool_use")
    story.tool(value={"q": "x"})
    content = copy.deepcopy(CALLING) if sent_back is None else sent_back
    back = [] if content == [] else [assistant(content)]
    answers = user([result("toolu_1")]) if results is None else results
    story.ask([prompt or HI, *back, answers], model="m", system="s")
    return story.reply([text("Found it.")])


def third_request(messages: list[Json]) -> Story:
    """A tool turn with a second call, so that the first reply goes back twice."""
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLING, "tool_use")
    story.ask([HI, assistant(CALLING), user([result("toolu_1")])])
    story.reply([call("toolu_2")], "tool_use")
    story.ask(messages)
    return story.reply([text("Found it.")]).end(shown=["Found it."])


def next_turn(second: list[Json], first: list[Json] | None = None, stop: str = "end_turn") -> Story:
    """Two turns: `first` is the reply of the one, `second` the request of the other."""
    story = Story(turns=[{"prompt": "Hi", "script": []}, {"prompt": "More", "script": []}])
    story.turn()
    story.ask([HI])
    story.reply(first or [text("One."), text("Two.")], stop)
    story.end("completed" if stop == "end_turn" else "failed")
    story.turn("More")
    story.ask(second)
    return story.reply([text("Right.")]).end(shown=["Right."])


@pytest.mark.parametrize("clause", ALL_HIST)
def test_a_run_in_which_nothing_happened_says_nothing(clause: str) -> None:
    assert Story().check(clause) == []


@pytest.mark.parametrize("clause", ["HIST-1", "HIST-2", "HIST-3", "HIST-4", "HIST-5", "HIST-6", "HIST-7"])
def test_a_tool_turn_that_sends_back_what_came_holds(clause: str) -> None:
    assert tool_turn().end().kinds(clause) == ["held"]


@pytest.mark.parametrize(
    "sent_back",
    [
        [*CALLING[:2], {**CALLING[2], "input": {"q": "y"}}],
        [CALLING[0], CALLING[2]],
        [CALLING[1], CALLING[0], CALLING[2]],
        [CALLING[0], {**CALLING[1], "text": "Let me look!"}, CALLING[2]],
        [*CALLING, text("I will use the tool.")],
        [*CALLING[:2], {**CALLING[2], "input": []}],
    ],
    ids=["input", "dropped", "reordered", "text", "added", "list-for-object"],
)
def test_a_reply_that_goes_back_otherwise_breaks_the_clause(sent_back: list[Json]) -> None:
    assert "broken" in tool_turn(sent_back).end().kinds("HIST-1")


def test_the_finding_names_the_request_and_shows_the_difference() -> None:
    findings = tool_turn([*CALLING[:2], {**CALLING[2], "input": {"q": "y"}}]).end().check("HIST-1")
    [finding] = [one for one in findings if one.kind == "broken"]

    assert finding.request == 2
    assert finding.block == 2
    assert '"y"' in finding.diff


def test_an_unknown_field_left_out_is_found() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([call("toolu_1", caller={"type": "code_execution", "tool_id": "srvtoolu_1"})], "tool_use")
    story.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])])

    assert "broken" in story.reply([text("Done.")]).end().kinds("HIST-1")


@pytest.mark.parametrize(
    "sent_back",
    [
        [{**block, "cache_control": {"type": "ephemeral"}} for block in CALLING],
        [CALLING[0], {**CALLING[1], "citations": None}, CALLING[2]],
        [CALLING[0], text(" \n"), *CALLING[1:]],
    ],
    ids=["cache-control", "null-field", "blank-text"],
)
@pytest.mark.parametrize("clause", ["HIST-1", "HIST-2", "HIST-4", "HIST-5"])
def test_what_the_api_treats_the_same_is_the_same(clause: str, sent_back: list[Json]) -> None:
    assert tool_turn(sent_back).end().kinds(clause) == ["held"]


def test_split_messages_and_results_as_blocks_are_the_same_conversation() -> None:
    messages = [HI, assistant(CALLING[:1]), assistant(CALLING[1:]), user([result("toolu_1", [text("ok")])])]
    messages += [assistant([call("toolu_2")]), user([result("toolu_2")])]
    story = third_request(messages)

    assert story.kinds("HIST-1") == ["held"]
    assert story.kinds("HIST-2") == ["held"]


def test_a_blank_text_block_may_be_dropped() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("\n"), call("toolu_1")], "tool_use")
    story.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])])
    story.reply([text("Done.")]).end()

    assert story.kinds("HIST-1") == ["held"]


def test_one_text_block_may_go_back_as_a_string() -> None:
    story = next_turn([HI, assistant("One."), user("More")], [text("One.")])

    assert story.kinds("HIST-1") == ["held"]
    assert story.check("HIST-5") == []


def test_a_retry_is_the_same_request_again() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([text("Hal")], whole=False)
    story.ask([HI], retry=1)
    story.reply(CALLING, "tool_use")
    story.ask([HI, assistant(CALLING), user([result("toolu_1")])])
    story.reply([text("Done.")]).end()

    assert story.kinds("HIST-1") == ["held"]
    assert story.kinds("HIST-2") == ["held"]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal", "model_context_window_exceeded"])
def test_a_reply_that_was_cut_or_refused_may_be_left_out(stop: str) -> None:
    story = next_turn([user("More")], [text("Half an ans")], stop)

    assert "broken" not in story.kinds("HIST-1")
    assert "broken" not in story.kinds("HIST-5")


def test_a_truncated_reply_with_words_added_is_not_as_it_came() -> None:
    story = next_turn([HI, assistant("Half an ans [cut]"), user("More")], [text("Half an ans")], "max_tokens")

    assert "broken" in story.kinds("HIST-1")


def test_calls_that_nobody_answered_and_old_thinking_may_be_gone_in_the_next_turn() -> None:
    first = [thinking(), text("One."), server_call("srvtoolu_1")]

    assert next_turn([HI, assistant("One."), user("More")], first, "pause_turn").kinds("HIST-1") == ["held"]


def test_a_loop_that_forgets_between_turns_is_not_blamed() -> None:
    story = next_turn([user("More")])

    for clause in ("HIST-1", "HIST-2", "HIST-5"):
        assert "broken" not in story.kinds(clause)


def test_a_changed_prompt_breaks_the_clause() -> None:
    [finding] = tool_turn(prompt=user("Hi, Ann")).end().check("HIST-2")

    assert finding.kind == "broken"
    assert finding.level is None


def test_a_changed_result_is_found_in_the_request_that_changes_it() -> None:
    messages = [HI, assistant(CALLING), user([result("toolu_1", "[cleared]")])]
    findings = third_request([*messages, assistant([call("toolu_2")]), user([result("toolu_2")])]).check(
        "HIST-2"
    )
    [finding] = [one for one in findings if one.kind == "broken"]

    assert finding.request == 3
    assert "[cleared]" in finding.happened


def test_dropping_the_oldest_messages_is_only_advised_against() -> None:
    findings = third_request([HI, assistant([call("toolu_2")]), user([result("toolu_2")])]).check("HIST-2")
    [finding] = [one for one in findings if one.kind == "broken"]

    assert finding.level == "SHOULD"


def test_a_request_the_api_turned_down_may_be_repaired() -> None:
    story = Story()
    story.turn()
    story.ask([user([text("Hi"), text(" ")])])
    story.answer("rejected", rule="blank_text", body={"error": {"message": "text content blocks must be"}})
    story.ask([user("Hello")])
    story.reply([text("Done.")]).end()

    assert "broken" not in story.kinds("HIST-2")


def test_a_rejected_request_is_found_with_the_apis_words() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.answer("rejected", rule="x", body={"type": "error", "error": {"message": "messages: nope"}})
    [finding] = story.end("failed").check("HIST-3")

    assert finding.kind == "broken"
    assert "messages: nope" in finding.happened


def test_a_scripted_fault_or_a_lost_thread_is_no_rejection() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.answer("fault", 529)
    story.ask([HI], retry=1, thread={"type": "continue", "previous_message_id": "msg_1"})
    story.answer("rejected", 404, rule="thread_not_found")

    assert "broken" not in story.end("failed").kinds("HIST-3")


def test_an_unverified_rule_weighs_less() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.noted("unverified", "tools: names must be unique", request=1)
    [finding] = story.reply([text("Done.")]).end().check("HIST-3")

    assert (finding.kind, finding.level) == ("broken", "SHOULD")


@pytest.mark.parametrize(
    "sent_back",
    [CALLING[1:], [thinking("Hm.", "sig-2"), *CALLING[1:]], [CALLING[1], CALLING[0], CALLING[2]]],
    ids=["stripped", "resigned", "moved"],
)
def test_thinking_that_is_not_in_place_breaks_the_clause(sent_back: list[Json]) -> None:
    findings = tool_turn(sent_back).end().check("HIST-4")

    assert [one.kind for one in findings] == ["broken"]


def test_redacted_thinking_counts_as_thinking() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply([{"type": "redacted_thinking", "data": "abc"}, call("toolu_1")], "tool_use")
    story.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])])

    assert story.reply([text("Done.")]).end().kinds("HIST-4") == ["broken"]


@pytest.mark.parametrize("flat", ["One.\n\nTwo.", "One. Two.", [text("One.\nTwo.")]])
def test_several_blocks_in_one_text_are_flattened(flat: Any) -> None:
    assert next_turn([HI, assistant(flat), user("More")]).kinds("HIST-5") == ["broken"]


def test_a_reply_turned_into_its_repr_is_flattened() -> None:
    story = tool_turn("[ToolUseBlock(id='toolu_1', name='look')]").end()

    assert "broken" in story.kinds("HIST-5")


def test_a_tool_reply_reduced_to_its_text_is_flattened() -> None:
    assert "broken" in tool_turn("Let me look.").end().kinds("HIST-5")


@pytest.mark.parametrize(
    "message",
    [assistant([]), assistant(""), user([text("  ")]), user("\n")],
    ids=["no-blocks", "empty-string", "blank-block", "blank-string"],
)
def test_anything_blank_breaks_the_clause_once_a_turn(message: Json) -> None:
    story = Story()
    story.turn()
    story.ask([HI, message, user("Go on")])
    story.reply([call("toolu_1")], "tool_use")
    story.ask([HI, message, user("Go on"), assistant([call("toolu_1")]), user([result("toolu_1")])])
    story.reply([text("Done.")]).end()

    assert [one.kind for one in story.check("HIST-6")] == ["broken"]


def test_a_result_without_text_is_not_blank() -> None:
    assert tool_turn(results=user([result("toolu_1", "")])).end().kinds("HIST-6") == ["held"]


def parameters(first: Json, second: Json, **limits: float) -> list[str]:
    story = Story()
    story.turn(**limits)
    story.ask([HI], **first)
    story.reply([call("toolu_1")], "tool_use")
    story.ask([HI, assistant([call("toolu_1")]), user([result("toolu_1")])], **second)
    return story.reply([text("Done.")]).end().kinds("HIST-7")


TOOLS = [{"name": "look", "input_schema": {}}, {"name": "act", "input_schema": {}}]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"model": "a"}, {"model": "b"}),
        ({"system": "Be kind."}, {"system": "Be kind. It is 10:31."}),
        ({"system": "Be kind."}, {}),
        ({"tools": TOOLS}, {"tools": TOOLS[:1]}),
    ],
)
def test_a_parameter_that_changes_within_a_turn_is_found(first: Json, second: Json) -> None:
    assert parameters(first, second) == ["broken"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"system": "Be kind."}, {"system": [text("Be kind.", cache_control={"type": "ephemeral"})]}),
        ({"tools": TOOLS}, {"tools": TOOLS[::-1]}),
        ({"tools": TOOLS}, {"thread": {"type": "continue", "previous_message_id": "msg_1"}}),
        ({"max_tokens": 10}, {"max_tokens": 20}),
    ],
)
def test_the_same_parameter_in_another_form_is_the_same(first: Json, second: Json) -> None:
    assert parameters(first, second) == ["held"]


def test_a_last_request_at_the_cap_may_leave_the_tools_out() -> None:
    assert parameters({"tools": TOOLS}, {}, max_iterations=2) == ["held"]


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


@pytest.mark.parametrize("left", ["opaque", {"id": 1}, [], [{"kind": "event"}]])
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
