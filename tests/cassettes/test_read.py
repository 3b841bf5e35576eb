"""Recordings in every form that recorders give them."""

from __future__ import annotations

import base64
import copy
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from vcr.request import Request as VcrRequest
from vcr.serialize import serialize
from vcr.serializers import jsonserializer, yamlserializer

from harness.cassettes.model import Cassette, Interaction, header
from harness.cassettes.read import CassetteError, NotACassetteError, read

URL = "https://api.anthropic.com/v1/messages"
ASKED = {"model": "claude-opus-4-6", "messages": [{"role": "user", "content": "Grüße: 1 < 2"}]}
SAID = {"type": "message", "content": [{"type": "text", "text": "Ja, schön.\n"}]}
ASKED_TEXT = json.dumps(ASKED, ensure_ascii=False, separators=(",", ":"))
SAID_TEXT = json.dumps(SAID, ensure_ascii=False, separators=(",", ":"))
PACKED = gzip.compress(SAID_TEXT.encode())

REQUEST = {"method": "POST", "uri": URL, "headers": {"Accept": ["*/*"]}, "body": ASKED_TEXT}
RESPONSE = {
    "status": {"code": 200, "message": "OK"},
    "headers": {"Content-Type": ["application/json"], "Set-Cookie": ["a=1", "b=2"]},
    "body": {"string": SAID_TEXT},
}


def written(tmp_path: Path, content: Any, name: str = "x.yaml") -> Cassette:
    path = tmp_path / name
    text = (
        json.dumps(content)
        if name.endswith(".json")
        else yaml.safe_dump(content, allow_unicode=True, sort_keys=False)
    )
    path.write_text(text, encoding="utf-8")
    return read(path)


def only(cassette: Cassette) -> Interaction:
    assert len(cassette.interactions) == 1
    return cassette.interactions[0]


def one(request: dict[str, Any] | None = None, response: dict[str, Any] | None = None) -> dict[str, Any]:
    """A recording of one exchange, some keys of it replaced; None takes one out."""
    halves = {"request": REQUEST | (request or {}), "response": RESPONSE | (response or {})}
    clean = {half: {k: v for k, v in keys.items() if v is not None} for half, keys in halves.items()}
    return {"version": 1, "interactions": [copy.deepcopy(clean)]}


RESPONSES: dict[str, dict[str, Any]] = {
    "as vcrpy writes it": {},
    "bytes": {"body": {"string": SAID_TEXT.encode()}},
    "packed": {"body": {"string": PACKED}, "headers": {"content-encoding": ["gzip"]}},
    "packed, and the header is gone": {"body": {"string": PACKED}},
    "unpacked, and the header is there still": {"headers": {"content-encoding": ["gzip"]}},
    "deflated": {
        "body": {"string": zlib.compress(SAID_TEXT.encode())},
        "headers": {"content-encoding": "deflate"},
    },
    "body alone": {"body": SAID_TEXT},
    "base64 in the body": {"body": {"base64_string": base64.b64encode(PACKED).decode()}},
    "base64 beside the body": {"body": None, "base64_body": base64.b64encode(SAID_TEXT.encode()).decode()},
    "parsed": {"body": None, "parsed_body": SAID},
    "of vcrpy 4 with httpx": {"status": None, "status_code": 200, "body": None, "content": SAID_TEXT},
    "of go-vcr": {"status": "200 OK", "code": 200, "body": SAID_TEXT},
    "status as a number": {"status": 200},
}


@pytest.mark.parametrize("form", RESPONSES)
def test_a_response_is_read_in_any_form(form: str, tmp_path: Path) -> None:
    response = only(written(tmp_path, one(response=RESPONSES[form]))).response

    assert response.body == SAID_TEXT.encode()
    assert (response.status, response.broken) == (200, False)


REQUESTS: dict[str, dict[str, Any]] = {
    "as vcrpy writes it": {},
    "bytes": {"body": ASKED_TEXT.encode()},
    "parsed": {"body": None, "parsed_body": ASKED},
    "packed": {"body": gzip.compress(ASKED_TEXT.encode())},
    "as `url`": {"uri": None, "url": URL},
    "in parts": {
        "uri": None,
        "protocol": "https",
        "host": "api.anthropic.com",
        "port": 443,
        "path": "/v1/messages",
    },
    "in small letters": {"method": "post"},
}


@pytest.mark.parametrize("form", REQUESTS)
def test_a_request_is_read_in_any_form(form: str, tmp_path: Path) -> None:
    request = only(written(tmp_path, one(request=REQUESTS[form]))).request

    assert (request.method, request.uri, request.body) == ("POST", URL, ASKED_TEXT.encode())


HEADERS = {
    "in lists": {"Accept": ["a", "b"], "X": ["1"]},
    "as text": {"Accept": "a, b", "X": "1"},
    "in pairs": [["Accept", "a"], ["Accept", "b"], ["X", 1]],
}


@pytest.mark.parametrize("form", HEADERS)
def test_headers_are_read_in_any_form(form: str, tmp_path: Path) -> None:
    found = only(written(tmp_path, one(request={"headers": HEADERS[form]}))).request.headers

    assert header(found, "accept") == "a, b"
    assert header(found, "x") == "1"


def test_a_header_that_came_twice_is_there_twice(tmp_path: Path) -> None:
    headers = only(written(tmp_path, one())).response.headers

    assert headers[1:] == [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]


@pytest.mark.parametrize("name", ["x.yaml", "x.json"])
@pytest.mark.parametrize(
    "content",
    [
        one(),
        one()["interactions"],
        {"http_interactions": one()["interactions"], "recorded_with": "VCR 6.1.0"},
        {"requests": [REQUEST], "responses": [RESPONSE]},
    ],
    ids=["version 1", "version 0", "Ruby", "two lists"],
)
def test_a_file_is_read_in_either_serializer_and_any_version(content: Any, name: str, tmp_path: Path) -> None:
    assert only(written(tmp_path, content, name)).response.body == SAID_TEXT.encode()


@pytest.mark.parametrize("serializer", [yamlserializer, jsonserializer], ids=["yaml", "json"])
def test_what_vcrpy_itself_writes_is_read(serializer: Any, tmp_path: Path) -> None:
    request = VcrRequest("POST", URL, ASKED_TEXT.encode(), {"Accept": "*/*"})
    response = RESPONSE | {"body": {"string": SAID_TEXT.encode()}}
    path = tmp_path / f"x.{serializer.__name__.rpartition('.')[2].removesuffix('serializer')}"
    path.write_text(serialize({"requests": [request], "responses": [response]}, serializer))

    found = only(read(path))

    assert found.request.body == ASKED_TEXT.encode()
    assert found.response.body == SAID_TEXT.encode()


def test_objects_of_python_are_read_as_their_values_and_never_made(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(
        """\
- request: !!python/object:vcr.request.Request
    body: !!python/object/new:_io.BytesIO
      state: !!python/tuple
      - !!binary aGVsbG8=
      - 0
      - null
    headers: !!python/object/apply:__builtin__.frozenset
    - - !!python/tuple [Accept, '*/*']
    method: POST
    uri: !!python/unicode https://api.anthropic.com/v1/files
  response:
    status: {code: 200, message: OK}
    headers: [!!python/object/apply:os.system [exit 1]]
    body: {string: !!python/str ok, recorded: 2024-01-01}
"""
    )
    found = only(read(path))

    assert found.request.body == b"hello"
    assert found.request.headers == [("Accept", "*/*")]
    assert found.request.uri.endswith("/files")
    assert found.response.body == b"ok"


@pytest.mark.parametrize("indent", [0, 2])
def test_an_interaction_knows_its_line(indent: int, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    text = yaml.safe_dump([one()["interactions"][0] for _ in range(3)])
    assert "*id" not in text
    text = "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())
    path.write_text(f"version: 1\ninteractions:\n{text}")
    begins = [number for number, line in enumerate(path.read_text().splitlines(), 1) if "- request" in line]

    assert [each.line for each in read(path).interactions] == begins


@pytest.mark.parametrize("indent", [None, 2])
def test_an_interaction_knows_its_line_in_json_too(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    content = {"a": {"interactions": [1]}, "interactions": one()["interactions"] * 3, "version": 1}
    path.write_text(json.dumps(content, indent=indent))
    lines = enumerate(path.read_text().splitlines())
    begins = [number for number, line in lines if '"request"' in line]

    found = [each.line for each in read(path).interactions]

    assert found == ([1, 1, 1] if indent is None else begins)


def test_a_file_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml.gz"
    path.write_bytes(gzip.compress(yaml.safe_dump(one()).encode()))

    assert only(read(path)).response.body == SAID_TEXT.encode()


def test_a_body_whose_compressed_form_is_cut_is_broken(tmp_path: Path) -> None:
    cut = gzip.compress(SAID_TEXT.encode() * 50)[:-12]
    response = only(written(tmp_path, one(response={"body": {"string": cut}}))).response

    assert response.broken
    assert SAID_TEXT.encode().startswith(response.body[:20])


def test_every_broken_interaction_is_told_with_its_place(tmp_path: Path) -> None:
    content = one()["interactions"] * 4
    content[1] = {"request": REQUEST}
    content[3] = {"request": REQUEST | {"uri": None}, "response": RESPONSE}

    with pytest.raises(CassetteError) as raised:
        written(tmp_path, {"interactions": content})

    first, second = str(raised.value).splitlines()
    assert first.startswith(f"{tmp_path}/x.yaml:")
    assert first.endswith(": interaction 2: it has no `response`")
    assert second.endswith(": interaction 4: its request has no `uri`")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.yaml", "a: [1", ":2:1: not YAML"),
        ("x.yaml", "a: &a [*a, 1]\ninteractions: []", ":1:4: an alias stands inside what it names"),
        ("x.json", '{"interactions": [}', ":1:19: not JSON"),
        ("x.yaml", "interactions:\n- request: {uri: u, body: !!binary x}\n", ":2:27: not YAML"),
        ("x.yaml", "a\x07b", ":1:2: a character that YAML does not allow"),
        ("x.json.gz", "no", ":1:1: not JSON"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(name: str, text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)

    with pytest.raises(CassetteError) as raised:
        read(path)

    assert str(raised.value).startswith(f"{path}{said}")


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    path.write_text("\n".join(["a0: &a0 text", *levels, "interactions: [*a11]"]))

    with pytest.raises(CassetteError, match="counting what aliases stand for"):
        read(path)


def test_an_alias_that_is_none_too_many_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump(one()["interactions"] * 2))
    assert "*id001" in path.read_text()

    assert [each.response.body for each in read(path).interactions] == [SAID_TEXT.encode()] * 2


@pytest.mark.parametrize("text", ["", "a: 1", "- 1", "just text", "interactions: 3"])
def test_a_file_that_is_something_else_is_told_apart(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)

    with pytest.raises(NotACassetteError, match="no recording") as told:
        read(path)
    assert ("its `interactions` is no list" in str(told.value)) is text.startswith("interactions")


def test_all_that_is_wrong_with_an_interaction_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("interactions:\n- {request: {}, response: {}, loop_harness: {asked_at: soon}}\n- 3\n")

    with pytest.raises(CassetteError) as told:
        read(path)

    assert [problem.message for problem in told.value.problems] == [
        "interaction 1: its request has no `uri`",
        "interaction 1: its response has no `status`",
        "interaction 1: its `loop_harness`: Expected `float | null`, got `str` - at `$.asked_at`",
        "interaction 2: it has no `request`",
        "interaction 2: it has no `response`",
    ]


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match=r"x\.yaml:1:1: there is no such file"):
        read(tmp_path / "x.yaml")
