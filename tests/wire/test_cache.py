from __future__ import annotations

from typing import Any

from harness.wire.cache import Counts, PromptCache

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def text(words: int, mark: Any = None) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": "word " * words}
    return block | ({"cache_control": mark} if mark else {})


def prompt(*blocks: dict[str, Any], system: Any = None) -> dict[str, Any]:
    return {"system": system, "messages": [{"role": "user", "content": list(blocks)}]}


def test_nothing_is_cached_that_was_not_marked() -> None:
    cache = PromptCache()
    first = cache.look(prompt(text(100)))
    assert first == cache.look(prompt(text(100))) == Counts(fresh=first.fresh)


def test_a_prefix_is_created_once_and_read_afterwards() -> None:
    cache = PromptCache()
    asked = prompt(text(1), system=[text(500, MARK)])
    created, read = cache.look(asked), cache.look(asked)
    assert created.short > 500
    assert (created.read, created.long) == (0, 0)
    assert (read.read, read.created) == (created.short, 0)
    assert created.fresh == read.fresh > 0


def test_a_mark_that_moves_on_reads_what_was_there_and_creates_the_rest() -> None:
    cache = PromptCache()
    first = cache.look(prompt(text(500, MARK)))
    second = cache.look(prompt(text(500), text(200, MARK)))
    assert second.read == first.short
    assert 200 < second.short < 300
    assert second.fresh == 0


def test_what_changed_is_created_anew() -> None:
    cache = PromptCache()
    cache.look(prompt(text(500), text(10, MARK)))
    assert cache.look(prompt(text(501), text(10, MARK))).read == 0


def test_an_hour_is_told_from_five_minutes() -> None:
    counts = PromptCache().look(prompt(text(300, MARK), system=[text(600, HOUR)]))
    assert 600 < counts.long < 800
    assert 300 < counts.short < 400


def test_a_mark_on_the_whole_request_stands_for_its_last_block() -> None:
    cache = PromptCache()
    first = cache.look(prompt(text(100)), MARK)
    assert first == cache.look(prompt(text(100)))._replace(fresh=0, short=first.short)
    assert cache.look(prompt(text(100), text(1)), MARK).read == first.short


def test_tools_come_before_the_system_prompt() -> None:
    cache = PromptCache()
    tools = [{"name": "a", "input_schema": {"type": "object"}, "cache_control": MARK}]
    created = cache.look(prompt(text(1), system="one") | {"tools": tools}).short
    assert cache.look(prompt(text(1), system="another") | {"tools": tools}).read == created > 0
