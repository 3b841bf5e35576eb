"""Recordings for tests, made of what was asked and answered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import yaml

from harness.cassettes.model import Cassette, Interaction, Request, Response
from harness.wire.eras import era_of
from harness.wire.events import Told, encode, events_of

Json = dict[str, Any]
URL = "https://api.anthropic.com/v1/messages"
TOOL = {"name": "look_up", "input_schema": {"type": "object"}}
USAGE = {"input_tokens": 1, "output_tokens": 1}


def user(*content: Any) -> Json:
    """A message of the user's: texts and blocks."""
    return {"role": "user", "content": blocks(*content)}


def assistant(*content: Any) -> Json:
    """A message of the assistant's."""
    return {"role": "assistant", "content": blocks(*content)}


def blocks(*content: Any) -> list[Any]:
    return [{"type": "text", "text": each} if isinstance(each, str) else each for each in content]


def call(identifier: str = "toolu_1", name: str = "look_up", **values: Any) -> Json:
    return {"type": "tool_use", "id": identifier, "name": name, "input": values}


def result(identifier: str = "toolu_1", content: Any = "a thing", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": identifier, "content": content, **more}


def thinking(text: str = "Hm.", signature: str = "c2lnbmF0dXJl") -> Json:
    return {"type": "thinking", "thinking": text, "signature": signature}


def reply(stop_reason: str, *content: Any, identifier: str = "msg_1", **more: Any) -> Json:
    """A message of the model."""
    return {
        "id": identifier,
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-6",
        "content": blocks(*content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": USAGE,
        **more,
    }


def refused(status: int, kind: str, message: str) -> tuple[int, Json]:
    """An error of the API."""
    return status, {"type": "error", "error": {"type": kind, "message": message}}


def request(messages: Sequence[Any], headers: Mapping[str, str] | None = None, **body: Any) -> Request:
    whole = {"model": "claude-opus-4-6", "max_tokens": 100, "messages": list(messages), **body}
    return Request(
        method="POST", uri=URL, headers=list((headers or {}).items()), body=json.dumps(whole).encode()
    )


def answer(said: Json | tuple[int, Json], *, stream: bool = False) -> Response:
    status, body = said if isinstance(said, tuple) else (200, said)
    if stream and status == 200:
        told = events_of(body, Random(0), Told(era_of(body)))
        data = b"".join(encode(event, Random(0)) for event in told)
        return Response(status=200, headers=[("content-type", "text/event-stream")], body=data)
    kind = [("content-type", "application/json")]
    return Response(status=status, headers=kind, body=json.dumps(body).encode())


def cassette(*exchanges: tuple[Request, Response], path: str = "x.yaml") -> Cassette:
    """A recording whose interactions begin in the lines 10, 20, …"""
    found = [
        Interaction(request=asked, response=answered, line=10 * number)
        for number, (asked, answered) in enumerate(exchanges, start=1)
    ]
    return Cassette(path=Path(path), interactions=found)


def written(recording: Cassette, path: Path) -> Path:
    """The recording as a file, as vcrpy writes it."""
    interactions = [
        {
            "request": {
                "method": one.request.method,
                "uri": one.request.uri,
                "headers": {name: [value] for name, value in one.request.headers},
                "body": one.request.body.decode(),
            },
            "response": {
                "status": {"code": one.response.status, "message": "OK"},
                "headers": {name: [value] for name, value in one.response.headers},
                "body": {"string": one.response.body.decode()},
            },
        }
        for one in recording.interactions
    ]
    path.write_text(yaml.safe_dump({"version": 1, "interactions": interactions}))
    return path


ASK = user("What is a, and what has it ever been?")
LONG = "It is a thing that was looked up with great care, and has been one for as long as anybody knows."


def recorded(*steps: tuple[list[Any], Any], **body: Any) -> Cassette:
    """A recording of these requests (their messages) with their answers."""
    return cassette(*((request(asked, tools=[TOOL], **body), answer(said)) for asked, said in steps))


CALLED = reply("tool_use", thinking(), "Looking.", call())
DONE = reply("end_turn", LONG, identifier="msg_2")
SENT_BACK = assistant(thinking(), "Looking.", call())
