"""Tools and calls: what is called is defined, what is answered was called, and every call has an answer."""

from __future__ import annotations

import re
from typing import Any

from ..wire.blocks import SERVER_CALLS, is_server_result
from ..wire.ids import looks_real
from .notes import Notes
from .problems import nearest
from .script import Part, blocks, is_text, turns_of

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ENDINGS = ("result", "raises", "hangs")


def check_tools(values: dict[str, Any], notes: Notes) -> None:
    """Note tools that contradict themselves."""
    for name, tool in (values.get("tools") or {}).items():
        where = ("tools", name)
        if not _TOOL_NAME.fullmatch(name):
            notes.note(where, f"`{name}` is no name of a tool; use up to 128 letters, digits, `_` and `-`")
        answers = tool.get("answers")
        beside = [key for key in (*_ENDINGS, "delay") if key in tool]
        if answers is not None and beside:
            notes.note((*where, beside[0]), f"`{beside[0]}` stands beside `answers`; move it in there")
        if answers == []:
            notes.note((*where, "answers"), "`answers` is empty; write one, or leave it out")
        _check_behaviour(Part(where, tool), notes)
        open_to_all: int | None = None
        for index, answer in enumerate(answers or []):
            if answer is None:
                continue
            part = Part((*where, "answers", index), answer)
            _check_behaviour(part, notes)
            if open_to_all is not None:
                message = f"never given: answer {open_to_all + 1} has no `when`, so it fits all; put it last"
                notes.note(part.where, message)
                open_to_all = None
            elif answer.get("when") is None:
                open_to_all = index


def _check_behaviour(part: Part, notes: Notes) -> None:
    ends = [key for key in _ENDINGS if part.value.get(key)]
    if len(ends) > 1:
        names = " and ".join(f"`{key}`" for key in ends)
        notes.note((*part.where, ends[1]), f"a call ends in one way, not in {names}; keep one of them")
    if "exception" in part.value and part.value.get("raises") is None:
        notes.note(
            (*part.where, "exception"), "`exception` without `raises`; write the text it is raised with"
        )
    if part.value.get("delay", 0) < 0:
        notes.note((*part.where, "delay"), "`delay` is 0 or more")


def check_calls(values: dict[str, Any], notes: Notes) -> None:
    """Note calls of tools nobody defined, and results of calls nobody made."""
    tools = values.get("tools") or {}
    made: dict[str, Part] = {}
    for turn in turns_of(values):
        waiting: list[str] = []  # what a turn leaves open is not answered in the next
        for number, block in enumerate(blocks(turn)):
            kind = block.value.get("type")
            label = block.value.get("id")
            if kind == "tool_use" or kind in SERVER_CALLS:
                _check_label(block, made, notes)
            if kind == "tool_use":
                _check_client_call(block, tools, values.get("clauses", []), notes)
            elif kind in SERVER_CALLS:
                waiting.append(label if is_text(label) else f"{turn.where}{number}")
            elif is_server_result(block.value):
                _check_result(block, made, waiting, notes)


def _check_label(block: Part, made: dict[str, Part], notes: Notes) -> None:
    label = block.value.get("id")
    if not is_text(label) or looks_real(label):  # what looks real is sent as it is; any other is a label
        return
    if label in made:
        line = notes.spots[made[label].where].line
        message = f"`{label}` names the call in line {line} already; write a doubled id out (toolu_…)"
        notes.note(block.where, message)
    made[label] = block


def _check_client_call(block: Part, tools: dict[str, Any], clauses: list[Any], notes: Notes) -> None:
    name, given = block.value.get("name"), block.value.get("input")
    if not is_text(name) or not notes.is_sound(("tools",)):
        return
    if name not in tools:
        if "TOOL-5" not in clauses:
            hint = nearest(name, tools, listed=0) or "; define it there, or name TOOL-5 if that is the point"
            notes.note(block.where, f"the tool `{name}` is not defined under `tools`{hint}")
        return
    answers = tools[name].get("answers")
    if answers and not any(answer.get("when") in (None, given) for answer in answers):
        notes.note(
            block.where, f"no answer of `{name}` fits this input; add one, or a last one without `when`"
        )


def _check_result(block: Part, made: dict[str, Part], waiting: list[str], notes: Notes) -> None:
    label = block.value.get("tool_use_id")
    if label is None:
        if waiting:
            waiting.pop(0)
        else:
            notes.note(block.where, "the result of no call: no server-run call before it waits for one")
        return
    if label in waiting:
        waiting.remove(label)
    elif is_text(label) and not looks_real(label) and label not in made:
        notes.note(block.where, f"no call before it has the id `{label}`{nearest(label, made)}")
