"""What the rules look at where a thread holds the beginning of the conversation."""

from __future__ import annotations

from typing import Any

import pytest

from harness.provider.answer import Answer
from tests.provider.asking import HI, Talk, result, t, user
from tests.provider.serve import body, call, reply

THREADS = {"anthropic-beta": "message-threads-2026-08-12"}


def continued(content: list[Any], *messages: dict[str, Any]) -> tuple[Talk, Answer]:
    """A thread whose reply holds `content`, and how its continuation with `messages` is answered."""
    talk = Talk(script=[reply(*content), reply("Well.", repeat="forever")])
    answer = talk.ask(body(HI, thread={"type": "create"}), **THREADS)
    answer.delivered()
    go_on = body(*messages, thread={"type": "continue", "previous_message_id": answer.body["id"]})
    asked = {key: go_on[key] for key in go_on if key not in ("system", "tools")}
    return talk, talk.ask(asked, **THREADS)


@pytest.mark.parametrize("content", [[" "], []], ids=["blank", "empty"])
def test_what_the_thread_holds_is_not_the_requests_to_answer_for(content: list[Any]) -> None:
    talk, answer = continued(content, HI)
    assert answer.status == 200
    assert talk.noted == []


def test_blank_text_that_the_request_adds_is_refused_all_the_same() -> None:
    _, answer = continued(["Well."], user([t(" ")]))
    assert (answer.status, answer.rule) == (400, "text_blank")


def test_blank_text_beside_a_call_in_the_thread_is_not_noted() -> None:
    talk = Talk(script=[reply(t(" "), call()), reply("Well.")])
    answer = talk.ask(body(HI, thread={"type": "create"}), **THREADS)
    answer.delivered()
    called = next(block["id"] for block in answer.body["content"] if block["type"] == "tool_use")
    go_on = body(
        user([result(called)]), thread={"type": "continue", "previous_message_id": answer.body["id"]}
    )
    asked = {key: go_on[key] for key in go_on if key not in ("system", "tools")}
    assert talk.ask(asked, **THREADS).status == 200
    assert "text_blank_beside_others" not in talk.noted
