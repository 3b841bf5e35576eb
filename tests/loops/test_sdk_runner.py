from __future__ import annotations

import pytest

from harness.history import ToolStarted
from harness.loops import sdk_runner
from harness.turn import Limits
from tests.loops.canned import call, found, play, reply, search, text, tool

ADD = tool("add", result="3")
RUNNERS = pytest.mark.parametrize(
    "runner",
    [
        sdk_runner.threaded,
        sdk_runner.unthreaded,
        sdk_runner.async_threaded,
        sdk_runner.async_unthreaded,
    ],
    ids=lambda runner: runner.__name__,
)
STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["json", "sse"])


@RUNNERS
@STREAMS
def test_tools_and_pauses_lead_to_the_answer(runner, stream):
    script = [
        reply("tool_use", text("Hm."), call("add", {"a": 1}), id="msg_01"),
        reply("pause_turn", text("Looking."), search(), id="msg_02"),
        reply("end_turn", found(), text("Done."), id="msg_03"),
    ]
    played = play(runner, script, tools=(ADD,), stream=stream)
    assert played.error is None
    assert played.outcome.status == "completed"
    assert played.texts_plain == ["Hm.", "Looking.", "Done."]
    assert [event.input for event in played.of(ToolStarted)] == [{"a": 1}]
    assert len(played.requests) == 3
    assert [message["role"] for message in played.end.history] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "assistant",
    ]


def test_a_thread_carries_only_what_is_new():
    script = [reply("tool_use", call("add"), id="msg_01"), reply("end_turn", text("x"), id="msg_02")]
    first, second = play(sdk_runner.threaded, script, tools=(ADD,)).requests
    assert first["thread"] == {"type": "create"}
    assert second["thread"] == {"type": "continue", "previous_message_id": "msg_01"}
    assert [block["type"] for block in second["messages"][0]["content"]] == ["tool_result"]
    first, second = play(sdk_runner.unthreaded, script, tools=(ADD,)).requests
    assert "thread" not in first
    assert len(second["messages"]) == 3


@RUNNERS
def test_a_tool_that_raises_and_one_that_is_missing_are_answered(runner):
    script = [reply("tool_use", call("add"), call("nope")), reply("end_turn", text("x"), id="msg_02")]
    played = play(runner, script, tools=(tool("add", raises="disk full"),))
    first, second = played.requests[1]["messages"][-1]["content"]
    assert first["content"] == "disk full"
    assert first["is_error"]
    assert second["is_error"]


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("end_turn", "completed"),
        ("refusal", "refused"),
        ("max_tokens", "truncated"),
        ("model_context_window_exceeded", "truncated"),
        ("brand_new", "failed"),
        ("tool_use", "failed"),
    ],
)
@STREAMS
def test_the_last_stop_reason_is_the_status(reason, status, stream):
    played = play(sdk_runner.unthreaded, [reply(reason, text("x"))], stream=stream)
    assert played.outcome.status == status
    assert played.outcome.detail == reason


def test_iterations_used_up_are_a_cap():
    script = [reply("tool_use", call("add", call_id=f"toolu_{n}"), id=f"msg_{n}") for n in range(9)]
    played = play(sdk_runner.unthreaded, script, tools=(ADD,), limits=Limits(max_iterations=2))
    assert len(played.requests) == 2
    assert played.outcome.status == "capped"


@RUNNERS
def test_a_provider_error_leaves_the_runner_as_an_exception(runner):
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": "nope"}}
    played = play(runner, [(400, {"x-should-retry": "false"}, error)])
    assert type(played.error).__name__ == "BadRequestError"
    assert len(played.requests) == 1
