"""The legal variants are what they say: that no check takes one for wrong is shown elsewhere."""

from __future__ import annotations

import pytest

from harness.history import Published, Reported, ToolStarted, UsageRecorded
from harness.loops.reference import async_loop
from harness.loops.resolve import resolve
from tests.loops import variant_string, variant_urllib, variants
from tests.loops.canned import Played, call, found, play, reply, search, text, tool
from tests.loops.variants import VARIANTS

ADD, SUB = tool("add", result="3"), tool("sub", result="1")
NEEDS_ENVIRONMENT = {"module_client"}
TOOL_TURN = [
    reply("tool_use", text("Hm."), call("add"), call("sub"), id="msg_1"),
    reply("end_turn", text("Done."), id="msg_2"),
]


def shown(played: Played) -> str:
    published = played.of(Published)
    listed = played.end.shown or (published[-1].state["messages"] if published else [])
    return " ".join(part if isinstance(part, str) else part["content"] for part in listed)


@pytest.mark.parametrize("name", sorted(set(VARIANTS) - NEEDS_ENVIRONMENT))
def test_every_variant_runs_tools_and_shows_the_answer(name):
    played = play(resolve(VARIANTS[name].target), list(TOOL_TURN), tools=(ADD, SUB))
    assert played.error is None
    assert {event.name for event in played.of(ToolStarted)} == {"add", "sub"}
    assert len(played.requests) == 2
    assert "Done." in shown(played)


def test_there_are_enough_of_them():
    assert len(VARIANTS) >= 20
    assert all(variant.doc.endswith(".") for variant in VARIANTS.values())


def test_the_streaming_one_streams_always():
    played = play(variants.streaming, [reply("end_turn", text("x"))], stream=False)
    assert played.requests[0]["stream"] is True


def test_results_as_blocks():
    played = play(variants.results_as_blocks, list(TOOL_TURN), tools=(ADD, SUB))
    first = played.requests[1]["messages"][-1]["content"][0]
    assert first["content"] == [{"type": "text", "text": "3"}]


def test_concurrent_tools_overlap():
    slow = (tool("add", delay=0.3), tool("sub", delay=0.3))
    played = play(variants.concurrent_tools, list(TOOL_TURN), tools=slow)
    kinds = [event.__class__.__name__ for event in played.events if "Tool" in event.__class__.__name__]
    assert kinds == ["ToolStarted", "ToolStarted", "ToolEnded", "ToolEnded"]
    one_by_one = play(async_loop, list(TOOL_TURN), tools=slow)
    kinds = [event.__class__.__name__ for event in one_by_one.events if "Tool" in event.__class__.__name__]
    assert kinds == ["ToolStarted", "ToolEnded", "ToolStarted", "ToolEnded"]


def test_merged_pauses_are_one_message():
    script = [
        reply("pause_turn", text("a"), search("srvtoolu_1")),
        reply("pause_turn", found("srvtoolu_1"), search("srvtoolu_2")),
        reply("end_turn", found("srvtoolu_2"), text("b")),
    ]
    played = play(variants.merged_pauses, script)
    assert [message["role"] for message in played.requests[2]["messages"]] == ["user", "assistant"]
    assert len(played.end.history[-1]["content"]) == 6


def test_a_typed_exception_on_truncation():
    played = play(variants.raises_on_truncation, [reply("max_tokens", text("ha"))])
    assert isinstance(played.error, variants.MaxTokensReached)
    assert variants.raises_on_truncation.declaration.raises == {"MaxTokensReached": "truncated"}


def test_going_on_when_cut():
    script = [reply("max_tokens", text("Half a sen")), reply("end_turn", text("tence."))]
    played = play(variants.continues_when_cut, script)
    assert played.outcome.status == "completed"
    assert [message["role"] for message in played.requests[1]["messages"]] == ["user", "assistant", "user"]


def test_a_tool_error_that_fails_the_turn():
    script = [reply("tool_use", call("add"))]
    played = play(variants.raises_tool_errors, script, tools=(tool("add", raises="disk full"),))
    assert len(played.requests) == 1
    assert played.outcome.status == "failed"
    assert "disk full" in str(played.outcome.detail)
    assert played.outcome.history[-1]["content"][0]["is_error"]


def test_one_cache_mark_that_moves():
    played = play(variants.caching, list(TOOL_TURN), tools=(ADD, SUB))
    assert [str(request["messages"]).count("cache_control") for request in played.requests] == [1, 1]
    assert "cache_control" in played.requests[1]["messages"][-1]["content"][-1]


def test_a_refused_prompt_that_is_kept():
    played = play(variants.keeps_the_refused_prompt, [reply("refusal", text("I"))])
    assert played.outcome.history == [{"role": "user", "content": "Hello?"}]


def test_nothing_but_published_and_nothing_but_returned():
    published = play(variants.publishes_only, [reply("end_turn", text("x"))])
    assert published.returned is None
    assert published.of(Published)
    returned = play(variants.outcome_only, [reply("max_tokens", text("x"))])
    assert returned.outcome.status == "truncated"
    assert [returned.of(kind) for kind in (Published, Reported, UsageRecorded)] == [[], [], []]


@pytest.mark.parametrize(
    ("stop", "words"), [("refusal", "declined"), ("max_tokens", "not a finished"), ("brand_new", "brand_new")]
)
def test_the_string_says_what_went_wrong(stop, words):
    played = play(variant_string.loop, [reply(stop, text("half"))])
    assert words in played.returned


def test_the_one_by_hand_remembers_its_conversation():
    variant_urllib.SESSIONS.clear()
    play(variant_urllib.loop, [reply("end_turn", text("One."))])
    second = play(variant_urllib.loop, [reply("end_turn", text("Two."))])
    assert [message["content"] for message in second.requests[0]["messages"]] == ["Hello?", "One.", "Hello?"]
    assert second.headers[0]["x-api-key"] == "sk-ant-test"


def test_more_room_for_what_was_cut():
    script = [reply("max_tokens", text("Half a sen")), reply("end_turn", text("A sentence."))]
    played = play(variants.asks_for_more_room, script)
    first, second = played.requests
    assert second["max_tokens"] > first["max_tokens"]
    assert second["messages"] == first["messages"]
    assert played.outcome.status == "completed"


def test_another_model_where_one_declines():
    played = play(variants.falls_back_when_refused, [reply("refusal"), reply("end_turn", text("Sure."))])
    assert played.requests[0]["model"] != played.requests[1]["model"]
    assert played.outcome.status == "completed"


def test_results_in_another_order_and_in_messages_of_their_own():
    turned = play(variants.results_as_they_come, list(TOOL_TURN), tools=(ADD, SUB))
    ids = [block["tool_use_id"] for block in turned.requests[1]["messages"][-1]["content"]]
    assert ids == ["toolu_sub", "toolu_add"]
    apart = play(variants.results_one_by_one, list(TOOL_TURN), tools=(ADD, SUB))
    roles = [message["role"] for message in apart.requests[1]["messages"]]
    assert roles == ["user", "assistant", "user", "user"]


def test_the_newer_of_two_pauses_that_repeats_the_older():
    older = (text("a"), search("srvtoolu_1"))
    script = [
        reply("pause_turn", *older),
        reply("pause_turn", *older, found("srvtoolu_1"), search("srvtoolu_2")),
        reply("end_turn", found("srvtoolu_2"), text("b")),
    ]
    played = play(variants.newest_pause_only, script)
    assert [len(message["content"]) for message in played.requests[2]["messages"][1:]] == [4]


def test_a_tool_that_failed_is_run_once_more():
    script = [reply("tool_use", call("add")), reply("end_turn", text("Done."))]
    played = play(variants.retries_a_tool, script, tools=(tool("add", raises="busy"),))
    assert len(played.of(ToolStarted)) == 2
    assert played.requests[1]["messages"][-1]["content"][0]["is_error"]


def test_an_empty_reply_is_asked_to_go_on_once():
    played = play(variants.asks_again_when_empty, [reply("end_turn"), reply("end_turn")])
    assert [message["role"] for message in played.requests[1]["messages"]] == ["user", "user"]
    assert len(played.requests) == 2


def test_the_client_tries_again_before_the_loop_does():
    script = [(529, {"retry-after-ms": "1"}, {}), reply("end_turn", text("Done."))]
    played = play(variants.retries_around_the_sdks, script)
    assert [headers["x-stainless-retry-count"] for headers in played.headers] == ["0", "1"]
