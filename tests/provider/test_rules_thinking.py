"""Thinking that comes back: as it was, changed, moved, forged, in another conversation."""

from __future__ import annotations

from typing import Any

import pytest

from harness.provider.answer import Answer
from tests.provider.asking import HI, Talk, model, result, t, use, user
from tests.provider.serve import body, call, reply

BOUND, FREE = "claude-opus-5-5", "claude-opus-4-6"
BETA = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
MODIFIED = (
    "messages.{}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
    "modified. These blocks must remain as they were in the original response."
)
ELSEWHERE = (
    "messages.{}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
NEEDS_BETA = (
    " That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header."
)
MORE = user("And then?")


def think(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words}


def talk(*content: Any) -> Talk:
    return Talk(script=[reply(*(content or (think("Hm."), "Well.")), repeat="forever")])


def said(answer: Answer) -> dict[str, Any]:
    assert answer.status == 200, answer.body
    answer.delivered()
    return {"role": "assistant", "content": answer.body["content"]}


def message(answer: Answer) -> str:
    assert (answer.status, answer.body["error"]["type"]) == (400, "invalid_request_error"), answer.body
    return str(answer.body["error"]["message"])


def turned(said_: dict[str, Any], *order: int, **changes: Any) -> dict[str, Any]:
    """A message with its blocks in another order, the first of them changed."""
    blocks = [said_["content"][index] for index in order]
    return {"role": "assistant", "content": [blocks[0] | changes, *blocks[1:]]}


@pytest.mark.parametrize("name", [BOUND, FREE, "claude-sonnet-4-5"])
def test_thinking_is_taken_back_as_it_was(name: str) -> None:
    talked = talk()
    first = said(talked.ask(body(HI, model=name)))
    second = said(talked.ask(body(HI, first, MORE, model=name)))
    assert talked.ask(body(HI, first, MORE, second, MORE, model=name)).status == 200


def test_an_edited_thought_is_refused_in_the_latest_message_and_ignored_before() -> None:
    talked = talk()
    first = said(talked.ask(body(HI, model=FREE)))
    edited = turned(first, 0, 1, thinking="Other.")
    assert message(talked.ask(body(HI, edited, MORE, model=FREE))) == MODIFIED.format("1.content.0")
    assert talked.ask(body(HI, edited, MORE, model("Well?"), MORE, model=FREE)).status == 200


def test_thinking_moved_behind_the_words_is_refused() -> None:
    talked = talk()
    first = said(talked.ask(body(HI, model=FREE)))
    moved = turned(first, 1, 0)
    assert message(talked.ask(body(HI, moved, MORE, model=FREE))) == MODIFIED.format("1.content.1")


def test_thinking_of_two_replies_drawn_together_is_refused() -> None:
    one, two = reply(think("Hm."), "One.", stop_reason="pause_turn"), reply(think("So."), "Two.")
    talked = Talk(script=[one, two, reply("End.", repeat="forever")])
    first = said(talked.ask(body(HI, model=FREE)))
    second = said(talked.ask(body(HI, first, model=FREE)))
    assert talked.ask(body(HI, first, second, MORE, model=FREE)).status == 200
    together = model(*(pair[n] for n in (0, 1) for pair in (first["content"], second["content"])))
    assert message(talked.ask(body(HI, together, MORE, model=FREE))) == MODIFIED.format("1.content.1")


def test_one_of_two_thoughts_cannot_be_dropped_and_both_can() -> None:
    talked = talk(think("A"), think("B"), "Well.")
    first = said(talked.ask(body(HI, model=FREE)))
    assert message(talked.ask(body(HI, turned(first, 1, 2), MORE, model=FREE))) == MODIFIED.format(
        "1.content.0"
    )
    assert talked.ask(body(HI, turned(first, 2), MORE, model=FREE)).status == 200


@pytest.mark.parametrize("name", [BOUND, FREE])
def test_a_forged_signature_is_refused_wherever_it_stands(name: str) -> None:
    talked = talk(think("Hm."), call(), {"type": "redacted_thinking"})
    first = said(talked.ask(body(HI, model=name)))
    results = user([result(first["content"][1]["id"])])
    forged = turned(first, 0, 1, 2, signature="RXJyb3I=")
    wrong = "messages.1.content.0: Invalid `signature` in `thinking` block"
    assert message(talked.ask(body(HI, forged, results, model=name))) == wrong
    assert message(talked.ask(body(HI, forged, results, model("Well"), MORE, model=name))) == wrong
    hidden = {"role": "assistant", "content": [*first["content"][:2], first["content"][2] | {"data": "eA=="}]}
    wrong = "messages.1.content.2: Invalid `data` in `redacted_thinking` block"
    assert message(talked.ask(body(HI, hidden, results, model=name))) == wrong


def test_thinking_from_elsewhere_is_taken_as_it_is() -> None:
    talked = talk()
    strange = {"type": "thinking", "thinking": "Hm.", "signature": "c3RyYW5nZQ=="}
    for name in (BOUND, FREE):
        assert talked.ask(body(HI, model(strange, "Yes."), MORE, model=name)).status == 200


def test_thinking_of_another_model_is_ignored() -> None:
    talked = talk()
    first = said(talked.ask(body(HI, model=FREE)))
    assert talked.ask(body(user("Other"), turned(first, 0, 1, thinking="x"), MORE, model=BOUND)).status == 200


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "an earlier message": (
        body(user("Other"), MORE),
        "Content before this block differs from when it was created, first at `messages.0.content.0`.",
    ),
    "the system prompt": (
        body(HI, MORE, system="Other."),
        "The `system` prompt differs from the one this block was created with.",
    ),
    "the tools": (
        body(HI, MORE, tools=[]),
        "The `tools` list differs from the one this block was created with.",
    ),
}


@pytest.mark.parametrize(("asked", "change"), CHANGES.values(), ids=CHANGES.keys())
def test_a_bound_block_is_refused_in_another_conversation(asked: dict[str, Any], change: str) -> None:
    talked = talk()
    first = said(talked.ask(body(HI, model=BOUND)))
    before, after = asked["messages"]
    again = asked | {"model": BOUND, "messages": [before, first, after]}
    told = ELSEWHERE.format("1.content.0")
    assert message(talked.ask(again)) == f"{told}{NEEDS_BETA} {change}"
    assert message(talked.ask(again, **BETA)) == f"{told} {change}"
    counted = {key: value for key, value in again.items() if key != "max_tokens"}
    assert message(talked.ask(counted, path="/v1/messages/count_tokens", **BETA)) == f"{told} {change}"
    assert talked.ask(again | {"model": "claude-opus-5"}).status == 200


def test_what_is_missing_before_a_bound_block_is_named() -> None:
    talked = talk()
    first = said(talked.ask(body(user("Zero"), model("Yes."), HI, model=BOUND)))
    told = message(talked.ask(body(HI, first, MORE, model=BOUND), **BETA))
    assert told == ELSEWHERE.format("1.content.0") + (
        " Content that preceded this block when it was created is missing from this request, "
        "starting at `messages.0.content.0`."
    )


def test_moving_cache_marks_and_dropping_the_oldest_thinking_change_nothing() -> None:
    talked = talk()
    marked = user([t("Hi") | {"cache_control": {"type": "ephemeral"}}])
    first = said(talked.ask(body(marked, model=BOUND)))
    second = said(talked.ask(body(HI, first, MORE, model=BOUND)))
    assert talked.ask(body(HI, first, MORE, second, MORE, model=BOUND)).status == 200
    assert talked.ask(body(HI, turned(first, 1), MORE, second, MORE, model=BOUND)).status == 200


def test_dropping_thinking_from_the_middle_invalidates_what_follows() -> None:
    talked = talk()
    first = said(talked.ask(body(HI, model=BOUND)))
    second = said(talked.ask(body(HI, first, MORE, model=BOUND)))
    third = said(talked.ask(body(HI, first, MORE, second, MORE, model=BOUND)))
    gap = body(HI, first, MORE, turned(second, 1), MORE, third, MORE, model=BOUND)
    assert message(talked.ask(gap, **BETA)) == ELSEWHERE.format("5.content.0")


def test_invalid_blocks_are_dropped_and_told_where_that_was_asked_for() -> None:
    talked = talk()
    first = said(talked.ask(body(HI, model=BOUND)))
    asked = body(user("Other"), first, MORE, model=BOUND, thinking=DROP)
    dropped = {
        "type": "thinking_dropped",
        "path": "messages.1.content.0",
        "reason": "prefix_binding_mismatch",
    }
    answer = talked.ask(asked, **BETA)
    assert answer.body["input_transformations"] == [dropped]
    again = body(user("Other"), first, MORE, said(answer), MORE, model=BOUND, thinking=DROP)
    assert talked.ask(again, **BETA).body["input_transformations"] == [dropped]
    assert talked.ask(body(HI, first, MORE, model=BOUND), **BETA).body["input_transformations"] == []
    assert "input_transformations" not in talked.ask(body(HI, first, MORE, model=BOUND)).body


def test_a_thread_that_goes_on_is_one_conversation() -> None:
    talked = talk(think("Hm."), call())
    threads = {"anthropic-beta": "message-threads-2026-08-12"}
    answer = talked.ask(body(HI, model=BOUND, thread={"type": "create"}), **threads)
    for _ in range(5):
        answer.delivered()
        go_on = body(user([result(answer.body["content"][1]["id"])]), model=BOUND)
        go_on["thread"] = {"type": "continue", "previous_message_id": answer.body["id"]}
        answer = talked.ask({key: go_on[key] for key in go_on if key not in ("system", "tools")}, **threads)
        assert answer.status == 200, answer.body


def test_manual_thinking_wants_the_turn_to_begin_with_thinking_and_only_that() -> None:
    talked = talk(think("Hm."), call())
    manual = {"model": "claude-sonnet-4-5", "max_tokens": 2000}
    manual["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    first = said(talked.ask(body(HI, **manual)))
    results = user([result(first["content"][1]["id"])])
    second = model(use("toolu_2"))
    later = user([result("toolu_2")])
    assert talked.ask(body(HI, first, results, second, later, **manual)).status == 200
    assert talked.ask(body(HI, model("a"), MORE, **manual)).status == 200
    stripped = body(HI, turned(first, 1), results, **manual)
    assert message(talked.ask(stripped)).startswith(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When "
    )
    assert talked.ask(stripped | {"thinking": {"type": "disabled"}}).status == 200


def test_a_reply_that_came_without_thinking_goes_back_without() -> None:
    talked = talk(call())
    manual = {"model": "claude-sonnet-4-5", "max_tokens": 2000}
    manual["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    first = said(talked.ask(body(HI, **manual)))
    assert talked.ask(body(HI, first, user([result(first["content"][0]["id"])]), **manual)).status == 200


@pytest.mark.parametrize("name", [BOUND, FREE])
def test_what_was_thought_before_a_fallback_is_left_out(name: str) -> None:
    change = {"type": "fallback", "from": {"model": name}, "to": {"model": "claude-opus-4-8"}}
    talked = talk(think("A"), "Well,", change, think("B"), "yes.")
    first = said(talked.ask(body(HI, model=name)))
    betas = {"anthropic-beta": "server-side-fallback-2026-07-01"}
    kept = {"role": "assistant", "content": first["content"][1:]}
    assert talked.ask(body(HI, kept, MORE, model=name), **betas).status == 200
