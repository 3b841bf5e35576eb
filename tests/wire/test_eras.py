from __future__ import annotations

from typing import Any, get_args

import pytest

from harness.wire.eras import CURRENT, ERAS, EraName, arranged, era, era_of, era_on
from harness.wire.message import message
from harness.wire.usage import usage_of

SEEN = {"messages": [{"role": "user", "content": "Hi"}]}
OLD = ["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"]
NEW = ["model", "id", "type", "role", "content", "stop_reason", "stop_sequence", "usage"]
DETAILS = [*NEW[:-1], "stop_details", "usage"]
CONTAINER = [*NEW[:5], "container", *DETAILS[5:]]
COUNTS = ["input_tokens", "output_tokens"]
CACHED = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"]
BY_AGE = [*CACHED[:3], "cache_creation", "output_tokens", "service_tier"]

KEYS: dict[EraName, tuple[list[str], list[str]]] = {
    "2024": (["id", "type", "role", "content", "model", *OLD[5:]], COUNTS),
    "2024-09": (OLD, COUNTS),
    "2025-03": (OLD, CACHED),
    "2025-05": (OLD, [*CACHED, "service_tier"]),
    "2025-08": (OLD, BY_AGE),
    "2025-11": (NEW, BY_AGE),
    "2026-02": (NEW, [*BY_AGE, "inference_geo"]),
    "2026-02-18": (NEW, [*BY_AGE, "inference_geo"]),
    "2026-03": (DETAILS, [*BY_AGE, "inference_geo"]),
    "2026-07": (DETAILS, [*BY_AGE, "inference_geo"]),
    "2026-09-14": (CONTAINER, [*BY_AGE, "inference_geo"]),
    "2026-09": ([*CONTAINER, "diagnostics"], [*BY_AGE, "inference_geo"]),
}


def said(name: EraName, **fields: Any) -> dict[str, Any]:
    of = era(name)
    usage = usage_of(SEEN, [], of=of).total
    return message(id="msg_01", model="m", content=[], stop_reason="end_turn", usage=usage, of=of, **fields)


@pytest.mark.parametrize("name", get_args(EraName))
def test_a_message_has_the_keys_of_its_era_in_their_order(name: EraName) -> None:
    fields, counts = KEYS[name]
    assert list(said(name)) == fields
    assert list(said(name)["usage"]) == counts


@pytest.mark.parametrize("name", get_args(EraName))
def test_an_era_is_known_by_its_message(name: EraName) -> None:
    # Those that differ in blocks alone are one to a message without them.
    alike = {"2026-02-18": "2026-02", "2026-07": "2026-03"}
    assert era_of(said(name)).name == alike.get(name, name)


def test_eras_follow_each_other_and_the_last_is_todays() -> None:
    days = [each.since for each in ERAS]
    assert days == sorted(set(days))
    assert ERAS[-1].name == CURRENT == era().name
    assert [era_on(each.since) for each in ERAS] == list(ERAS)
    assert era_on("2023-01-01") is ERAS[0]


def test_what_there_is_to_say_is_said_in_any_era() -> None:
    container = {"id": "container_01", "expires_at": "2026-12-01T00:00:00Z"}
    before = said("2025-11", container=container)
    assert list(before)[4:7] == ["content", "container", "stop_reason"]
    assert said("2025-11", fields={"novel": None})["novel"] is None


def test_edits_and_transformations_come_last() -> None:
    fields = {"input_transformations": [], "context_management": {"applied_edits": []}, "novel": 1}
    assert list(said("2026-09", fields=fields))[-4:] == [
        "diagnostics", "context_management", "input_transformations", "novel",
    ]  # fmt: skip


def test_arranging_twice_changes_nothing() -> None:
    once = arranged(dict(sorted(said("2026-09").items())), era())
    assert list(arranged(once, era())) == list(once) == KEYS["2026-09"][0]
