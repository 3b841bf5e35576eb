"""What a well-formed scenario file may still get wrong: parts that do not fit together.

The checks run on the file's plain values, in which what is not well-formed is left out, so that one run
reports everything.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from .calls import check_calls, check_tools
from .crashes import HINT, parse_moment
from .file import OF_ONE_TURN
from .mishaps import check_mishaps
from .notes import Notes
from .problems import nearest
from .script import Part, blocks, breaks_off, is_text, lanes_of, replies, requests, steps, turns_of
from .telling import check_telling
from .texts import check_texts

_POINT = re.compile(r"(start|retry)|(request|first byte|event) ([1-9][0-9]*)|(?:after )?tool (.+)")


def check_meaning(values: dict[str, Any], notes: Notes, clauses: Collection[str]) -> None:
    """Note what does not fit together. Parts that are not well-formed are passed over."""
    _check_heading(values, notes, clauses)
    _check_form(values, notes)
    for turn in turns_of(values):
        _check_script(turn, values, notes)
        _check_limits(turn, values, notes)
        _check_cancel(turn, values, notes)
        _check_crash(turn, values, notes)
        _check_rival(turn, notes)
        _check_expect(turn, values, notes)
    _check_lanes(values, notes)
    check_tools(values, notes)
    check_calls(values, notes)
    check_texts(values, notes)


def _check_heading(values: dict[str, Any], notes: Notes, clauses: Collection[str]) -> None:
    for key in ("title", "why"):
        if is_text(values.get(key)) and not values[key].strip():
            notes.note((key,), f"`{key}` is empty; write a sentence")
    if values.get("clauses") == []:
        notes.note(("clauses",), "no clause is named; name at least one the scenario is about")
    seen: set[str] = set()
    for index, clause in enumerate(values.get("clauses", [])):
        if not is_text(clause):
            continue
        if clause in seen:
            notes.note(("clauses", index), f"`{clause}` is named twice")
        elif clause not in clauses:
            hint = nearest(clause, clauses, listed=0) or "; `loop-harness explain` lists them"
            notes.note(("clauses", index), f"unknown clause `{clause}`{hint}")
        seen.add(clause)


def _check_form(values: dict[str, Any], notes: Notes) -> None:
    """One turn at the top, or several in `turns`, never both."""
    spots = notes.spots
    if ("turns",) not in spots:
        if ("script",) not in spots:
            notes.note((), "nothing happens; write `script: …`, or `turns: …` for several user messages")
        return
    for key in OF_ONE_TURN:
        if (key,) in spots:
            notes.note((key,), f"`{key}` stands beside `turns`; move it into the turn it is meant for")
    if ("task", "prompt") in spots:
        notes.note(("task", "prompt"), "`prompt` stands beside `turns`; each turn has its own `prompt`")
    if values.get("turns") == []:
        notes.note(("turns",), "`turns` is empty; write at least one")


def _check_script(turn: Part, values: dict[str, Any], notes: Notes) -> None:
    where = (*turn.where, "script")
    if turn.value.get("script") == []:
        notes.note(where, "`script` is empty; write at least one step")
    _check_steps(turn, notes)
    check_mishaps(turn, notes, values.get("streams", "both"))
    check_telling(turn, notes, values.get("streams", "both"))


def _check_steps(part: Part, notes: Notes) -> None:
    endless = False
    for step in steps(part):
        kinds = [key for key in ("reply", "fault") if (*step.where, key) in notes.spots]
        if len(kinds) != 1:
            what = "both `reply` and `fault`" if kinds else "neither `reply` nor `fault`"
            notes.note(step.where, f"the step has {what}; write exactly one of them")
        if endless:
            notes.note(step.where, "never reached: the step before it repeats forever")
            endless = False
        endless = endless or step.value.get("repeat") == "forever"
    for reply in replies(part):
        _check_reply(reply, notes)


def _check_reply(reply: Part, notes: Notes) -> None:
    content = [block for block in reply.value.get("content", []) if block]
    calls = [block for block in content if str(block.get("type")).endswith("tool_use")]
    if reply.value.get("tool_input_json") is not None and not calls:
        message = "`tool_input_json` without a tool call in `content`; add the call"
        notes.note((*reply.where, "tool_input_json"), message)
    if reply.value.get("stop_reason") == "":
        notes.note((*reply.where, "stop_reason"), "`stop_reason` is empty; write a word, or leave it out")


def _check_limits(turn: Part, values: dict[str, Any], notes: Notes) -> None:
    limits = turn.value.get("limits") or {}
    for key, value in limits.items():
        if value is not None and value <= 0:
            notes.note((*turn.where, "limits", key), f"`{key}` is more than 0; leave it out for no limit")
    deadline = values.get("deadline", 10.0)
    clock = limits.get("wall_clock")
    if clock is not None and clock >= deadline:
        message = f"the turn is stopped after {deadline:g} s, before this binds; raise `deadline`"
        notes.note((*turn.where, "limits", "wall_clock"), message)


def _check_cancel(turn: Part, values: dict[str, Any], notes: Notes) -> None:
    at = (turn.value.get("cancel") or {}).get("at")
    where = (*turn.where, "cancel", "at")
    if at is None:
        return
    point = _POINT.fullmatch(at)
    if point is None:
        hint = (
            "write `start`, `request N`, `first byte N`, `event N`, `tool NAME`, `after tool NAME` or `retry`"
        )
        notes.note(where, f"`{at}` is no point of a turn; {hint}")
        return
    word, kind, number, tool = point.groups()
    if word == "start" and turn.value["cancel"].get("via", "flag") not in ("flag", "store"):
        notes.note(where, "at the start nothing runs yet that could be interrupted; write `request 1`")
    sound = notes.is_sound((*turn.where, "script"))
    if word == "retry" and sound and not any(map(_fails, steps(turn))):
        notes.note(where, "nothing fails in this turn's script, so nothing is tried again; add a `fault`")
    if kind == "first byte" and sound and not any(map(_delay, steps(turn))):
        notes.note(where, "no answer of this turn waits; write a `delay` for it to be cancelled in")
    if kind in ("request", "first byte") and int(number) > (reachable := requests(turn)):
        notes.note(where, f"request {number} never comes: the script answers {reachable:g}")
    if kind == "event" and values.get("streams", "both") != "only":
        notes.note(where, "events exist only in a stream; add `streams: only`")
    if tool and notes.is_sound((*turn.where, "script")):
        called = {block.value.get("name") for block in blocks(turn) if block.value.get("type") == "tool_use"}
        if tool not in called:
            hint = nearest(tool, map(str, called))
            notes.note(where, f"the tool `{tool}` is not called in this turn's script{hint}")


def _check_crash(turn: Part, values: dict[str, Any], notes: Notes) -> None:
    crash = turn.value.get("crash") or {}
    where = (*turn.where, "crash", "after")
    after = crash.get("after")
    points = after if isinstance(after, list) else [after]
    if after == []:
        notes.note(where, "`after` is an empty list; name a point")
    for index, point in enumerate(points):
        place = (*where, index) if isinstance(after, list) else where
        if not is_text(point):
            continue
        moment = parse_moment(point)
        if moment is None:
            notes.note(place, f"`{point}` is no point after which a process is killed; {HINT}")
        elif moment.kind in ("request", "answer") and moment.number > (most := requests(turn)):
            notes.note(place, f"{moment.kind} {moment.number} never comes: the script answers {most:g}")
        elif moment.tool and moment.tool not in values.get("tools", {}):
            hint = nearest(moment.tool, values.get("tools", {}))
            notes.note(place, f"the tool `{moment.tool}` is not defined under `tools`{hint}")
    turns = turns_of(values)
    if crash.get("then") == "move on" and turn.where == turns[-1].where:
        notes.note((*turn.where, "crash", "then"), "nothing comes after the last turn; write `rerun`")


def _check_rival(turn: Part, notes: Notes) -> None:
    at = (turn.value.get("rival") or {}).get("at")
    where = (*turn.where, "rival", "at")
    found = re.fullmatch(r"request ([1-9][0-9]*)", at) if is_text(at) else None
    if is_text(at) and found is None:
        notes.note(where, f"`{at}` is no point at which a second worker can begin; write `request N`")
    elif found and notes.is_sound((*turn.where, "script")) and int(found[1]) > (most := requests(turn)):
        notes.note(where, f"request {found[1]} never comes: the script answers {most:g}")
    if at is not None and turn.value.get("crash"):
        notes.note(where, "a turn whose process is killed has no second worker; drop `rival` or `crash`")


def _fails(step: Part) -> bool:
    return bool(step.value.get("fault")) or breaks_off(step.value.get("reply") or {})


def _delay(step: Part) -> float:
    return float((step.value.get("reply") or step.value.get("fault") or {}).get("delay") or 0)


def _check_expect(turn: Part, values: dict[str, Any], notes: Notes) -> None:
    expect = turn.value.get("expect") or {}
    where = (*turn.where, "expect")
    wanted = expect.get("requests")
    if wanted is not None and notes.is_sound((*turn.where, "script")) and wanted > (most := requests(turn)):
        notes.note((*where, "requests"), f"the script answers {most:g} requests, not {wanted}")
    if expect.get("status") == []:
        notes.note((*where, "status"), "`status` is an empty list; name one, or leave it out")
    for name, times in (expect.get("tools") or {}).items():
        if name not in values.get("tools", {}):
            hint = nearest(name, values.get("tools", {}))
            notes.note((*where, "tools", name), f"the tool `{name}` is not defined under `tools`{hint}")
        elif times < 0:
            notes.note((*where, "tools", name), "a tool runs 0 times or more")


def _check_lanes(values: dict[str, Any], notes: Notes) -> None:
    names: set[str] = set()
    for lane in lanes_of(values):
        name = str(lane.value.get("name"))
        if name in names:
            notes.note((*lane.where, "name"), f"the lane `{name}` is defined twice")
        names.add(name)
        if lane.value.get("when") == {}:
            notes.note((*lane.where, "when"), "`when` is empty and holds for every request; say for which")
        _check_steps(lane, notes)
        check_mishaps(lane, notes, None)
        check_telling(lane, notes, None)
