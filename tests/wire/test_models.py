from __future__ import annotations

import pytest

from harness.wire.models import ALIASES, ANY, LISTED, canonical_name, is_known, traits


@pytest.mark.parametrize(
    ("model", "prefill"),
    [
        ("claude-3-5-sonnet-20241022", True),
        ("claude-3-opus-latest", True),
        ("claude-opus-4-20250514", True),
        ("claude-opus-4-1-20250805", True),
        ("claude-haiku-4-5", True),
        ("claude-sonnet-4-5-20250929", True),
        ("claude-opus-4-6", False),
        ("claude-mythos-preview", False),
        ("claude-sonnet-5", False),
        ("claude-fable-5-2", False),
    ],
)
def test_prefill_ended_with_4_6(model: str, prefill: bool) -> None:
    assert traits(model).prefill is prefill


def test_a_name_without_a_version_is_given_the_benefit_of_the_doubt() -> None:
    assert traits("claude-opus-next").prefill
    assert traits("claude-opus-next").system_messages


def test_the_system_role_came_after_4_6() -> None:
    assert not traits("claude-sonnet-4-6").system_messages
    assert traits("claude-opus-4-8").system_messages


def test_what_a_model_takes_is_known_by_its_name_without_the_date() -> None:
    assert traits("claude-opus-4-20250514").max_tokens == 32000
    assert traits("claude-opus-4-1-20250805") == traits("claude-opus-4-1")
    assert traits("claude-3-5-haiku-latest").max_tokens == 8192
    assert traits("claude-3-5-haiku-latest").efforts == ()


def test_every_listed_model_is_in_the_table_and_a_new_one_may_do_anything() -> None:
    assert all(traits(name).max_tokens < ANY and traits(name).window < ANY for name in LISTED)
    assert all(is_known(name) and traits(name).names for name in ALIASES)
    later = traits("claude-opus-7-1")
    assert later.max_tokens == later.window == ANY
    assert not later.prefill


def test_only_older_models_do_not_think() -> None:
    assert not traits("claude-3-5-sonnet-20241022").thinking
    assert all(traits(name).thinking for name in LISTED)


def test_families_are_known_and_misspelt_ones_are_not() -> None:
    assert all(is_known(name) for name in LISTED)
    assert is_known("claude-3-7-sonnet-latest")
    assert is_known("claude-opus-9-9")
    assert not is_known("claude-sonet-4-5")
    assert not is_known("gpt-4")
    assert not is_known("opus")


def test_aliases_are_resolved() -> None:
    assert canonical_name("claude-haiku-4-5") == "claude-haiku-4-5-20251001"
    assert canonical_name("claude-opus-4-6") == "claude-opus-4-6"
