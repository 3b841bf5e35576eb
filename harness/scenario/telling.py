"""What a file may get wrong about the events it writes itself."""

from __future__ import annotations

from .notes import Notes
from .script import Part, is_text, replies


def check_telling(part: Part, notes: Notes, streams: str | None) -> None:
    """Note what does not fit together in the `events` of a turn's or lane's replies.

    `streams` is the scenario's; None where the requests may come from anybody.
    """
    for reply in replies(part):
        where = (*reply.where, "events")
        events = reply.value.get("events")
        if events is None:
            continue
        if not events:
            notes.note(where, "`events` is empty: nothing would be sent; leave it out, or write a `break`")
        if streams == "never":
            notes.note(where, "`events` are sent in streams alone, and the scenario has none")
        for index, event in enumerate(events):
            if isinstance(event, dict) and not is_text(event.get("type")):
                notes.note(
                    (*where, index), "an event is named by its `type`; write one, or the event as text"
                )
        if "tool_input_json" in reply.value:
            notes.note((*reply.where, "tool_input_json"), "it is not used: `events` says what is streamed")
