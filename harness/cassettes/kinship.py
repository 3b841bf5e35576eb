"""What a request of a recording goes on from.

It goes on from the request whose reply it says again. That the earlier request itself stands at its
beginning is not asked for, since a loop that changes what it said is just what is looked for; but then what
is said again must be unmistakable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..checks.carried import alike
from ..transcript import Conversation as Thread
from ..transcript import conversation_of, previous_id
from ..wire.same import Piece, equal, pieces
from .exchanges import Recorded

_FINAL_UNCHANGED = ("refusal", "pause_turn", "model_context_window_exceeded")
"""Stop reasons after which nobody asks the very same again, not even to see what else comes."""
_TOO_LONG = ("prompt is too long", "request_too_large")
_TELLING = 60
"""Characters of a text that nobody says twice by chance."""


@dataclass(eq=False)
class Said:
    """An exchange with the conversation it stands in."""

    recorded: Recorded
    thread: Thread
    """What the model saw."""
    threaded: bool = False
    """The request leaves to the server what was said before."""
    place: int = 0
    """Among the exchanges of the recording."""

    @cached_property
    def pieces(self) -> list[Piece]:
        """What was asked."""
        return pieces(self.thread.messages)

    @cached_property
    def reply(self) -> list[Piece]:
        """What was answered."""
        content = (self.recorded.message or {}).get("content")
        return pieces([{"role": "assistant", "content": content}]) if content else []

    @cached_property
    def marks(self) -> list[int]:
        """For each beginning of what was asked a number, equal for equal ones."""
        found, mark = [], 0
        for piece in self.pieces:
            mark = hash((mark, piece.key))
            found.append(mark)
        return found

    @property
    def stop_reason(self) -> str | None:
        """Why a whole reply stopped."""
        reason = (self.recorded.message or {}).get("stop_reason")
        return reason if self.recorded.whole and isinstance(reason, str) else None

    @property
    def answered_nothing(self) -> bool:
        """Whether the reply is whole, and has nothing in it."""
        return self.stop_reason is not None and not self.reply

    def begins(self, later: Said) -> bool:
        """Whether `later` says all of this first."""
        count = len(self.marks)
        return 0 < count <= len(later.marks) and later.marks[count - 1] == self.marks[-1]

    def same_as(self, other: Said) -> bool:
        """Whether the other asks the very same."""
        return self.marks == other.marks and equal(_rest(self), _rest(other))


def _rest(said: Said) -> dict[str, Any]:
    body = said.recorded.body
    return {name: body.get(name) for name in ("model", "system", "tools", "stream", "max_tokens")}


class Kinship:
    """Finds what a request goes on from."""

    def __init__(self) -> None:
        self._all: list[Said] = []
        self._pieces: dict[bytes, list[Said]] = defaultdict(list)
        self._calls: dict[str, list[Said]] = defaultdict(list)
        self._asked: dict[int, list[Said]] = defaultdict(list)
        self._ids: dict[str, Said] = {}

    def place(self, recorded: Recorded) -> Said:
        """The exchange with its thread resolved."""
        previous = previous_id(recorded.body)
        known = self._ids.get(previous) if previous else None
        stored = known.thread.answered(known.recorded.message or {}) if known else None
        thread = conversation_of(recorded.body, stored)
        return Said(recorded, thread, threaded=known is not None, place=len(self._all))

    def remember(self, said: Said) -> None:
        """Let later requests go on from this one."""
        self._all.append(said)
        identifier = (said.recorded.message or {}).get("id")
        if isinstance(identifier, str):
            self._ids[identifier] = said
        if said.marks:
            self._asked[said.marks[-1]].append(said)
        for piece in said.reply:
            self._pieces[piece.key].append(said)
            if call := _call(piece):
                self._calls[call].append(said)

    def predecessor(self, said: Said) -> Said | None:
        """What this request goes on from; None where it begins a conversation, as far as can be told."""
        if said.threaded:
            return self._ids.get(previous_id(said.recorded.body) or "")
        found = self._tried_before(said) or self._too_long(said)
        found = found or self._answered_before(said) or self._left_out(said)
        return found if found is not None and not _another_agent(found, said) else None

    def _tried_before(self, said: Said) -> Said | None:
        """The same request, which failed or got nothing to go on from."""
        for before in reversed(self._asked.get(said.marks[-1], []) if said.marks else []):
            if not before.same_as(said):
                continue
            if _invites_retry(before) or said.recorded.asked("x-stainless-retry-count") not in ("", "0"):
                return before
            resent = before.stop_reason in _FINAL_UNCHANGED
            # A test may ask the same in another way, and so in a conversation of its own. What was refused
            # with an error is often asked twice there, with and without the client that is tested.
            alone = before.place == len(self._all) - 1 and _client(before) == _client(said)
            return before if (resent or before.answered_nothing) and alone else None
        return None

    def _too_long(self, said: Said) -> Said | None:
        """The request before this one, which there was no room for."""
        before = self._all[-1] if self._all else None
        if before is None or before.recorded.status not in (400, 413) or not (before.pieces and said.pieces):
            return None
        too_long = any(words in str(before.recorded.error) for words in _TOO_LONG)
        return before if too_long and before.pieces[-1].key == said.pieces[-1].key else None

    def _answered_before(self, said: Said) -> Said | None:
        """The request whose reply this one says again, the latest of them."""
        for piece in reversed(said.pieces):
            if piece.role != "assistant":
                continue
            call = _call(piece)
            candidates = [*self._calls.get(call, []), *self._pieces.get(piece.key, [])] if call else None
            candidates = self._pieces.get(piece.key, []) if candidates is None else candidates
            best = next((one for one in reversed(candidates) if one.begins(said)), None)
            if best is None and candidates and (call or _telling(piece)):
                best = candidates[-1]
            if best is not None:
                return best
        return None

    def _left_out(self, said: Said) -> Said | None:
        """The request that this one says again without its reply, or with something like it."""
        for count in range(len(said.marks) - 1, 0, -1):
            for before in reversed(self._asked.get(said.marks[count - 1], [])):
                nothing = not before.reply or before.stop_reason in (None, "refusal")
                if nothing and before.recorded.status < 400 and before.place == len(self._all) - 1:
                    return before
                if _resembles(before, said.pieces[count:]):
                    return before
        return None


def _call(piece: Piece) -> str:
    """The id of a call; empty for any other block."""
    identifier = piece.block.get("id") if piece.type.endswith("tool_use") else None
    return identifier if isinstance(identifier, str) else ""


def _telling(piece: Piece) -> bool:
    text = piece.block.get("text")
    return "signature" in piece.block or (isinstance(text, str) and len(text) >= _TELLING)


def _resembles(before: Said, behind: Iterable[Piece]) -> bool:
    """Whether what follows is the reply in another form."""
    for piece in _assistants(behind):
        for own in before.reply:
            if piece.type == "text" == own.type and alike(
                str(piece.block.get("text")), str(own.block.get("text"))
            ):
                return True
            if piece.type.endswith("tool_use") and all(
                equal(piece.block.get(name), own.block.get(name)) for name in ("type", "name", "input")
            ):
                return True
    return False


def _assistants(behind: Iterable[Piece]) -> Iterator[Piece]:
    for piece in behind:
        if piece.role != "assistant":
            return
        yield piece


def _invites_retry(before: Said) -> bool:
    status = before.recorded.status
    return not before.recorded.whole and (status < 400 or status in (408, 409, 429) or status >= 500)


def _client(said: Said) -> list[str]:
    return [
        said.recorded.asked(name) for name in ("user-agent", "x-stainless-async", "x-stainless-helper-method")
    ]


def _another_agent(before: Said, said: Said) -> bool:
    """Whether the conversation was handed to somebody with other instructions and other tools."""
    mine, theirs = said.recorded.body, before.recorded.body
    return not any(equal(mine.get(name), theirs.get(name)) for name in ("system", "tools"))
