from __future__ import annotations

from typing import Any

import pytest

from harness.history import RequestSeen
from harness.provider.answer import Failure
from harness.provider.threads import Threads
from harness.transcript import Conversation, conversation_of, messages_seen, previous_id
from tests.provider.serve import PROMPT, SYSTEM, body

HI = {"role": "user", "content": PROMPT}
MORE = {"role": "user", "content": "And then?"}
REPLY: dict[str, Any] = {"id": "msg_1", "content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn"}
CREATE = body(thread={"type": "create"})


def go_on(previous: str = "msg_1", *messages: dict[str, Any]) -> dict[str, Any]:
    asked = body(thread={"type": "continue", "previous_message_id": previous})
    del asked["system"], asked["tools"]
    return asked | {"messages": list(messages)}


def answered(threads: Threads, asked: dict[str, Any], **reply: Any) -> Conversation:
    conversation = threads.resolve(asked)
    assert isinstance(conversation, Conversation)
    threads.began(asked)
    threads.answered(asked, conversation, REPLY | reply)
    return conversation


def code(resolved: Conversation | Failure) -> tuple[int, Any]:
    assert isinstance(resolved, Failure)
    return resolved.status, (resolved.details or {}).get("error_code")


def test_a_continued_thread_stands_for_the_whole_conversation() -> None:
    threads = Threads()
    answered(threads, CREATE)
    resolved = answered(threads, go_on("msg_1", MORE), id="msg_2")
    assert resolved.messages == [HI, {"role": "assistant", "content": REPLY["content"]}, MORE]
    assert resolved.system == SYSTEM
    assert [tool["name"] for tool in resolved.tools] == ["lookup"]
    third = threads.resolve(go_on("msg_2", MORE))
    assert isinstance(third, Conversation)
    assert len(third.messages) == 5


def test_a_thread_that_was_never_made_is_not_found() -> None:
    threads = Threads()
    answered(threads, body())
    assert code(threads.resolve(go_on("msg_1", MORE))) == (404, "thread_not_found")


def test_a_reply_is_continued_once() -> None:
    threads = Threads()
    answered(threads, CREATE)
    answered(threads, go_on("msg_1", MORE), id="msg_2")
    assert code(threads.resolve(go_on("msg_1", MORE))) == (400, "thread_already_continued")


def test_two_requests_do_not_continue_one_reply_at_once() -> None:
    threads = Threads()
    answered(threads, CREATE)
    threads.began(go_on("msg_1", MORE))
    assert code(threads.resolve(go_on("msg_1", HI))) == (400, "thread_continue_in_flight")
    threads.failed(go_on("msg_1", MORE))
    assert isinstance(threads.resolve(go_on("msg_1", HI)), Conversation)


@pytest.mark.parametrize("field", ["system", "tools", "output_config"])
def test_what_a_thread_holds_cannot_be_changed_on_the_way(field: str) -> None:
    threads = Threads()
    answered(threads, CREATE)
    other = {"system": "Other", "tools": [], "output_config": {"effort": "low"}}[field]
    resolved = threads.resolve(go_on("msg_1", MORE) | {field: other})
    assert code(resolved) == (400, "thread_fingerprint_mismatch")
    assert isinstance(resolved, Failure)
    assert f"differing fields: {field}." in str(resolved.message)
    same = go_on("msg_1", MORE) | {"system": CREATE["system"], "tools": CREATE["tools"]}
    assert isinstance(threads.resolve(same), Conversation)


def test_what_does_not_go_with_a_thread_is_named() -> None:
    resolved = Threads().resolve(CREATE | {"context_management": {"edits": []}})
    assert code(resolved) == (400, "thread_unsupported_request")
    assert isinstance(resolved, Failure)
    assert (resolved.details or {})["unsupported"] == ["context_management"]


def test_a_thread_expires_five_minutes_after_its_last_reply() -> None:
    now = [0.0]
    threads = Threads(lambda: now[0])
    answered(threads, CREATE)
    now[0] = 299.0
    answered(threads, go_on("msg_1", MORE), id="msg_2")
    now[0] = 598.0
    assert isinstance(threads.resolve(go_on("msg_2", MORE)), Conversation)
    now[0] = 600.0
    assert code(threads.resolve(go_on("msg_2", MORE))) == (404, "thread_not_found")


def test_a_reply_of_a_fallback_model_is_not_continued_from() -> None:
    threads = Threads()
    answered(threads, CREATE, content=[{"type": "fallback", "from": {}, "to": {}}, *REPLY["content"]])
    assert code(threads.resolve(go_on("msg_1", MORE))) == (404, "thread_not_found")


def test_a_refused_reply_is_not_continued_from() -> None:
    threads = Threads()
    answered(threads, CREATE, stop_reason="refusal")
    assert code(threads.resolve(go_on("msg_1", MORE))) == (404, "thread_not_found")


def test_only_a_paused_thread_is_continued_without_a_message() -> None:
    threads = Threads()
    answered(threads, CREATE, stop_reason="pause_turn")
    resumed = threads.resolve(go_on("msg_1"))
    assert isinstance(resumed, Conversation)
    assert resumed.messages[-1]["role"] == "assistant"
    finished = Threads()
    answered(finished, CREATE)
    refused = finished.resolve(go_on("msg_1"))
    assert isinstance(refused, Failure)
    assert refused.message == "messages: at least one message is required"


def test_a_request_without_a_thread_brings_its_own_history() -> None:
    assert previous_id(body()) is None
    assert previous_id(body(thread=None)) is None
    assert previous_id(CREATE) is None
    assert conversation_of("not a mapping").messages == []


def test_the_messages_of_a_recorded_request_are_those_the_model_saw() -> None:
    assert messages_seen(RequestSeen(request=1, body=body())) == [HI]
    assert messages_seen(RequestSeen(request=1, body=go_on("x", MORE), transcript=[HI, MORE])) == [HI, MORE]
