"""What a clause is, and the pages the catalogue rests on."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Level: TypeAlias = Literal["MUST", "SHOULD", "MAY"]
Ground: TypeAlias = Literal["recorded", "documented", "construction"]

_DOCS = "https://platform.claude.com/docs/en/"
STOP_REASONS = _DOCS + "build-with-claude/handling-stop-reasons"
REFUSALS = _DOCS + "build-with-claude/refusals-and-fallback"
STREAMING = _DOCS + "build-with-claude/streaming"
THINKING = _DOCS + "build-with-claude/extended-thinking"
TOOL_CALLS = _DOCS + "agents-and-tools/tool-use/handle-tool-calls"
PARALLEL_TOOLS = _DOCS + "agents-and-tools/tool-use/parallel-tool-use"
SERVER_TOOLS = _DOCS + "agents-and-tools/tool-use/server-tools"
MESSAGES = _DOCS + "api/messages/create"
ERRORS = _DOCS + "api/errors"
COMPACTION = _DOCS + "build-with-claude/compaction"
RECORDED_PAIRS = (
    "Public recordings hold the API's 400 for a call without its result and for a result without its call; "
    + TOOL_CALLS
)


class Clause(msgspec.Struct, frozen=True, kw_only=True):
    """One normative sentence. Ids are never reused."""

    id: str
    level: Level
    sentence: str
    """What a loop must do, in one sentence."""
    reason: str
    """What goes wrong for a user where it is broken."""
    ground: Ground
    """`recorded` (a real exchange), `documented` (a URL in `source`), or `construction` (the loop lost what
    it was given)."""
    source: str
    """The URL, the recording's description, or why it holds by construction."""
    advice: str
    """How to fix it, in one or two lines."""
    needs: tuple[str, ...] = ()
    """What the loop has to expose: names of `harness.turn.EXPOSABLE`, or a choice (`report|status`)."""

    timed: bool = False
    """Judged by the clock: run once more, alone, before it may fail."""

    @property
    def family(self) -> str:
        """The part of the id before its number: `PAUSE` of `PAUSE-1`."""
        return self.id.partition("-")[0]
