"""Scripted replies as messages: ids, signatures and pairings filled in, usage counted."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ..scenario.model import Block, Reply
from ..wire import blocks as kinds
from ..wire.cache import PromptCache
from ..wire.eras import Era, era
from ..wire.ids import Ids, looks_real, opaque_id
from ..wire.message import message
from ..wire.models import canonical_name
from ..wire.usage import usage_of
from ..wire.wanted import Wanted
from .script import Play
from .tools import Binder

MOST_MADE = 256
"""Replies kept in case they are to be sent again; an endless step makes no end of them."""


class Composer:
    """Turns the replies of one run into content. A step gives the same content however often it is sent."""

    def __init__(self, ids: Ids, of: Era | None = None, binder: Binder | None = None) -> None:
        self._ids = ids
        self._binder = binder or Binder(())
        self._callers = (of or era()).callers
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
            if len(self._made) > MOST_MADE:
                del self._made[next(iter(self._made))]
        content = copy.deepcopy(self._made[place])
        for block in content:
            if kinds.is_client_call(block):
                self._binder.bind(block, offered)
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
        if block.get("type") in self._callers:
            block.setdefault("caller", {"type": "direct"})
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


class Composed(NamedTuple):
    """A message, what is counted when its stream starts, and whether its thinking is estimated on the way."""

    message: dict[str, Any]
    first: dict[str, Any]
    estimates: bool = False


def compose(
    message_id: str,
    reply: Reply,
    content: list[dict[str, Any]],
    seen: Mapping[str, Any],
    *,
    wanted: Wanted,
    cache: PromptCache,
    of: Era,
) -> Composed:
    """The whole message that answers what the model has `seen` with `content`, for those who `wanted` it."""
    used = usage_of(seen, content, reply.stop_reason, wanted=wanted, cache=cache, of=of)
    said = message(
        id=message_id,
        model=_serving(content) or canonical_name(wanted.model),
        content=content,
        stop_reason=reply.stop_reason,
        usage=used.total | reply.usage,
        stop_sequence=reply.stop_sequence,
        stop_details=reply.stop_details,
        container=reply.container or _container(content, wanted, message_id),
        fields=_fields(wanted) | reply.fields,
        of=of,
    )
    return Composed(said, used.first | reply.usage, wanted.estimates)


def _fields(wanted: Wanted) -> dict[str, Any]:
    """What a reply says beside the message, to those who asked."""
    fields: dict[str, Any] = {}
    if wanted.edits:
        fields["context_management"] = {"applied_edits": []}
    if wanted.bindings:
        fields["input_transformations"] = []
    return fields


def _serving(content: Iterable[Mapping[str, Any]]) -> str | None:
    """The model that gave the reply, where it was not the one that was asked."""
    sides = [block.get("to") for block in content if block.get("type") == "fallback"]
    last = sides[-1] if sides else None
    return last.get("model") if isinstance(last, Mapping) else None


def _runs_code(block: Mapping[str, Any]) -> bool:
    kind = str(block.get("name") if kinds.is_server_call(block) else block.get("type"))
    return kind.removesuffix("_tool_result").endswith("code_execution")


def _container(
    content: Iterable[Mapping[str, Any]], wanted: Wanted, message_id: str
) -> dict[str, Any] | None:
    """Where code ran, if any did: the container that was asked for, or a new one, for another hour."""
    if not any(_runs_code(block) for block in content):
        return None
    expires = datetime.now(UTC) + timedelta(hours=1)
    return {
        "id": wanted.container or opaque_id("container_", message_id),
        "expires_at": f"{expires:%Y-%m-%dT%H:%M:%S.%f}Z",
    }
