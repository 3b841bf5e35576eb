"""HIST on histories written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.hist import CALLING, HI, next_turn, third_request, tool_turn
from tests.checks.histories import (
    Json,
    Story,
    assistant,
    call,
    result,
    server_call,
    text,
    thinking,
    user,
)

ALL_HIST = [f"HIST-{number}" for number in range(1, 10)]


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


def test_something_new_before_what_was_said_last_should_not_be() -> None:
    messages = [HI, assistant(CALLING), user([result("toolu_1"), text("(It is noon.)")])]
    findings = third_request([*messages, assistant([call("toolu_2")]), user([result("toolu_2")])]).check(
        "HIST-2"
    )
    [finding] = [one for one in findings if one.kind == "broken"]

    assert (finding.level, finding.request, finding.block) == ("SHOULD", 3, 1)
    assert "(It is noon.)" in finding.happened


def test_a_thought_that_was_followed_by_nothing_to_run_may_go() -> None:
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLING[:2], "max_tokens")
    story.ask([HI, user("Go on.")])

    assert story.reply([text("Done.")]).end().check("HIST-4") == []


def test_a_parameter_may_change_around_an_answer_that_was_none() -> None:
    def kinds(kind: str, reason: str = "") -> list[str]:
        story = Story()
        story.turn()
        story.ask([HI], model="a")
        if reason:
            story.reply([text("Hm.")], reason)
        else:
            story.answer(kind, 400)
        story.ask([HI, user("More")], model="b")
        return story.reply([text("Done.")]).end().kinds("HIST-7")

    assert kinds("fault") == []
    assert kinds("rejected") == []
    assert kinds("reply", "refusal") == []
    assert kinds("reply", "max_tokens") == ["broken"]


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ({"tools": TOOLS}, {"tools": [{**TOOLS[0], "strict": None}, TOOLS[1]]}, "held"),
        ({"tools": []}, {}, "held"),
        ({"system": ""}, {}, "held"),
        ({"system": [text("a"), text("b")]}, {"system": [text("b"), text("a")]}, "broken"),
        ({"tools": [*TOOLS, "bash"]}, {"tools": ["bash", *TOOLS]}, "held"),
        ({"tools": ["bash"]}, {"tools": ["sh"]}, "broken"),
        ({"system": [text("a", citations=[])]}, {"system": "a"}, "broken"),
        ({"model": "a", "tools": TOOLS}, {"model": "b"}, "broken"),
    ],
)
def test_forms_of_a_parameter(first: Json, second: Json, kind: str) -> None:
    assert parameters(first, second, max_iterations=2) == [kind]


def test_tools_left_out_before_the_last_request_are_found() -> None:
    assert parameters({"tools": TOOLS}, {}, max_iterations=3) == ["broken"]
    assert parameters({"tools": TOOLS}, {}) == ["broken"]


def test_a_text_of_the_users_that_quotes_a_reply_is_not_the_reply_flattened() -> None:
    said = user('You said: "Let me look."')
    story = Story()
    story.turn()
    story.ask([HI])
    story.reply(CALLING, "tool_use")
    story.ask([HI, said, user([result("toolu_1")])])

    assert story.reply([text("Done.")]).end().kinds("HIST-5") == []


def test_leaving_a_thread_or_taking_it_up_again_changes_no_parameter() -> None:
    def kinds(first: Json, second: Json) -> list[str]:
        return parameters(first, second)

    thread = {"thread": {"type": "continue", "previous_message_id": "msg_1"}}
    assert kinds(thread, {"tools": TOOLS}) == ["held"]
    assert kinds({**thread, "tools": TOOLS}, {"tools": TOOLS[:1]}) == ["broken"]
    assert kinds({"tools": TOOLS}, {**thread, "tools": TOOLS[:1]}) == ["broken"]
