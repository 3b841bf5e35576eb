"""Calls, the runs they led to, and the results that went back: what the checks of the tools share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from .. import display
from ..evidence import Exchange, ToolRun, TurnView
from ..wire.same import Json, Piece, blocks, canonical

_SEEN = ("image", "document")
"""Blocks of a result that are more than their text."""

Key = tuple[str, bytes]
"""A call as a tool sees it: its name, and its input in canonical form."""


def key(name: Any, value: Any) -> Key:
    """Equal for calls of one tool with the same input."""
    return str(name), msgspec.json.encode(canonical(value), order="deterministic")


def call_key(call: Json) -> Key:
    """The key of a `tool_use` block; one without an input was called with `{}`."""
    return key(call.get("name"), call.get("input", {}))


def run_key(run: ToolRun) -> Key:
    """The key of a run."""
    return key(run.name, run.started.input)


@dataclass(eq=False)
class Answers:
    """What a later request has between a reply's calls and the next thing the model said."""

    exchange: Exchange
    """The reply with the calls."""
    later: Exchange
    """The request after it."""

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the reply's client calls, in order."""
        return [str(call.get("id")) for call in self.exchange.calls]

    @cached_property
    def _start(self) -> int:
        """Where the reply ends in the later request; -1 where its calls are not in it."""
        found, ids = self.later.pieces, set(self.ids)
        # From the end: a conversation is long, and the reply is the newest thing in it.
        for position in range(len(found) - 1, -1, -1):
            if _is_call(found[position]) and found[position].block.get("id") in ids:
                return _while_assistant(found, position)
        return -1

    @cached_property
    def segment(self) -> list[Piece]:
        """The user's blocks after the reply, up to the next block of the assistant."""
        if self._start < 0:
            return []
        found = self.later.pieces[self._start :]
        end = next((n for n, piece in enumerate(found) if piece.role == "assistant"), len(found))
        return found[:end]

    @cached_property
    def results(self) -> list[Piece]:
        """The result blocks in that segment."""
        return [piece for piece in self.segment if piece.type == "tool_result"]

    def of(self, identifier: Any) -> list[Piece]:
        """The results in that segment for one call."""
        return [piece for piece in self.results if piece.block.get("tool_use_id") == identifier]

    @cached_property
    def strange(self) -> list[Piece]:
        """The results in that segment for calls that the reply did not make."""
        return [piece for piece in self.results if piece.block.get("tool_use_id") not in self.ids]

    @cached_property
    def everywhere(self) -> list[Piece]:
        """The results for the reply's calls anywhere behind the reply, or at all where it is not kept."""
        ids = set(self.ids)
        return [
            piece
            for piece in self.later.pieces[max(self._start, 0) :]
            if piece.type == "tool_result" and piece.block.get("tool_use_id") in ids
        ]


def _while_assistant(found: Sequence[Piece], position: int) -> int:
    while position < len(found) and found[position].role == "assistant":
        position += 1
    return position


def _is_call(piece: Piece) -> bool:
    return piece.role == "assistant" and piece.type == "tool_use"


def answers(exchange: Exchange) -> Answers | None:
    """What the next round answers to the calls of this one; None where there is no next round."""
    return Answers(exchange, exchange.next) if exchange.next is not None else None


def is_error(result: Piece) -> bool:
    """Whether a result says that the call failed."""
    return result.block.get("is_error") is True


def text_of(result: Piece) -> str:
    """All the text a result carries."""
    return "\n".join(display.all_texts(result.block.get("content")))


def has_content(result: Piece) -> bool:
    """Whether a result carries anything to read or to see."""
    return any(
        not isinstance(block, dict) or block.get("type") != "text" or str(block.get("text", "")).strip()
        for block in blocks(result.block.get("content"))
    )


def carries(result: Piece, value: Any) -> bool:
    """Whether a result carries all the text of `value`, as it is or written as JSON."""
    carried = text_of(result)
    squeezed = display.squeezed(carried)
    return all(
        display.squeezed(text) in squeezed or any(form in carried for form in _as_json(text))
        for text in _wording(value)
    )


def lost_sight(found: Answers, result: Piece, value: Any) -> str | None:
    """What kind of thing to see a tool returned more of than went back: `image`, `document`, or None.

    It may stand in the result, or behind the results; it may be another size or format by then.
    """
    back = [*blocks(result.block.get("content")), *(one.block for one in found.segment if one is not result)]
    sent = [one.get("type") for one in back if isinstance(one, dict)]
    given = [one.get("type") for one in blocks(value) if isinstance(one, dict)]
    return next((kind for kind in _SEEN if given.count(kind) > sent.count(kind)), None)


def _as_json(text: str) -> tuple[str, str]:
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]


def _wording(value: Any) -> list[str]:
    """The texts of what a tool returned: a string, or the text of its blocks."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return display.texts_of(value)


def runs_for(turn: TurnView, exchange: Exchange, call: Json) -> list[ToolRun]:
    """The runs this call may have led to; identical calls share theirs."""
    wanted = call_key(call)
    return [run for run in turn.called(exchange) if run_key(run) == wanted]


def returned(runs: Sequence[ToolRun], before: float) -> list[Any]:
    """What those of the runs returned that succeeded before a moment."""
    done = [run.ended for run in runs if run.ended is not None and succeeded(run)]
    return [ended.result for ended in done if ended.at <= before]


def succeeded(run: ToolRun) -> bool:
    """Whether a run returned a result."""
    return run.ended is not None and run.ended.error is None and not run.ended.abandoned


def offered_names(turn: TurnView, exchange: Exchange) -> set[str]:
    """The names of the tools a request offered; a thread remembers those of the request that began it."""
    known: Exchange | None = exchange
    while known is not None and known.threaded:
        known = known.previous
    tools = known.body.get("tools") if known is not None else None
    if not isinstance(tools, list):
        return set(turn.began.tools)
    return {str(tool.get("name")) for tool in tools if isinstance(tool, dict)}


def is_offered(turn: TurnView, exchange: Exchange, name: Any) -> bool:
    """Whether a request offered the tool, itself or in one of its messages."""
    return name in offered_names(turn, exchange) or any(
        _added(piece.block) == name for piece in exchange.pieces if piece.type == "tool_addition"
    )


def _added(block: Json) -> str:
    """The name of a tool that a message offers in the middle of a conversation."""
    tool = block.get("tool")
    return str(tool.get("name") or tool.get("tool_name")) if isinstance(tool, dict) else ""
