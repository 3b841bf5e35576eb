"""Fifty secrets of ten kinds, in every place one can be, and none in anything that is written or said."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import random
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import harness
from harness.cassettes.read import read
from harness.cassettes.redact import Redactor
from harness.cassettes.secrets import forms
from harness.provider.connection import Response as Channel
from harness.provider.request import Request as Asked
from tests.cassettes.serving import post, recording, replaying, serving

LETTERS = string.ascii_letters + string.digits


def drawn(chance: random.Random, count: int, letters: str = LETTERS) -> str:
    return "".join(chance.choices(letters, k=count)) + "7"


KINDS: dict[str, Callable[[random.Random], str]] = {
    "key of the API": lambda chance: f"sk-ant-api03-{drawn(chance, 80)}",
    "token of an account": lambda chance: f"sk-ant-oat01-{drawn(chance, 40)}",
    "key of another API": lambda chance: f"sk-proj-{drawn(chance, 40)}",
    "key of a cloud": lambda chance: f"AKIA{drawn(chance, 15, string.ascii_uppercase)}",
    "token of a forge": lambda chance: f"ghp_{drawn(chance, 35)}",
    "token of a chat": lambda chance: f"xoxb-{drawn(chance, 11, string.digits)}-{drawn(chance, 20)}",
    "signed token": lambda chance: f"eyJ{drawn(chance, 20)}.eyJ{drawn(chance, 30)}.{drawn(chance, 20)}",
    "private key": lambda chance: (
        f"-----BEGIN PRIVATE KEY-----\n{drawn(chance, 60)}\n-----END PRIVATE KEY-----"
    ),
    "workspace": lambda chance: f"wrkspc_01{drawn(chance, 20)}",
    "word only its owner knows": lambda chance: (
        f'{drawn(chance, 6)} "{drawn(chance, 6)}" é/{drawn(chance, 5)}+='
    ),
}
PLACES = ("header", "query", "body", "delta", "tool result")


def plant(seed: int = 7) -> dict[tuple[str, str], str]:
    """A secret of each kind for each place."""
    chance = random.Random(seed)
    return {(kind, place): make(chance) for kind, make in KINDS.items() for place in PLACES}


PLANTED = plant()
OWN = [secret for (kind, _), secret in PLANTED.items() if kind == "word only its owner knows"]


def of(place: str) -> list[str]:
    return [secret for (_, there), secret in PLANTED.items() if there == place]


def headers() -> dict[str, str]:
    names = ["x_api_key", "authorization", "cookie", "x_service_token", "proxy_authorization"]
    names += ["x_note_1", "x_note_2", "anthropic_workspace_id", "x_note_3", "x_note_4"]
    one_line = [base64.b64encode(each.encode()).decode() if "\n" in each else each for each in of("header")]
    schemes = {"authorization": "Bearer {}", "cookie": "theme=dark; session={}"}
    return {name: schemes.get(name, "{}").format(each) for name, each in zip(names, one_line, strict=True)}


def asked() -> dict[str, Any]:
    nested = json.dumps({"found": of("tool result")[5:], "and": [{"deep": "text"}]})
    blocks: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": "toolu_01", "content": f"env: {each}\nHOME=/root"}
        for each in of("tool result")[:5]
    ]
    blocks += [
        {"type": "tool_result", "tool_use_id": "toolu_02", "content": [{"type": "text", "text": nested}]}
    ]
    blocks += ({"type": "text", "text": f"<{each}>"} for each in of("body")[5:])
    return {
        "model": "claude-opus-4-6",
        "system": f"Use {of('body')[0]}, {of('body')[1]}.",
        "metadata": {"user_id": of("body")[2]},
        "mcp_servers": [{"url": f"https://me:{of('body')[3]}@x.test/", "authorization_token": of("body")[4]}],
        "messages": [{"role": "user", "content": blocks}],
        "stream": True,
    }


def query() -> str:
    return "&".join(f"{name}={quote(each)}" for name, each in zip("abcdefghij", of("query"), strict=True))


def answer() -> list[bytes]:
    """A stream that says a secret in each block, a few characters at a time, and arrives in odd pieces."""
    chance = random.Random(3)
    events: list[dict[str, Any]] = []
    for index, secret in enumerate(of("delta")):
        calls = index % 2
        said = json.dumps({"note": f"see {secret} there"}) if calls else f"It is {secret}, and so on."
        while said:
            size = chance.randint(1, 9)
            kind, field = ("input_json_delta", "partial_json") if calls else ("text_delta", "text")
            delta = {"type": kind, field: said[:size]}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
            said = said[size:]
    body = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events).encode()
    return [body[start : start + 700] for start in range(0, len(body), 700)]


async def answers(_: Asked, channel: Channel) -> None:
    told = {
        "content-type": "text/event-stream",
        "anthropic-organization-id": of("header")[0],
        "request-id": "req_1",
    }
    channel.begin(200, told, None, [("set-cookie", f"id={of('header')[4]}; Path=/")])
    for piece in answer():
        channel.write((piece,))
        await channel.drain()
        await asyncio.sleep(0.001)
    channel.end()
    await channel.drain()


def survivors(*texts: str) -> list[str]:
    """The kinds and places of the secrets that are in a text in some form."""
    whole = "\n".join(texts)
    return [
        f"{kind} in {place}"
        for (kind, place), secret in PLANTED.items()
        if any(form in whole for form in forms(secret))
    ]


def strings(value: Any) -> list[str]:
    """Every string in JSON, also of JSON that is a string in it."""
    if isinstance(value, str):
        return [value, *(strings(json.loads(value)) if value.startswith("{") else [])]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in parts for text in strings(part)]


def readings(path: Path) -> list[str]:
    """A cassette as anybody may read it: the file, and every text in it, fragments put together."""
    found = [path.read_text()]
    for one in read(path).interactions:
        found += [
            one.request.body.decode(),
            one.request.uri,
            repr(one.request.headers),
            repr(one.response.headers),
        ]
        parts = [line[6:] for line in one.response.body.decode().splitlines() if line.startswith("data: ")]
        for index in range(len(KINDS)):
            deltas = [each["delta"] for each in map(json.loads, parts) if each["index"] == index]
            said = "".join(delta.get("text", delta.get("partial_json", "")) for delta in deltas)
            found += strings(said)
    return found


def test_they_are_found_where_they_were_planted() -> None:
    assert len(PLANTED) == 50
    told = [*headers().values(), query(), *strings(asked()), *of("delta")]

    assert sorted(survivors(*told)) == sorted(f"{kind} in {place}" for kind, place in PLANTED)


@pytest.mark.parametrize("way", ["proxy", "python"])
def test_no_secret_is_in_any_file_log_or_report(
    way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, "vcr")
    path = tmp_path / "x.yaml"
    said: list[str] = []
    with serving(answers) as api:
        if way == "proxy":
            with recording(api.url, path, Redactor(secrets=OWN, known={}), live=True) as (proxy, said):
                _, _, got = post(f"{proxy.url}/v1/messages?{query()}", asked(), **headers())
        else:
            with harness.record(path, mode="all", secrets=OWN):
                _, _, got = post(f"{api.url}/v1/messages?{query()}", asked(), **headers())

    assert got == b"".join(answer())
    assert len(read(path).interactions) == 1
    assert survivors(*readings(path)) == []
    with replaying(path, redactor=Redactor(secrets=OWN, known={})) as (url, player):
        other = post(f"{url}/v1/messages?{query()}", asked() | {"model": "another"}, **headers())
        status, _, again = post(f"{url}/v1/messages?{query()}", asked(), **headers())
    assert (status, other[0]) == (200, 400)
    assert again == read(path).interactions[0].response.body
    told = [other[2].decode(), *(finding.message for finding in player.finish())]
    out, err = capfd.readouterr()
    assert survivors(*told, *said, caplog.text, out, err) == []
    assert "model: recorded" in told[0]
