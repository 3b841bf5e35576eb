"""Recordings of real software, replayed over HTTP: the SDK hears what it heard then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Stream
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent

from harness.cassettes.matching import place_of
from harness.cassettes.model import Interaction, header
from harness.cassettes.read import CassetteError, read
from tests.cassettes.serving import replaying
from tests.recordings.cassettes import ABSENT, folder
from tests.recordings.streams import lines


def cassettes() -> Iterator[Any]:
    """Every file that is a recording, as a parameter."""
    root = folder()
    for path in sorted(root.rglob("*.yaml")) if root else []:
        yield pytest.param(path, id=path.relative_to(root).as_posix())  # type: ignore[arg-type]


pytestmark = pytest.mark.slow

FILES = list(cassettes()) or [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT))]


@pytest.mark.parametrize("path", FILES)
def test_the_sdk_hears_what_was_recorded(path: Path) -> None:
    try:
        interactions = read(path).interactions
    except CassetteError as error:
        pytest.fail(str(error))
    with replaying(path) as (url, player):
        client = anthropic.Anthropic(base_url=url, api_key="sk-ant-harness", max_retries=0)
        with client, httpx2.Client() as plain:
            for one in interactions:
                if speaks(one):
                    assert heard(client, one) == recorded(one)
                else:
                    assert got(plain, url, one) == (one.response.status, one.response.body)

    assert player.finish() == []
    assert player.played == len(interactions)


def speaks(one: Interaction) -> bool:
    """Whether it is an answer the SDK understands."""
    answered = header(one.response.headers, "content-type")
    kinds = "application/json", "text/event-stream"
    return place_of(one.request.method, one.request.uri)[:2] == (
        "POST",
        "/v1/messages",
    ) and answered.startswith(kinds)


def heard(client: anthropic.Anthropic, one: Interaction) -> Any:
    """What the SDK makes of the answer: a message, the events of a stream, or an error."""
    body = json.loads(one.request.body)
    asked: dict[str, Any] = {"body": body, "cast_to": BetaMessage}
    try:
        if not body.get("stream"):
            return client.post("/v1/messages", **asked).to_dict(mode="json", warnings=False)
        stream = client.post(
            "/v1/messages", **asked, stream=True, stream_cls=Stream[BetaRawMessageStreamEvent]
        )
        return [event.to_dict(mode="json", warnings=False) for event in stream]
    except anthropic.APIStatusError as error:
        return error.status_code, error.body


def recorded(one: Interaction) -> Any:
    """The same from the recorded bytes."""
    if one.response.status >= 400:
        return one.response.status, json.loads(one.response.body)
    if "event-stream" in header(one.response.headers, "content-type"):
        return [line.data for line in lines(one.response.body) if line.name != "ping"]
    return json.loads(one.response.body)


def got(client: httpx2.Client, url: str, one: Interaction) -> tuple[int, bytes]:
    """The answer to whatever else was asked."""
    parts = httpx2.URL(one.request.uri)
    headers = {"content-type": header(one.request.headers, "content-type")}
    answer = client.request(
        one.request.method, f"{url}{parts.raw_path.decode()}", headers=headers, content=one.request.body
    )
    return answer.status_code, answer.read()
