"""What happened in a run, for a page: what the loop sent, what the provider answered, and what lay between.

Of a request only what is new is told, since a loop sends its whole conversation every time. Everything is
made of JSON types; long texts are cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...history import (
    Answered,
    AnyEvent,
    Broken,
    Delivered,
    Ended,
    RequestSeen,
    ToolEnded,
    ToolStarted,
    TurnBegan,
)
from ...judge import CheckResult
from ...transcript import messages_seen
from ...wire.same import content_pieces
from ..packed import shared
from ..trace import said_in, told
from .spot import spot_of
from .trim import trimmed

MOST = 400
"""Entries of a timeline; of more the middle is left out."""

Entry = dict[str, Any]
_ASIDE = ("metadata", "messages", "thread")
"""Parts of a request that are shown in another way, or say nothing about it."""


def timeline_of(events: Sequence[AnyEvent], checks: Sequence[CheckResult]) -> list[Entry]:
    """The entries, oldest first, those that show what is broken marked with its clause."""
    entries = _Timeline(checks).of(events)
    if len(entries) <= MOST:
        return entries
    left = {"at": entries[MOST // 2]["at"], "lane": "mid", "kind": "left", "count": len(entries) - MOST}
    kept = [entry for entry in entries[MOST // 2 : -MOST // 2] if entry.get("broken")]
    return [*entries[: MOST // 2], left, *kept, *entries[-MOST // 2 :]]


class _Timeline:
    """Entries as they come, with what the later ones are compared with."""

    def __init__(self, checks: Sequence[CheckResult]) -> None:
        self._checks = checks
        self._entries: list[Entry] = []
        self._asked: dict[str, list[Any]] = {}
        """The messages of the latest request of each lane."""
        self._said: dict[tuple[bytes, ...], int] = {}
        """The request of each reply, by what counts of its content."""
        self._settings: dict[str, Any] = {}
        self._answers: dict[int, Entry] = {}
        self._tools: dict[int, Entry] = {}

    def of(self, events: Sequence[AnyEvent]) -> list[Entry]:
        for event in events:
            entry = self._entry(event)
            if entry is not None:
                entry["at"] = round(event.at, 4)
                self._entries.append(entry)
        return self._entries

    def _entry(self, event: AnyEvent) -> Entry | None:  # noqa: PLR0911 - one for each kind of event
        match event:
            case TurnBegan():
                name = f"turn {event.turn + 1}" + (", again in a new process" if event.rerun else "")
                return {"lane": "mid", "kind": "turn", "name": name, "text": trimmed(event.prompt)}
            case RequestSeen():
                return self._request(event)
            case Answered():
                self._answers[event.request] = entry = self._answer(event)
                return entry
            case Delivered() | Broken():
                self._sent(event)
            case ToolEnded() if event.call in self._tools:
                self._tool_end(event)
            case ToolStarted():
                entry = {"lane": "mid", "kind": "tool", "name": event.name, "input": trimmed(event.input)}
                self._tools[event.call] = entry
                return entry
            case Ended():
                return self._outcome(event)
            case _:
                line = told(event)
                return {"lane": "mid", "kind": "event", "name": line[0], "text": line[1]} if line else None
        return None

    def _request(self, event: RequestSeen) -> Entry:
        messages: list[Any] = list(messages_seen(event))
        before = self._asked.get(event.lane, [])
        same = shared(before, messages)
        self._asked[event.lane] = messages
        broken = [one for one in self._checks if one.request == event.request and not _is_word(one)]
        spots = {check.clause: spot_of(check, messages) for check in broken}
        shown = {place[0] for place in spots.values() if place}
        entry: Entry = {
            "lane": "loop",
            "kind": "request",
            "name": f"request {event.request}",
            "request": event.request,
            "where": "" if event.endpoint == "messages" else f"{event.method} {event.path}",
            "count": len(messages),
            "same": same,
            "again": event.same_as,
            "side": event.lane,
            "retry": event.retry,
            "settings": self._changed(event.body),
            "messages": [
                self._message(place, message)
                for place, message in enumerate(messages)
                if place >= same or place in shown
            ],
            "broken": [{"clause": check.clause, "spot": spots[check.clause]} for check in broken],
        }
        return {name: value for name, value in entry.items() if value not in (None, "", [], {}, 0)}

    def _message(self, place: int, message: Any) -> Entry:
        message = message if isinstance(message, dict) else {"content": message}
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        entry: Entry = {"place": place, "role": str(message.get("role", "?")), "blocks": trimmed(blocks)}
        if entry["role"] == "assistant" and (reply := self._said.get(_key(content))) is not None:
            entry["reply"] = reply
        return entry

    def _changed(self, body: Any) -> Entry:
        """The settings of a request that the one before it did not have."""
        given = body if isinstance(body, dict) else {}
        settings = {name: value for name, value in given.items() if name not in _ASIDE}
        if isinstance(settings.get("tools"), list):
            settings["tools"] = [_named(tool) for tool in settings["tools"]]
        before, self._settings = self._settings, settings
        gone = {name: None for name in before if name not in settings}
        changed = {name: value for name, value in settings.items() if before.get(name) != value}
        cut: Entry = trimmed(changed | gone)
        return cut

    def _answer(self, event: Answered) -> Entry:
        body = event.body if isinstance(event.body, dict) else {}
        entry: Entry = {
            "lane": "api",
            "kind": "answer",
            "name": f"answer {event.request}",
            "request": event.request,
            "status": event.status,
            "stream": event.stream,
        }
        if event.kind in ("reply", "side") and isinstance(body.get("content"), list):
            self._said.setdefault(_key(body["content"]), event.request)
            entry |= {"stop": body.get("stop_reason"), "blocks": trimmed(body["content"])}
        else:
            entry["text"] = said_in(event)
        if event.headers.get("retry-after"):
            entry["after"] = event.headers["retry-after"]
        return entry

    def _sent(self, event: Delivered | Broken) -> None:
        """An answer came to its end: that is no entry, but says how long it took."""
        if (answer := self._answers.get(event.request)) is not None:
            answer["took"] = round(event.at - answer["at"], 4)
            if isinstance(event, Broken):
                answer["cut"] = f"broken off by the {event.by} after {event.events} events"

    def _tool_end(self, event: ToolEnded) -> None:
        """A tool ended: its entry is that of its call."""
        entry = self._tools[event.call]
        entry["took"] = round(event.at - entry["at"], 4)
        if event.abandoned:
            entry["error"] = "abandoned"
        elif event.error is not None:
            entry["error"] = trimmed(event.error)
        else:
            entry["result"] = trimmed(event.result)

    def _outcome(self, event: Ended) -> Entry:
        entry: Entry = {"lane": "loop", "kind": "outcome", "name": "outcome"}
        if event.raised:
            entry["raised"] = trimmed(f"{event.raised.type}: {event.raised.message}")
        else:
            entry |= {"status": event.status, "shown": trimmed(event.shown), "detail": trimmed(event.detail)}
        broken = [check for check in self._checks if _is_word(check) and check.turn == event.turn]
        entry["broken"] = [{"clause": check.clause} for check in broken]
        return {name: value for name, value in entry.items() if value not in (None, [])}


def _is_word(check: CheckResult) -> bool:
    """Whether what the loop returned shows it, and no request."""
    return check.evidence == "outcome" or check.request is None


def _key(content: Any) -> tuple[bytes, ...]:
    """What is the same where a reply goes back as it came."""
    return tuple(piece.key for piece in content_pieces("assistant", content))


def _named(tool: Any) -> Any:
    """A tool in short: what it is called."""
    return tool.get("name", tool.get("type")) if isinstance(tool, dict) else tool
