"""The reference loop over HTTP, in all four forms."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from harness.history import ToolStarted
from harness.loops.reference import async_loop, loop
from harness.turn import Declaration, Limits, Outcome
from tests.loops.canned import Played, call, found, play, reply, search, sse, text, tool, until

FORMS = pytest.mark.parametrize(
    ("form", "stream"),
    [(loop, False), (loop, True), (async_loop, False), (async_loop, True)],
    ids=["sync", "sync-sse", "async", "async-sse"],
)
ADD = tool("add", result="3")


@FORMS
def test_tools_and_pauses_are_gone_through_to_the_answer(form, stream):
    odd = {"type": "hologram", "beam": {"x": None}}
    script = [
        reply("tool_use", text("Hm."), odd, call("add", {"n": []}), call("nope")),
        reply("pause_turn", text("Looking."), search()),
        reply("end_turn", found(), text("Done.")),
    ]
    played = play(form, script, tools=(ADD,), stream=stream)
    assert played.outcome.status == "completed"
    assert played.texts == ["Hm.", "Looking.", "Done."]
    assert played.requests[1]["messages"][1]["content"] == script[0]["content"]
    assert played.requests[2]["messages"][-1]["content"] == script[1]["content"]
    assert [event.input for event in played.of(ToolStarted)] == [{"n": []}]
    assert played.usage.iterations == 3
    assert played.usage.tokens == {"input_tokens": 30, "output_tokens": 15}
    assert [request.get("stream", False) for request in played.requests] == [stream] * 3
    assert not played.store


@FORMS
def test_what_a_tool_raises_is_told_to_the_model(form, stream):
    script = [reply("tool_use", call("add")), reply("end_turn", text("x"))]
    played = play(form, script, tools=(tool("add", raises="disk full"),), stream=stream)
    (block,) = played.requests[1]["messages"][-1]["content"]
    assert block == {
        "type": "tool_result",
        "tool_use_id": "toolu_add",
        "content": "disk full",
        "is_error": True,
    }


@FORMS
def test_a_hanging_tool_is_bounded_by_the_wall_clock(form, stream):
    played = play(
        form,
        [reply("tool_use", call("add"))],
        tools=(tool("add", hangs=True),),
        stream=stream,
        limits=Limits(wall_clock=0.5),
    )
    assert played.outcome.status == "capped"
    assert played.outcome.history[-1]["content"][0]["is_error"]


@FORMS
def test_cancelled_by_a_tool_starts_no_other_and_does_not_wait(form, stream):
    script = [reply("tool_use", call("add"), call("slow"))]
    began = time.monotonic()
    played = play(
        form, script, tools=(tool("add", delay=20), tool("slow")), stream=stream, cancel_on_tool="add"
    )
    assert time.monotonic() - began < 10
    assert [event.name for event in played.of(ToolStarted)] == ["add"]
    assert played.outcome.status == "cancelled"
    assert len(played.requests) == 1
    assert not played.store


@FORMS
def test_cancelled_while_a_request_is_under_way_asks_no_more(form, stream):
    def cancel(played: Played, number: int) -> None:
        played.store.put("cancel:c1", True)

    played = play(form, [reply("tool_use", call("add"))], tools=(ADD,), stream=stream, before=cancel)
    assert len(played.requests) == 1
    assert played.of(ToolStarted) == []
    assert played.outcome.status == "cancelled"


@FORMS
def test_a_slow_provider_is_bounded_by_the_wall_clock(form, stream):
    released = threading.Event()
    played = play(
        form,
        [reply("end_turn", text("late"))],
        stream=stream,
        limits=Limits(wall_clock=1.0),
        before=lambda _, number: released.wait(2.0) and None,
    )
    assert played.outcome.status == "capped"
    assert len(played.requests) == 1
    assert float(played.headers[0]["x-stainless-timeout"]) <= 1.0


@FORMS
def test_a_permanent_error_fails_the_turn_at_once(form, stream):
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "messages: nope"}}
    played = play(form, [(400, {}, error)], stream=stream)
    assert played.outcome.status == "failed"
    assert "messages: nope" in str(played.outcome.detail)
    assert len(played.requests) == 1
    assert played.problems


@FORMS
def test_an_overloaded_provider_is_asked_again_after_the_time_it_names(form, stream):
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    played = play(form, [(529, {"retry-after": "0.2"}, error), reply("end_turn", text("Hi."))], stream=stream)
    assert played.outcome.status == "completed"
    assert played.requests[0] == played.requests[1]
    assert [headers["x-stainless-retry-count"] for headers in played.headers] == ["0", "1"]
    assert played.usage.iterations == 1


@FORMS
def test_an_error_that_says_not_to_retry_is_not(form, stream):
    played = play(form, [(529, {"x-should-retry": "false"}, {})], stream=stream)
    assert len(played.requests) == 1
    assert played.outcome.status == "failed"


@pytest.mark.parametrize("form", [loop, async_loop])
@pytest.mark.parametrize(
    "cut", ["before the end", "error"], ids=["before it says why it stopped", "with an error event"]
)
def test_a_broken_stream_is_no_answer_and_runs_no_tool(form, cut):
    whole = sse(reply("tool_use", call("add")))
    broken = whole[: whole.index(b"event: message_delta")]
    if cut == "error":
        broken += (
            b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n'
        )
    played = play(form, [broken, reply("end_turn", text("Hi."))], tools=(ADD,), stream=True)
    assert played.of(ToolStarted) == []
    assert played.requests[0] == played.requests[1]
    assert played.texts == ["Hi."]
    assert played.usage.iterations == 1


@pytest.mark.parametrize("form", [loop, async_loop])
def test_a_reply_that_said_why_it_stopped_is_whole_without_its_last_event(form):
    whole = sse(reply("tool_use", call("add")))
    unfinished = whole[: whole.index(b"event: message_stop")]
    played = play(form, [unfinished, reply("end_turn", text("Hi."))], tools=(ADD,), stream=True)
    assert len(played.of(ToolStarted)) == 1
    assert played.texts == ["Hi."]
    assert played.usage.iterations == 2


@FORMS
def test_the_next_turn_is_accepted_after_a_cap(form, stream):
    first = play(
        form,
        [reply("tool_use", call("add"))],
        tools=(ADD,),
        stream=stream,
        limits=Limits(max_iterations=1),
    )
    second = play(form, [reply("end_turn", text("x"))], messages=first.outcome.history, stream=stream)
    sent: list[dict[str, Any]] = second.requests[0]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user", "user"]
    assert sent[2]["content"][0]["tool_use_id"] == "toolu_add"


def test_the_blocking_loop_leaves_no_thread_behind():
    play(loop, [reply("tool_use", call("brief")), reply("end_turn", text("x"))], tools=(tool("brief"),))
    assert until(lambda: "tool brief" not in [thread.name for thread in threading.enumerate()])


@pytest.mark.parametrize("form", [loop, async_loop])
def test_both_loops_declare_their_policies(form):
    assert isinstance(form.declaration, Declaration)
    assert form.declaration.policies["on_max_tokens"] == "stop"


def test_the_outcome_tells_everything():
    outcome = play(loop, [reply("end_turn", text("Hi."))]).outcome
    assert isinstance(outcome, Outcome)
    assert None not in (outcome.status, outcome.shown, outcome.history, outcome.usage)
