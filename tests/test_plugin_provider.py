"""`harness_provider`: a scripted Messages API in ordinary tests of any repository."""

from __future__ import annotations

from typing import Any

import pytest

from harness.fake import FakeProvider

CLIENT = """
import json, os, urllib.error, urllib.request

def ask(text="Hi", **body):
    messages = [{"role": "user", "content": text}]
    body = {"model": "claude-opus-4-6", "max_tokens": 64, "messages": messages, **body}
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
    headers["content-type"] = "application/json"
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
"""


def test_replies_and_faults_are_given_in_order_and_requests_kept(adopter: Any) -> None:
    adopter.write(
        {
            "client.py": CLIENT,
            "test_it.py": """
from client import ask

def test_order(harness_provider):
    harness_provider.reply("Hello").fault(529).reply("Hello again")
    assert ask("one")[1]["content"] == [{"type": "text", "text": "Hello"}]
    status, body = ask("two")
    assert (status, body["error"]["type"]) == (529, "overloaded_error")
    assert ask("three")[1]["content"][0]["text"] == "Hello again"
    assert [seen.messages[0]["content"] for seen in harness_provider.requests] == ["one", "two", "three"]
    assert harness_provider.requests[0].headers["anthropic-version"] == "2023-06-01"

def test_each_test_starts_anew(harness_provider):
    assert harness_provider.requests == []
    status, body = ask()
    assert status == 400
    assert "script" in body["error"]["message"]
""",
        }
    )

    adopter.pytest(as_module=True).assert_outcomes(passed=2)


def test_the_sdk_finds_it_by_the_environment(adopter: Any) -> None:
    adopter.write(
        {
            "test_it.py": """
import anthropic

TOOL = {"name": "look_up", "description": "d", "input_schema": {"type": "object"}}

def test_sdk(harness_provider):
    harness_provider.reply("Let me see.", {"tool_use": {"name": "look_up", "input": {"key": "a"}}})
    harness_provider.reply("Found.")
    client = anthropic.Anthropic()
    messages = [{"role": "user", "content": "Look."}]
    def ask():
        return client.messages.create(model="claude-opus-4-6", max_tokens=64, messages=messages, tools=[TOOL])
    reply = ask()
    assert reply.stop_reason == "tool_use"
    assert reply.content[1].input == {"key": "a"}
    messages += [
        {"role": "assistant", "content": reply.content},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": reply.content[1].id, "content": "a thing"}]},
    ]
    assert ask().content[0].text == "Found."
    assert len(harness_provider.requests) == 2
    client.close()

def test_stream(harness_provider):
    harness_provider.reply("Hello there")
    with anthropic.Anthropic() as client:
        with client.messages.stream(
            model="claude-opus-4-6", max_tokens=64, messages=[{"role": "user", "content": "Hi"}]
        ) as stream:
            assert stream.get_final_text() == "Hello there"
""",
        }
    )

    adopter.pytest().assert_outcomes(passed=2)


def test_independent_conversations_are_all_answered_from_the_script(adopter: Any) -> None:
    adopter.write(
        {
            "client.py": CLIENT,
            "test_it.py": """
from client import ask

def test_two(harness_provider):
    harness_provider.reply("one").reply("two").reply("three")
    first = ask("Hi")[1]
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": first["content"]}]
    ask(messages=[*history, {"role": "user", "content": "And?"}])
    assert ask("Something else altogether")[1]["content"][0]["text"] == "three"
    assert ask("Hi", system="You are somebody.")[0] == 400
""",
        }
    )

    adopter.pytest(as_module=True).assert_outcomes(passed=1)


def test_a_request_the_api_would_reject_is_rejected(adopter: Any) -> None:
    adopter.write(
        {
            "client.py": CLIENT,
            "test_it.py": "from client import ask\n"
            "def test_blank(harness_provider):\n"
            "    harness_provider.reply('Hello')\n"
            "    assert ask(messages=[{'role': 'user', 'content': ''}])[0] == 400\n"
            "    assert ask()[0] == 200\n",
        }
    )

    adopter.pytest(as_module=True).assert_outcomes(passed=1)


def test_a_block_that_is_none_is_refused_where_it_is_written() -> None:
    fake = FakeProvider.start()
    try:
        with pytest.raises(ValueError, match="did you mean `tool_use`"):
            fake.reply({"tool_us": {"name": "a"}})
        with pytest.raises(ValueError, match="dealy"):
            fake.reply("Hello", dealy=1.0)
    finally:
        fake.close()


USES = "def test_it(harness_provider):\n    assert harness_provider.url\n"


@pytest.mark.parametrize(
    ("option", "lets_through"),
    [("--disable-socket", "--allow-hosts=127.0.0.1"), ("--allow-hosts=10.1.2.3", "--allow-hosts=127.0.0.1")],
)
def test_pytest_socket_in_the_way_is_named_with_what_lets_the_loopback_through(
    adopter: Any, option: str, lets_through: str
) -> None:
    adopter.write({"test_it.py": USES})

    result = adopter.pytest(option, beside=("socket",))

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*pytest-socket blocks it.*{lets_through}*"])
    adopter.pytest(lets_through, beside=("socket",)).assert_outcomes(passed=1)


def test_pytest_recording_in_the_way_is_named_with_what_lets_the_loopback_through(adopter: Any) -> None:
    adopter.write({"test_it.py": USES})

    result = adopter.pytest("--block-network", beside=("recording",))

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*pytest-recording blocks it.*--allowed-hosts=127.0.0.1*"])
    let = adopter.pytest("--block-network", "--allowed-hosts=127.0.0.1", beside=("recording",))
    let.assert_outcomes(passed=1)


SUITE = """
from harness import conformance

def loop(turn):
    raise AssertionError("nobody gets here")

test_here = conformance(loop, select="text")
"""


@pytest.mark.parametrize(
    ("plugin", "option", "told"),
    [
        ("socket", "--disable-socket", "*pytest-socket blocks it.*--allow-hosts=127.0.0.1*"),
        ("recording", "--block-network", "*pytest-recording blocks it.*--allowed-hosts=127.0.0.1*"),
    ],
)
def test_what_blocks_the_loopback_is_one_failure_of_a_whole_suite(
    adopter: Any, plugin: str, option: str, told: str
) -> None:
    adopter.write({"test_it.py": SUITE})

    result = adopter.pytest(option, beside=(plugin,))

    outcomes = result.parseoutcomes()
    assert outcomes.pop("skipped") > 5
    assert outcomes == {"failed": 1}
    result.stdout.fnmatch_lines([told])
    assert "nobody gets here" not in result.stdout.str() + result.stderr.str()


def test_what_is_no_block_is_shown_in_the_test_and_not_in_ours(adopter: Any) -> None:
    adopter.write(
        {"test_it.py": "def test_it(harness_provider):\n    harness_provider.reply({'tool_us': {}})\n"}
    )

    result = adopter.pytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["test_it.py:2: ValueError"])
    assert "fake.py" not in result.stdout.str()


@pytest.mark.parametrize("mode", ["none", "once", "all"])
def test_a_cassette_in_the_way_is_named_and_stays_as_it_was(adopter: Any, mode: str) -> None:
    adopter.write({"test_it.py": f"import pytest\n\n@pytest.mark.vcr\n{USES}"})

    result = adopter.pytest(f"--record-mode={mode}", beside=("recording",))

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*a cassette is in the way.*ignore_localhost*"])
    assert not list(adopter.path.rglob("*.yaml"))


def test_a_cassette_that_ignores_the_loopback_is_not_in_the_way(adopter: Any) -> None:
    adopter.write(
        {
            "client.py": CLIENT,
            "test_it.py": """
import pytest
from client import ask

@pytest.fixture
def vcr_config():
    return {"ignore_localhost": True}

@pytest.mark.vcr
def test_it(harness_provider):
    harness_provider.reply("Hello")
    assert ask()[0] == 200
""",
        }
    )

    adopter.pytest("--record-mode=none", as_module=True, beside=("recording",)).assert_outcomes(passed=1)
