"""`serve`: a scripted Messages API for any client, until it is interrupted."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.commanding import ask, serving, start


def test_serve_prints_where_and_answers_anybody() -> None:
    process = start("serve")
    try:
        url, key = serving(process)
        assert key.startswith("sk-ant-")
        for _ in range(2):
            assert "loop-harness" in ask(url, key, "Hello?")["content"][0]["text"]
        assert ask(url, "another key", "Hello?")["stop_reason"] == "end_turn"
        assert ask(url.removesuffix("/w0"), "another key", "Hello?")["stop_reason"] == "end_turn"
    finally:
        process.terminate()
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert err == ""


def test_serve_plays_a_scenario_again_and_again() -> None:
    process = start("serve", "--script", "scenarios/pause/no-tools.yaml")
    try:
        url, key = serving(process)
        for _ in range(2):
            first = ask(url, key, "What is new?")
            assert first["stop_reason"] == "pause_turn"
            second = ask(url, key, "What is new?", first["content"])
            assert second["stop_reason"] == "end_turn"
            assert second["content"][-1]["text"] == "Two modules were removed."
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_serve_goes_on_with_the_next_turn_when_the_user_says_more(here: Path) -> None:
    (here / "two.yaml").write_text(
        "title: Two turns\nclauses: [END-1]\nwhy: a second turn\nturns:\n"
        "  - {prompt: One?, script: [{reply: {content: [{text: First.}]}}]}\n"
        "  - {prompt: Two?, script: [{reply: {content: [{text: Second.}]}}]}\n"
    )
    process = start("serve", "--script", "two.yaml", cwd=here)
    try:
        url, key = serving(process)
        for _ in range(2):
            first = ask(url, key, "Whatever.")["content"]
            assert first[0]["text"] == "First."
            assert ask(url, key, "Whatever.", first, "More.")["content"][0]["text"] == "Second."
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_serve_gives_a_retry_the_next_step_and_not_the_first_again(here: Path) -> None:
    (here / "busy.yaml").write_text(
        "title: Busy, then not\nclauses: [END-1]\nwhy: a retry\n"
        "script: [{fault: {status: 529}}, {reply: {content: [{text: Here.}]}}]\n"
    )
    process = start("serve", "--script", "busy.yaml", cwd=here)
    try:
        url, key = serving(process)
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError, match="529") as caught:
                ask(url, key, "Hello?")
            caught.value.close()
            assert ask(url, key, "Hello?")["content"][0]["text"] == "Here."
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_serve_says_that_a_port_is_taken() -> None:
    first = start("serve")
    try:
        url, _ = serving(first)
        port = url.split(":")[2].partition("/")[0]
        second = start("serve", "--port", port)
        out, err = second.communicate(timeout=30)
    finally:
        first.terminate()
        first.communicate(timeout=30)

    assert (second.returncode, out) == (2, "")
    assert f"port {port} cannot be opened" in err
