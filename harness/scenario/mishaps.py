"""What a file may get wrong about faults and breaks: no such place, keys that do not go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .notes import Notes
from .places import HINT, parse_place
from .script import PASSING, Part, is_text, replies, steps

_ONLY_WITH: Final = {
    "error": ("error",),
    "seconds": ("stall",),
    "pings": ("stall", "silence"),
    "event": ("event",),
    "text": ("garbage",),
}
"""Key of a break, and what it is `by` where the key means something."""

_OF_AN_ANSWER: Final = ("type", "message", "details", "headers", "body", "before_body")
_STREAMED: Final = ("event", "garbage")


def check_mishaps(part: Part, notes: Notes, streams: str | None) -> None:
    """Note what does not fit together in the faults and breaks of a turn or lane.

    `streams` is the scenario's; None where the requests may come from anybody.
    """
    for step in steps(part):
        fault = step.value.get("fault")
        if fault is not None:
            _check_fault(Part((*step.where, "fault"), fault), step, notes)
    for reply in replies(part):
        _check_order(reply, notes)
        for each in _breaks(reply):
            _check_place(each, reply, notes, streams)
            _check_keys(each, notes)


def _check_fault(fault: Part, step: Part, notes: Notes) -> None:
    kinds = [key for key in ("status", "connection") if (*fault.where, key) in notes.spots]
    if len(kinds) != 1:
        what = "both `status` and `connection`" if kinds else "neither `status` nor `connection`"
        notes.note(fault.where, f"the fault has {what}; write exactly one of them")
        return
    status, connection = fault.value.get("status"), fault.value.get("connection")
    if status is not None and not 200 <= status <= 599:
        notes.note((*fault.where, "status"), f"{status} is no HTTP status; write 200 to 599")
    for key in _OF_AN_ANSWER if connection is not None else ():
        if (*fault.where, key) in notes.spots:
            notes.note((*fault.where, key), f"`{key}` means nothing here: there is no answer")
    if connection != "refuse":
        if (*fault.where, "seconds") in notes.spots:
            notes.note((*fault.where, "seconds"), "`seconds` goes with `connection: refuse` alone")
    elif step.value.get("repeat", 1) != 1:
        message = "nobody sees how often a connection is refused; write `seconds` in the fault instead"
        notes.note((*step.where, "repeat"), message)
    elif (*fault.where, "delay") in notes.spots:
        notes.note((*fault.where, "delay"), "`delay` means nothing here; write `seconds`")


def _breaks(reply: Part) -> Iterator[Part]:
    for index, each in enumerate(reply.value.get("breaks") or []):
        if each is not None:
            yield Part((*reply.where, "breaks", index), each)


def _check_order(reply: Part, notes: Notes) -> None:
    over = False
    for each in _breaks(reply):
        if over:
            notes.note(each.where, "never reached: the break before it ends the reply")
            return
        over = each.value.get("by") not in PASSING


def _check_place(each: Part, reply: Part, notes: Notes, streams: str | None) -> None:
    at, by = each.value.get("at"), each.value.get("by")
    if not is_text(at) or by is None:
        return
    where = (*each.where, "at")
    place = parse_place(at)
    if place is None:
        notes.note(where, f"`{at}` is no place in a reply; {HINT}")
        return
    if streams not in (None, "only") and (place.streamed or by in _STREAMED):
        what = f"`{at}`" if place.streamed else f"`{by}`"
        notes.note(where, f"{what} exists only in a stream; add `streams: only` to the scenario")
    if at == "done" and by not in ("close", "reset"):
        notes.note(where, "after the whole reply the connection can only be closed or reset")
    if notes.is_sound((*reply.where, "content")):
        _check_content(at, Part(where, reply.value), notes)


def _check_content(at: str, reply: Part, notes: Notes) -> None:
    content: list[dict[str, Any]] = [block for block in reply.value.get("content") or [] if block]
    if at == "inside tool json":
        inputs = [block.get("input") for block in content if str(block.get("type")).endswith("tool_use")]
        if not (inputs and (inputs[-1] or reply.value.get("tool_input_json"))):
            message = "the reply has no tool call with an input at its end; add one to `content`"
            notes.note(reply.where, message)
    if at == "inside character" and str(content).isascii():
        notes.note(reply.where, "every character of the reply is one byte long; write one that is not: `é`")


def _check_keys(each: Part, notes: Notes) -> None:
    by = each.value.get("by")
    if by is None:
        return
    for key, meant in _ONLY_WITH.items():
        if (*each.where, key) in notes.spots and by not in meant:
            words = " or ".join(f"`by: {word}`" for word in meant)
            notes.note((*each.where, key), f"`{key}` goes with {words} alone")
    if by == "stall" and not each.value.get("seconds") and (*each.where, "seconds") not in notes.spots:
        notes.note(each.where, "a `stall` lasts some time; write `seconds`")
    if by == "event":
        event = each.value.get("event")
        if not (event and is_text(event.get("type"))):
            notes.note(each.where, "which event? write `event: {type: …}`")
