"""Places in the body of a reply, as scenarios name them: `event 3`, `inside tool json`, `byte 120`."""

from __future__ import annotations

import re
from typing import Final

import msgspec

EVENTS: Final = (
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
)
"""Names of the events a place may count."""

FIXED: Final = ("head", "end", "done", "inside character", "inside tool json")
HINT: Final = (
    "write `head`, `event N`, `content_block_delta N` (or another event), `inside event N`, `byte N`, "
    "`inside character`, `inside tool json`, `end` or `done`"
)
_COUNTED: Final = re.compile(
    r"byte (?P<byte>[1-9][0-9]*)"
    r"|(?P<inside>inside )?(?:event (?P<any>[1-9][0-9]*)|(?P<name>[a-z_]+)(?: (?P<number>[1-9][0-9]*))?)"
)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where in a body something happens."""

    fixed: str = ""
    """One of `FIXED`; empty for a place that is counted."""
    byte: int = 0
    """After so many bytes of the body; 0 where it is an event."""
    event: str = ""
    """The name of the event counted; empty for every event."""
    number: int = 1
    inside: bool = False
    """After half of the event instead of all of it."""

    @property
    def streamed(self) -> bool:
        """Whether only a stream has such a place."""
        return not self.fixed and not self.byte


def parse_place(text: str) -> Place | None:
    """The place `text` names; None where it names none."""
    if text in FIXED:
        return Place(fixed=text)
    found = _COUNTED.fullmatch(text)
    if found is None or (found["name"] and found["name"] not in EVENTS):
        return None
    if found["byte"]:
        return Place(byte=int(found["byte"]))
    number = int(found["any"] or found["number"] or 1)
    return Place(event=found["name"] or "", number=number, inside=bool(found["inside"]))
