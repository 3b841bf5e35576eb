"""What a service is sent: prompts arrive as they are, whatever they hold."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from harness.loops.driver import DriverError
from harness.loops.template import parse_template

WHERE = "POST http://127.0.0.1:3000/api/chat"
NASTY = 'A "quote", a \\ and a\nline & {conversation} = 100% of é\U0001f642 </script>'
VALUES = {"prompt": NASTY, "conversation": "c-1", "stream": "true"}


def test_a_prompt_in_json_arrives_as_it_is() -> None:
    sent = parse_template(
        WHERE, '{"messages": [{"text": "{prompt}"}], "id": "{conversation}", "stream": "{stream}", "n": 1}'
    ).fill(VALUES)

    assert json.loads(sent.content or b"") == {
        "messages": [{"text": NASTY}], "id": "c-1", "stream": True, "n": 1,
    }  # fmt: skip
    assert sent.headers == {"content-type": "application/json"}


def test_a_prompt_in_a_form_arrives_as_it_is() -> None:
    sent = parse_template(WHERE, "id={conversation}&q={prompt}").fill(VALUES)

    assert parse_qs((sent.content or b"").decode()) == {"id": ["c-1"], "q": [NASTY]}
    assert sent.headers == {"content-type": "application/x-www-form-urlencoded"}


def test_a_prompt_in_an_address_arrives_as_it_is() -> None:
    sent = parse_template("GET http://127.0.0.1:3000/chat/{conversation}?q={prompt}", None).fill(VALUES)

    parts = urlsplit(sent.url)
    assert (sent.method, parts.path, parse_qs(parts.query)) == ("GET", "/chat/c-1", {"q": [NASTY]})
    assert (sent.content, sent.headers) == (None, {})


def test_a_prompt_alone_arrives_as_it_is() -> None:
    sent = parse_template("http://127.0.0.1:3000", "{prompt}", ["X-User: me", "Content-Type: text/x"]).fill(
        VALUES
    )

    assert ((sent.content or b"").decode(), sent.method) == (NASTY, "POST")
    assert sent.headers == {"X-User": "me", "Content-Type": "text/x"}


@pytest.mark.parametrize(
    ("where", "body", "headers", "said"),
    [
        (WHERE, None, [], "write {prompt} in --body"),
        (WHERE, '{"message": "{promt}"}', [], "there is no {promt}; did you mean 'prompt'"),
        (WHERE, '{"message": {prompt}}', [], "begins like JSON and is none"),
        ("PSOT http://127.0.0.1:3000/", "{prompt}", [], "did you mean 'POST'"),
        ("POST 127.0.0.1:3000/", "{prompt}", [], "is no address"),
        ("POST http://127.0.0.1:300000/", "{prompt}", [], "a port that cannot be"),
        (WHERE, "{prompt}", ["no colon"], "write 'NAME: VALUE'"),
    ],
)
def test_what_cannot_be_meant_is_told(where: str, body: str | None, headers: list[str], said: str) -> None:
    with pytest.raises(DriverError) as told:
        parse_template(where, body, headers)

    assert said in str(told.value)
