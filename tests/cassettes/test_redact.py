"""Redaction: no secret stays, and nothing else changes."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.cassettes.canary import Canary, LeakError
from harness.cassettes.model import Headers, Interaction, Piece, Request, Response
from harness.cassettes.redact import Redactor
from harness.cassettes.search import Rule
from tests.recordings.cassettes import Exchange, conversations, each_of

JSON = [("content-type", "application/json")]
SSE = [("Content-Type", "text/event-stream; charset=utf-8")]
KEY = "sk-ant-api03-" + "aB3_" * 20


def redactor(*rules: Rule, secrets: tuple[str, ...] = ()) -> Redactor:
    return Redactor(rules, secrets, known={})


def body_of(value: Any, *rules: Rule, secrets: tuple[str, ...] = ()) -> Any:
    return json.loads(redactor(*rules, secrets=secrets).body(json.dumps(value).encode(), JSON))


def request(uri: str = "https://x.test/v1/messages", headers: Headers = JSON, body: bytes = b"{}") -> Request:
    return Request(method="POST", uri=uri, headers=headers, body=body)


def stream(*deltas: dict[str, Any], end: str = "\n\n") -> bytes:
    events = [
        "event: content_block_delta\ndata: "
        + json.dumps({"type": "content_block_delta", "index": 0, "delta": delta}, separators=(",", ":"))
        for delta in deltas
    ]
    return ("\n\n".join(events) + end).encode()


def texts(body: bytes, field: str) -> list[str]:
    lines = [line[6:] for line in body.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line)["delta"][field] for line in lines]


@pytest.mark.parametrize(
    "name",
    [
        "x-api-key",
        "authorization",
        "Cookie",
        "Set-Cookie",
        "anthropic-organization-id",
        "anthropic-workspace-id",
        "x-goog-api-key",
        "Proxy-Authorization",
        "x-amz-security-token",
        "X-Auth-Token",
        "openai-organization",
    ],
)
def test_a_header_that_holds_a_secret_keeps_its_name_alone(name: str) -> None:
    assert redactor().request(request(headers=[(name, "whatever")])).headers == [(name, "REDACTED")]


@pytest.mark.parametrize(
    "name",
    ["anthropic-ratelimit-input-tokens-limit", "request-id", "anthropic-version", "x-stainless-lang", "date"],
)
def test_other_headers_stay(name: str) -> None:
    assert redactor().request(request(headers=[(name, "whatever 4")])).headers == [(name, "whatever 4")]


def test_the_address_loses_what_its_parameters_and_its_user_tell() -> None:
    uri = f"https://me:pw@x.test:8/v1/messages?beta=true&key=abc&x=%20{KEY}&api-key=d&after_id=m%2Fsg"

    assert redactor().uri(uri) == (
        "https://REDACTED@x.test:8/v1/messages?beta=true&key=REDACTED&x=%20REDACTED&api-key=REDACTED&after_id=m%2Fsg"
    )


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "sk-ant-oat01-abcdefgh12345678",
        "sk-proj-abcdefghij1234567890",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "github_pat_11ABCDEFG0123456789_abcdef",
        "glpat-abcdefghij1234567890",
        "xoxb-123456789012-abcdefghijkl",
        "AIza" + "Sy4" * 11 + "ab",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "wrkspc_01AbCdEfGhIjKlMn",
        "sk_live_abcdefghij123456",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_the_shapes_of_secrets_are_known(secret: str) -> None:
    assert body_of({"a": [f"see {secret} there", "and nothing else"]}) == {
        "a": ["see REDACTED there", "and nothing else"]
    }


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Authorization: Bearer abcdefghij0123456789", "Authorization: Bearer REDACTED"),
        ("psql postgres://me:hunter2hunter2@db/x", "psql postgres://me:REDACTED@db/x"),
        ("API_KEY=abcdef123456 HOME=/root", "API_KEY=REDACTED HOME=/root"),
        ('{"password": "hunter2hunter2", "n": 1}', '{"password": "REDACTED", "n": 1}'),
        (
            "see https://x.test/a?page=12345678&sig=abcd1234%3D#b",
            "see https://x.test/a?page=12345678&sig=REDACTED#b",
        ),
        ("<a href='/f?X-Amz-Signature=0a1b2c3d4e'>", "<a href='/f?X-Amz-Signature=REDACTED'>"),
        (
            "is it a?token=understanding&amp;key=section-12345",
            "is it a?token=understanding&amp;key=section-12345",
        ),
        ("the password: understanding is the word", "the password: understanding is the word"),
        (
            "max_tokens: 4096, sk-learn, risk-averse, eyJust",
            "max_tokens: 4096, sk-learn, risk-averse, eyJust",
        ),
    ],
)
def test_what_stands_beside_a_secret_stays(text: str, kept: str) -> None:
    assert body_of({"content": text}) == {"content": kept}


def test_fields_of_json_that_hold_secrets_keep_their_names() -> None:
    uuid = "b320df16-c763-4455-b901-3f7d54e9a012"
    value = {
        "mcp_servers": [{"name": "a", "url": "https://x.test", "authorization_token": "short"}],
        "metadata": {"user_id": "user_1_account_2"},
        "input": {"user_id": "7", "account_id": "12", "organization_id": uuid, "max_tokens": 5},
        "tools": [{"input_schema": {"properties": {"password": {"type": "string"}}}}],
    }

    assert body_of(value) == {
        "mcp_servers": [{"name": "a", "url": "https://x.test", "authorization_token": "REDACTED"}],
        "metadata": {"user_id": "REDACTED"},
        "input": {"user_id": "7", "account_id": "12", "organization_id": "REDACTED", "max_tokens": 5},
        "tools": [{"input_schema": {"properties": {"password": {"type": "string"}}}}],
    }


def test_a_body_is_not_spelled_anew() -> None:
    body = b'{ "a" : "\\u00e9\\/ \\ud83d\\ude00 ' + KEY.encode() + b' \\n",  "b":1.0 , "c":"\xc3\xa9"}'

    assert redactor().body(body, JSON) == body.replace(KEY.encode(), b"REDACTED")


def test_a_secret_is_found_however_it_is_spelled() -> None:
    secret = 'pä"ss/wo+rd? 17'
    odd = "".join(f"\\u{ord(character):04x}" for character in secret)
    body = f'{{"a": "<{odd}>", "b": {json.dumps(json.dumps([secret]))}}}'.encode()

    assert json.loads(redactor(secrets=(secret,)).body(body, JSON)) == {
        "a": "<REDACTED>",
        "b": '["REDACTED"]',
    }


def test_text_of_nothing_but_quotes_is_no_trouble() -> None:
    body = ('{"a": "' + '\\\\\\"' * 20_000).encode()

    assert redactor(secrets=("correct horse battery",)).body(body, JSON) == body


@pytest.mark.parametrize("before", range(4))
def test_a_secret_is_found_in_base64_wherever_it_stands(before: int) -> None:
    import base64

    encoded = base64.b64encode(b"x" * before + b"correct horse battery" + b"y" * 5).decode()

    assert body_of({"a": f"<{encoded}> b"}, secrets=("correct horse battery",)) == {"a": "<REDACTED> b"}


def test_what_was_met_in_a_header_is_looked_for_everywhere() -> None:
    mine = redactor()
    headers = [("Authorization", "Bearer not-a-known-shape"), ("cookie", "a=b; session=0123456789abcdef")]

    assert mine.learn_from(headers)
    assert not mine.learn_from(headers)
    assert mine.text("not-a-known-shape, 0123456789abcdef, a=b") == "REDACTED, REDACTED, a=b"


def test_what_was_met_in_an_address_is_looked_for_everywhere() -> None:
    mine = redactor()
    uri = "https://me:hunter2-hunter2@x.test/v1/messages?api_key=not-a%2Fshape-77&beta=true&key=short"

    assert mine.learn_from([], uri)
    assert not mine.learn_from([], uri)
    assert mine.text("not-a/shape-77, hunter2-hunter2, true, short") == "REDACTED, REDACTED, true, short"


def test_words_in_a_header_are_not_looked_for_elsewhere() -> None:
    mine = redactor()

    assert not mine.learn_from([("x-account-type", "professional"), ("x-token-note", "a note with 12 words")])
    assert mine.text("professional, a note with 12 words") == "professional, a note with 12 words"


def test_environment_variables_that_look_like_keys_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "zz99-zz99-zz99-zz99")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/ssh-1234567890/agent")
    monkeypatch.setenv("AUTH_MODE", "interactive")

    assert Redactor().text("zz99-zz99-zz99-zz99 interactive /tmp/ssh-1234567890/agent") == (
        "REDACTED interactive /tmp/ssh-1234567890/agent"
    )


def split(text: str, *places: int) -> list[str]:
    bounds = [0, *places, len(text)]
    return [text[start:end] for start, end in itertools.pairwise(bounds)]


def test_a_secret_in_several_deltas_is_found() -> None:
    parts = split(f"It is {KEY}, keep it.", 8, 9, 20, 50)
    body = stream(*({"type": "text_delta", "text": part} for part in parts))

    assert texts(redactor().body(body, SSE), "text") == ["It is REDACTED", "", "", "", ", keep it."]


def test_a_secret_in_the_arguments_of_a_call_is_found_in_several_deltas() -> None:
    call = json.dumps({"path": "é", "password": 'se"cret', "note": f"{KEY}\n"})
    parts = split(call, *range(1, len(call)))
    body = stream(*({"type": "input_json_delta", "partial_json": part} for part in parts))

    kept = "".join(texts(redactor().body(body, SSE), "partial_json"))

    assert json.loads(kept) == {"path": "é", "password": "REDACTED", "note": "REDACTED\n"}


def test_the_beginning_of_a_known_secret_at_the_end_of_a_broken_stream_is_found() -> None:
    body = stream({"type": "text_delta", "text": "word: correct "}, {"type": "text_delta", "text": "hor"})

    kept = redactor(secrets=("correct horse battery",)).body(body[:-4], SSE)

    assert b"correct" not in kept
    assert b"hor" not in kept


@settings(deadline=None)
@given(st.data())
def test_pieces_add_up_and_tell_the_same_boundaries(data: st.DataObject) -> None:
    text = data.draw(st.text(alphabet="é😀\n", max_size=30))
    place = data.draw(st.integers(0, len(text)))
    body = (text[:place] + KEY + text[place:]).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=5)))
    bounds = [0, *cuts, len(body)]
    pieces = [Piece(float(n), end - start) for n, (start, end) in enumerate(itertools.pairwise(bounds))]
    response = Response(status=200, headers=[("content-type", "text/plain")], body=body, pieces=pieces)

    kept = redactor().response(response)

    assert kept.body == body.replace(KEY.encode(), b"REDACTED")
    assert [piece.at for piece in kept.pieces] == [piece.at for piece in pieces]
    assert all(piece.size >= 0 for piece in kept.pieces)
    start, end = len(text[:place].encode()), len(text[:place].encode()) + len(KEY)
    told, size = [], 0
    for piece in kept.pieces:
        size += piece.size
        told.append(size)
    wanted = [
        min(b, start + 8) if b <= start else start + 8 if b < end else b - len(KEY) + 8 for b in bounds[1:]
    ]
    assert told == wanted


def test_patterns_and_functions_of_the_user_see_whole_texts() -> None:
    parts = split("Call Ada Lovelace at 555-0199 today.", 10, 24)
    body = stream(*({"type": "text_delta", "text": part} for part in parts))
    rules: tuple[Rule, ...] = (r"\b555-\d{4}\b", r"Ada (\w+)", lambda text: text.replace("today", "one day"))

    assert (
        "".join(texts(redactor(*rules).body(body, SSE), "text")) == "Call Ada REDACTED at REDACTED one day."
    )
    assert body_of({"a": "555-0100 today"}, *rules) == {"a": "REDACTED one day"}


def test_the_length_that_a_header_tells_is_the_new_one() -> None:
    body = json.dumps({"a": KEY}).encode()
    kept = redactor().request(request(headers=[*JSON, ("Content-Length", str(len(body)))], body=body))

    assert kept.headers[1] == ("Content-Length", str(len(kept.body)))
    assert len(kept.body) < len(body)


@each_of(conversations())
def test_a_recording_of_the_api_stays_as_it_is(recorded: Exchange) -> None:
    mine = redactor()

    assert mine.body(recorded.request, list(recorded.request_headers.items())) == recorded.request
    assert mine.body(recorded.body, list(recorded.headers.items())) == recorded.body


# --- the canary -------------------------------------------------------------------------------------

SECRET = "correct horse battery"


def encoded(secret: str) -> dict[str, Callable[[], Interaction]]:
    import base64
    from urllib.parse import quote

    def of(body: bytes, headers: Headers = JSON, uri: str = "https://x.test/v1/messages") -> Interaction:
        return Interaction(
            request=request(uri=uri), response=Response(status=200, headers=headers, body=body)
        )

    escaped = "".join(f"\\u{ord(character):04x}" for character in secret)
    return {
        "plain": lambda: of(secret.encode()),
        "a header": lambda: of(b"", [("x", secret)]),
        "the address": lambda: of(b"", uri=f"https://x.test/?a={quote(secret)}"),
        "escaped": lambda: of(f'{{"a": "{escaped}"}}'.encode()),
        "json in json": lambda: of(json.dumps({"a": f'{{"b": "{escaped}"}}'}).encode()),
        "base64": lambda: of(base64.b64encode(b"??" + secret.encode() + b"!")),
        "percent": lambda: of(b"a=" + quote(secret).encode()),
        "deltas": lambda: of(
            stream(*({"type": "text_delta", "text": part} for part in split(secret, 3, 9))), SSE
        ),
    }


@pytest.mark.parametrize("form", encoded(SECRET))
def test_a_secret_that_survived_is_seen_in_every_form(form: str) -> None:
    canary = Canary({SECRET: "the value of $THE_KEY"})

    with pytest.raises(
        LeakError, match=r"the value of \$THE_KEY is in the .* of POST https://x.test/"
    ) as caught:
        canary.check(encoded(SECRET)[form]())

    assert SECRET not in str(caught.value)
    canary.check(encoded("another one altogether")[form]())


@pytest.mark.parametrize("form", encoded(SECRET))
def test_what_was_redacted_passes(form: str) -> None:
    mine = redactor(secrets=(SECRET,))
    found = encoded(SECRET)[form]()

    Canary(mine.known).check(
        Interaction(request=mine.request(found.request), response=mine.response(found.response))
    )


def test_redacting_twice_changes_nothing_more() -> None:
    mine = redactor(secrets=(SECRET,))
    shuffled = random.Random(1)
    words = [
        KEY,
        SECRET,
        "password=hunter22",
        "Bearer abcdefghij0123456789",
        "https://a:bcdefghij@x.test",
        "word",
    ]
    for _ in range(50):
        text = " ".join(shuffled.choices(words, k=5))
        once = mine.text(text)
        assert mine.text(once) == once
