"""Requests in few words, and what the provider says to them."""

from __future__ import annotations

from typing import Any

from harness.history import AnyEvent, Noted
from harness.provider.answer import Answer
from harness.provider.facts import Facts, Served
from harness.provider.request import Request
from harness.provider.rules import Finding, examine
from harness.provider.session import Session
from harness.transcript import conversation_of
from harness.wire.codec import dumps
from tests.provider.serve import reply, scenario

HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
NEW = {"anthropic-version": "2026-10-21"}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if len(content) == 1 else list(content)}


def model(*content: dict[str, Any] | str) -> dict[str, Any]:
    return {"role": "assistant", "content": [t(b) if isinstance(b, str) else b for b in content]}


def system(*content: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "system", "content": content[0] if len(content) == 1 else list(content)} | fields


def t(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id_: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "lookup", "input": {}} | fields


def result(id_: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": "42"} | fields


def search(id_: str, name: str = "web_search") -> dict[str, Any]:
    return {"type": "server_tool_use", "id": id_, "name": name, "input": {}}


def found(id_: str) -> dict[str, Any]:
    return {"type": "web_search_tool_result", "tool_use_id": id_, "content": []}


def tool(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": {"type": "object"}} | fields


HI = user("Hi")


class Talk:
    """A session whose model always has something to say."""

    def __init__(self, **fields: Any) -> None:
        self.events: list[AnyEvent] = []
        script = fields.pop("script", [reply("Well.", repeat="forever")])
        self.session = Session(key="k", scenario=scenario(script, **fields), record=self.events.append)
        self.session.begin_turn(0)

    def ask(
        self, asked: Any, *, path: str = "/v1/messages", method: str = "POST", query: str = "", **headers: str
    ) -> Answer:
        merged = {name.replace("_", "-"): value for name, value in (HEADERS | headers).items() if value}
        raw = asked if isinstance(asked, bytes) else dumps(asked)
        request = Request(method=method, path=path, query=query, headers=merged, raw=raw)
        request.decode()
        return self.session.receive(request)

    @property
    def noted(self) -> list[str]:
        """The rules that were noted."""
        return [event.detail.partition(":")[0] for event in self.events if isinstance(event, Noted)]


def findings(
    asked: Any, served: Served | None = None, *, path: str = "/v1/messages", query: str = "", **headers: str
) -> list[Finding]:
    """What the rules find, each of them."""
    raw = asked if isinstance(asked, bytes) else dumps(asked)
    merged = {name: value for name, value in (HEADERS | headers).items() if value}
    request = Request(method="POST", path=path, query=query, headers=merged, raw=raw)
    request.decode()
    return list(examine(Facts.of(request, conversation_of(request.body), served or Served())))
