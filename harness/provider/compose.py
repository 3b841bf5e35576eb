"""Scripted replies as messages: ids, signatures and pairings filled in, usage counted."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from ..scenario.model import Block, Reply
from ..wire import blocks as kinds
from ..wire.ids import Ids, looks_real
from ..wire.message import message
from ..wire.models import canonical_name, traits
from ..wire.usage import usage_of
from .script import Play
from .tools import bind


class Composer:
    """Turns the replies of one run into content. A step gives the same content however often it is sent."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._labels: dict[str, str] = {}
        self._open: list[Mapping[str, Any]] = []
        self._made: dict[tuple[int, int], list[dict[str, Any]]] = {}

    def begin_turn(self) -> None:
        """A new script begins: calls the last one left open are not answered by this one."""
        self._open = []
        self._made = {}

    def content(self, reply: Reply, play: Play, offered: Iterable[str]) -> list[dict[str, Any]]:
        """The blocks of `reply`, its client calls bound to the tools that are `offered`."""
        place = (play.index, play.round)
        if place not in self._made:
            waiting = list(self._open)
            self._made[place] = [self._fill(block, play.round, waiting) for block in reply.content]
        content = copy.deepcopy(self._made[place])
        for block in content:
            if kinds.is_client_call(block):
                block["name"] = bind(str(block.get("name", "")), offered)
        return content

    def delivered(self, content: Iterable[Mapping[str, Any]]) -> None:
        """The client has `content`: its open calls are answered by later replies."""
        self._open = list(kinds.open_server_calls([*self._open, *content]))

    def _fill(self, written: Block, round_: int, waiting: list[Mapping[str, Any]]) -> dict[str, Any]:
        """A written block with what was left out; `waiting` are the open server calls, kept up to date."""
        block = copy.deepcopy(written)
        if block.get("type") in kinds.CALLS:
            self._fill_call(block, round_)
            if kinds.is_server_call(block):
                waiting.append(block)
        elif kinds.is_server_result(block):
            self._fill_result(block, round_, waiting)
        elif block.get("type") == "thinking":
            block.setdefault("thinking", "")
            block.setdefault("signature", self._ids.data("signature"))
        elif block.get("type") == "redacted_thinking":
            block.setdefault("data", self._ids.data("redacted"))
        return kinds.ordered(block)

    def _fill_call(self, block: dict[str, Any], round_: int) -> None:
        prefix = kinds.ID_PREFIX[block["type"]]
        written = block.get("id")
        if written is None:
            block["id"] = self._ids.next(prefix)
        elif not looks_real(str(written)):
            block["id"] = self._labels[str(written)] = self._ids.of_label(prefix, str(written), round_)
        block.setdefault("input", {})
        if block["type"] == kinds.MCP_CALL:
            block.setdefault("server_name", "example")
        caller = block.get("caller")
        if isinstance(caller, dict) and caller.get("tool_id") in self._labels:
            caller["tool_id"] = self._labels[caller["tool_id"]]

    def _fill_result(self, block: dict[str, Any], round_: int, waiting: list[Mapping[str, Any]]) -> None:
        written = block.get("tool_use_id")
        if written is None:
            block["tool_use_id"] = self._oldest(block, waiting)
        elif not looks_real(str(written)):
            block["tool_use_id"] = self._labels.get(str(written)) or self._ids.of_label(
                _call_prefix(block), str(written), round_
            )
        waiting[:] = [call for call in waiting if call["id"] != block["tool_use_id"]]
        if block["type"] == kinds.MCP_RESULT:
            block.setdefault("is_error", False)
        block.setdefault("content", [])
        hits = block["content"] if isinstance(block["content"], list) else []
        for hit in hits:
            if isinstance(hit, dict) and hit.get("type") == "web_search_result":
                hit.setdefault("encrypted_content", self._ids.data("search"))
                hit.setdefault("page_age", None)

    def _oldest(self, result: Mapping[str, Any], waiting: list[Mapping[str, Any]]) -> str:
        fitting = [call for call in waiting if kinds.result_type(call) == result["type"]] or waiting
        return str(fitting[0]["id"]) if fitting else self._ids.next(_call_prefix(result))


def _call_prefix(result: Mapping[str, Any]) -> str:
    """How the id begins of a call that `result` answers."""
    return kinds.ID_PREFIX[kinds.MCP_CALL if result["type"] == kinds.MCP_RESULT else kinds.SERVER_CALL]


def compose_message(
    message_id: str, reply: Reply, content: list[dict[str, Any]], seen: Mapping[str, Any], model: str
) -> dict[str, Any]:
    """The whole message that answers what the model has `seen` with `content`."""
    usage = usage_of(seen, content, thinking=traits(model).thinking, override=reply.usage)
    return message(
        id=message_id,
        model=canonical_name(model),
        content=content,
        stop_reason=reply.stop_reason,
        usage=usage,
        stop_sequence=reply.stop_sequence,
        stop_details=reply.stop_details,
        container=reply.container,
        fields=reply.fields,
    )
