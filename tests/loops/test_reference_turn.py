from __future__ import annotations

import pytest

from harness.loops.reference import ReferenceTurn
from harness.loops.reference.effects import Ask, Claim, Finish, Ran, RecordUsage
from harness.store import Store
from harness.turn import Limits, Turn, TurnSpec
from tests.loops.by_hand import Hand
from tests.loops.canned import call, found, reply, search, text, tool

PROMPT = {"role": "user", "content": "Hello?"}


ADD, SUB = tool("add", result="3"), tool("sub", result="1")


def assistant(*content: dict[str, object]) -> dict[str, object]:
    return {"role": "assistant", "content": list(content)}


def result(call_id: str, content: str, is_error: bool = False) -> dict[str, object]:
    block: dict[str, object] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return block | {"is_error": True} if is_error else block


def test_an_answer_ends_the_turn():
    hand = Hand([reply("end_turn", text("Hi."))]).run()
    assert hand.outcome.status == "completed"
    assert hand.texts == ["Hi."]
    assert hand.history == [PROMPT, assistant(text("Hi."))]
    assert hand.landed()


def test_the_first_request_is_the_conversation_with_system_prompt_and_tools():
    hand = Hand([reply("end_turn")], tools=(ADD,)).run()
    (ask,) = hand.of(Ask)
    assert ask.body == {
        "model": "claude-opus-4-6",
        "max_tokens": 100,
        "system": "Be brief.",
        "messages": [PROMPT],
        "tools": [{"name": "add", "description": "add", "input_schema": {"type": "object"}}],
    }


def test_tools_run_and_their_results_go_back_in_one_message():
    said = [text("Let me see."), call("add"), call("sub")]
    hand = Hand([reply("tool_use", *said), reply("end_turn", text("Both."))], tools=(ADD, SUB))
    hand.on_tool = lambda _, name: Ran(f"{name}!")
    hand.run()
    results = {"role": "user", "content": [result("toolu_add", "add!"), result("toolu_sub", "sub!")]}
    assert hand.requests[1] == [PROMPT, assistant(*said), results]
    assert hand.texts == ["Let me see.", "Both."]
    assert hand.landed()


def test_a_tool_that_fails_is_answered_with_its_error():
    hand = Hand([reply("tool_use", call("add")), reply("end_turn")], tools=(ADD,))
    hand.on_tool = lambda *_: Ran("disk full", is_error=True)
    hand.run()
    assert hand.requests[1][-1]["content"] == [result("toolu_add", "disk full", is_error=True)]
    assert hand.outcome.status == "completed"


def test_a_tool_that_does_not_exist_is_answered_with_the_names_that_do():
    hand = Hand([reply("tool_use", call("nope")), reply("end_turn")], tools=(ADD, SUB)).run()
    (block,) = hand.requests[1][-1]["content"]
    assert block["is_error"]
    assert "add, sub" in block["content"]
    assert hand.ran == []


@pytest.mark.parametrize("blank", ["", "  \n", [], [text(" ")]])
def test_a_result_without_content_has_none(blank):
    hand = Hand([reply("tool_use", call("add")), reply("end_turn")], tools=(ADD,))
    hand.on_tool = lambda *_: Ran(blank)
    hand.run()
    assert hand.requests[1][-1]["content"] == [{"type": "tool_result", "tool_use_id": "toolu_add"}]


def test_a_paused_reply_goes_back_as_the_last_message():
    paused = [text("Looking."), search()]
    hand = Hand(
        [reply("pause_turn", *paused), reply("end_turn", found(), text("Found."))], tools=(ADD,)
    ).run()
    assert hand.requests[1] == [PROMPT, assistant(*paused)]
    assert hand.of(Ask)[1].body["tools"] == hand.of(Ask)[0].body["tools"]
    assert hand.outcome.status == "completed"
    assert hand.history == [PROMPT, assistant(*paused), assistant(found(), text("Found."))]


def test_the_container_of_a_paused_reply_is_used_again():
    hand = Hand([reply("pause_turn", search(), container={"id": "container_1"}), reply("end_turn")]).run()
    assert "container" not in hand.of(Ask)[0].body
    assert hand.of(Ask)[1].body["container"] == "container_1"


def test_pauses_in_a_row_are_bounded_and_the_bound_is_reported():
    paused = [reply("pause_turn", text(f"Part {n}."), search(f"srvtoolu_{n}")) for n in range(9)]
    hand = Hand(paused, limits=Limits(pauses=2)).run()
    assert len(hand.requests) == 3
    assert hand.outcome.status == "capped"
    assert hand.problems == ["the cap of 2 pauses in a row was reached after 3 model requests"]
    assert hand.landed()


def test_pauses_count_anew_after_a_tool_turn():
    script = [
        reply("pause_turn", search("srvtoolu_1")),
        reply("tool_use", found("srvtoolu_1"), call("add")),
        reply("pause_turn", search("srvtoolu_2")),
        reply("end_turn", found("srvtoolu_2"), text("x")),
    ]
    hand = Hand(script, limits=Limits(pauses=1), tools=(ADD,)).run()
    assert hand.outcome.status == "completed"


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_cut_reply_is_marked_and_reported(reason):
    hand = Hand([reply(reason, text("The answer is"))]).run()
    assert hand.outcome.status == "truncated"
    assert hand.outcome.detail == reason
    assert hand.texts[0] == "The answer is"
    assert hand.outcome.shown[-1]["is_error"]
    assert len(hand.problems) == 1
    assert hand.landed()


def test_a_cut_tool_call_is_neither_run_nor_kept():
    hand = Hand([reply("max_tokens", text("Adding."), call("add", {"a": 1}))], tools=(ADD,)).run()
    assert hand.ran == []
    assert hand.history == [PROMPT, assistant(text("Adding."))]


def test_a_reply_cut_while_thinking_leaves_no_message():
    thinking = {"type": "thinking", "thinking": "Hm", "signature": ""}
    hand = Hand([reply("max_tokens", thinking)]).run()
    assert hand.history == [PROMPT]
    assert hand.outcome.status == "truncated"


def test_a_refusal_is_told_and_forgotten_and_no_fault():
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    earlier = [{"role": "user", "content": "Hi"}, assistant(text("Hi."))]
    hand = Hand(
        [reply("refusal", text("I"), call("add"), stop_details=details)], messages=earlier, tools=(ADD,)
    )
    hand.run()
    assert len(hand.requests) == 1
    assert hand.outcome.status == "refused"
    assert hand.texts == ["The model declined to answer this request. Not this."]
    assert hand.problems == []
    assert hand.ran == []
    assert hand.history == earlier
    assert hand.landed()


def test_an_unknown_stop_reason_is_no_success_and_visible():
    hand = Hand([reply("brand_new", text("half"))]).run()
    assert hand.outcome.status == "failed"
    assert "brand_new" in hand.outcome.detail
    assert len(hand.requests) == 1
    assert hand.landed()


def test_stopping_for_a_tool_without_a_call_does_not_spin():
    hand = Hand([reply("tool_use", text("Calling now."))]).run()
    assert hand.outcome.status == "failed"
    assert len(hand.requests) == 1


def test_an_empty_end_adds_no_message():
    hand = Hand([reply("tool_use", text("Done."), call("add")), reply("end_turn")], tools=(ADD,)).run()
    assert hand.outcome.status == "completed"
    assert hand.texts == ["Done."]
    assert hand.history[-1]["role"] == "user"


def test_a_tools_only_reply_adds_no_bubble():
    hand = Hand([reply("tool_use", call("add")), reply("end_turn", text("3"))], tools=(ADD,)).run()
    assert hand.texts == ["3"]


def test_blank_text_is_dropped_and_everything_else_kept():
    odd = {"type": "hologram", "beam": [1, {"x": None}]}
    said = [text(" \n"), odd, call("add") | {"caller": {"type": "direct"}}]
    hand = Hand([reply("tool_use", *said), reply("end_turn")], tools=(ADD,)).run()
    assert hand.requests[1][1] == assistant(*said[1:])


def test_calls_under_another_stop_reason_are_not_run_but_answered():
    hand = Hand([reply("end_turn", text("Hm."), call("add"))], tools=(ADD,)).run()
    assert hand.ran == []
    assert hand.history[-1]["content"][0]["is_error"]


def test_the_iteration_cap_binds_and_the_calls_it_leaves_are_answered():
    hand = Hand([reply("tool_use", call("add", call_id=f"toolu_{n}")) for n in range(9)], tools=(ADD,),
                limits=Limits(max_iterations=3)).run()  # fmt: skip
    assert len(hand.requests) == 3
    assert hand.ran == ["add", "add"]
    assert hand.outcome.status == "capped"
    assert "3" in hand.problems[0]
    assert hand.history[-1]["content"][0]["tool_use_id"] == "toolu_2"
    assert hand.history[-1]["content"][0]["is_error"]
    assert hand.landed()


def test_the_wall_clock_binds():
    hand = Hand([reply("tool_use", call("add", call_id=f"toolu_{n}")) for n in range(9)], tools=(ADD,),
                limits=Limits(wall_clock=10))  # fmt: skip

    def slow(hand: Hand, name: str) -> Ran:
        hand.clock.time += 6
        return Ran("ok")

    hand.on_tool = slow
    hand.run()
    assert len(hand.requests) == 2
    assert [round(ask.timeout) for ask in hand.of(Ask)] == [10, 4]
    assert hand.outcome.status == "capped"
    assert "2" in hand.problems[0]
    assert hand.landed()


def test_cancelled_before_the_first_request_asks_nothing():
    hand = Hand([])
    hand.cancel()
    hand.run()
    assert hand.requests == []
    assert hand.outcome.status == "cancelled"
    assert hand.landed()


def test_cancelled_while_a_tool_runs_starts_no_other_and_answers_all():
    hand = Hand([reply("tool_use", call("add"), call("sub"))], tools=(ADD, SUB))

    def cancels(hand: Hand, name: str) -> Ran:
        hand.cancel()
        return Ran("3")

    hand.on_tool = cancels
    hand.run()
    assert hand.ran == ["add"]
    assert len(hand.requests) == 1
    assert hand.outcome.status == "cancelled"
    first, second = hand.history[-1]["content"]
    assert first == result("toolu_add", "3")
    assert second["is_error"]
    assert hand.landed()


def test_cancelled_while_the_last_reply_is_under_way_is_cancelled():
    hand = Hand([])
    hand.answers = [lambda: (hand.cancel(), reply("end_turn", text("Hi.")))[1]]
    hand.run()
    assert hand.outcome.status == "cancelled"
    assert hand.landed()


def test_a_turn_that_ends_paused_leaves_no_open_server_call():
    hand = Hand([reply("pause_turn", text("Looking."), search())], limits=Limits(max_iterations=1)).run()
    assert hand.history == [PROMPT, assistant(text("Looking."))]


def test_an_open_server_call_beside_answered_client_calls_is_dropped_at_the_end():
    hand = Hand(
        [reply("tool_use", search(), call("add"))], limits=Limits(max_iterations=1), tools=(ADD,)
    ).run()
    assert hand.history[1] == assistant(call("add"))
    assert [block["tool_use_id"] for block in hand.history[2]["content"]] == ["toolu_add"]


def test_text_cut_by_citations_is_one_text_and_text_around_other_blocks_is_not():
    hand = Hand([reply("end_turn", text("a"), text(" "), text("b"), search(), found(), text("c"))]).run()
    assert hand.texts == ["a b\n\nc"]


def test_the_activity_is_shown_between_a_reply_that_reaches_for_a_tool_and_the_next_request():
    hand = Hand([reply("pause_turn", search()), reply("end_turn", found(), text("x"))]).run()
    asks = [index for index, effect in enumerate(hand.effects) if isinstance(effect, Ask)]
    between = [effect.state for effect in hand.effects[asks[0] : asks[1]] if hasattr(effect, "state")]
    assert between
    assert all(state["activity"] for state in between)
    assert between[0]["activity"] == "Using web_search"


def test_usage_is_the_sum_of_all_replies_recorded_once():
    hand = Hand([reply("tool_use", call("add")), reply("end_turn")], tools=(ADD,)).run()
    assert hand.of(RecordUsage) == [RecordUsage(2, {"input_tokens": 20, "output_tokens": 10})]


def test_the_callers_messages_are_left_alone():
    hand = Hand([reply("tool_use", call("add")), reply("end_turn", text("x"))], tools=(ADD,)).run()
    assert hand.turn.messages == [PROMPT]


def test_a_turn_that_another_worker_has_is_left_alone():
    spec = TurnSpec(
        base_url="", api_key="", model="", max_tokens=1, system="", prompt="Hello?", messages=[],
        conversation="c1", tools=[], stream=False, limits=Limits(), checkpoint_key="c", cancel_key="x",
    )  # fmt: skip
    steps = ReferenceTurn(Turn(spec, lambda event: False, Store())).steps()
    assert isinstance(next(steps), Claim)
    last = steps.send(False)
    assert isinstance(last, Finish)
    assert last.outcome.status is None
    with pytest.raises(StopIteration):
        next(steps)
