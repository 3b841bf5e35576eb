"""A loop in this process finds the provider in the environment, and afterwards all is as it was."""

from __future__ import annotations

import os

import pytest

from harness.loops.borrowed import borrowed_environment, environment

NAMES = tuple(environment("http://127.0.0.1:1", "sk-ant-1"))


def found() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in NAMES}


@pytest.fixture(autouse=True)
def an_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "an owner's")
    monkeypatch.setenv("https_proxy", "http://proxy.example")


def test_what_was_there_is_put_back_and_what_was_not_is_gone() -> None:
    before = found()
    with borrowed_environment(environment("http://127.0.0.1:1", "sk-ant-1")):
        assert os.environ["ANTHROPIC_API_KEY"] == "sk-ant-1"
        assert "https_proxy" not in os.environ

    assert found() == before


def test_two_that_end_in_the_order_they_began_leave_nothing_behind() -> None:
    before = found()
    first = borrowed_environment(environment("http://127.0.0.1:1", "sk-ant-1"))
    second = borrowed_environment(environment("http://127.0.0.1:2", "sk-ant-2"))

    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert os.environ["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:2"
    second.__exit__(None, None, None)

    assert found() == before


def test_of_two_that_are_equal_each_is_given_back_once() -> None:
    before = found()
    with borrowed_environment({"ANTHROPIC_API_KEY": "same"}):
        with borrowed_environment({"ANTHROPIC_API_KEY": "same"}):
            pass
        assert os.environ["ANTHROPIC_API_KEY"] == "same"

    assert found() == before
