"""What is lent to a loop, and whether it comes back as it was."""

from __future__ import annotations

from typing import Any

from harness.lent import Lent


def lent() -> tuple[Lent, list[dict[str, Any]]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    return Lent(messages), messages


def test_what_was_only_read_is_the_same() -> None:
    known, messages = lent()
    known.remember("a schema", {"type": "object"})
    list(messages)

    assert known.changes() == ([], 0)


def test_appending_is_told_apart_from_changing() -> None:
    known, messages = lent()
    messages.append({"role": "assistant", "content": "Hello."})
    assert known.changes() == ([], 1)

    messages[0]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert known.changes() == (["messages[0]"], 1)


def test_messages_that_are_gone_were_changed() -> None:
    known, messages = lent()
    messages.clear()

    assert known.changes() == (["messages, 1 of which are gone"], 0)


def test_what_was_remembered_is_named_where_it_changed() -> None:
    known, _ = lent()
    schema: dict[str, Any] = {"type": "object"}
    known.remember("a schema", schema)
    known.remember("a text", "cannot be changed")
    schema["additionalProperties"] = False

    assert known.changes() == (["a schema"], 0)


def test_what_can_no_longer_be_written_down_was_changed() -> None:
    known, messages = lent()
    messages[0]["content"] = messages

    assert known.changes()[0] == ["messages[0]"]
