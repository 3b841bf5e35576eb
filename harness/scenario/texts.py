"""Texts that are compared must tell themselves apart: each once, none part of another.

The checks look for a reply's text in what a loop shows. Were one text part of another, of the prompt or of
a tool's output, a loop that shows only the other would pass, or one that shows both would fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..display import all_texts
from .notes import Notes, Where
from .problems import nearest
from .script import Part, answering_reply, blocks, is_text, lanes_of, steps, turns_of


class Text(NamedTuple):
    """A text of the file and where it stands."""

    where: Where
    text: str


def check_texts(values: dict[str, Any], notes: Notes) -> None:
    """Note texts that cannot be told apart, and expected texts that no reply has."""
    turns = turns_of(values)
    compared = [text for part in [*turns, *lanes_of(values)] for text in reply_texts(part)]
    _check_apart(compared, notes)
    _check_not_elsewhere(compared, list(_other_texts(values)), notes)
    for turn in turns:
        _check_repeated(turn, notes)
        _check_answer(turn, notes)
        _check_shown(turn, notes)


def reply_texts(part: Part) -> Iterator[Text]:
    """The text blocks of a script's replies, blank ones left out: nobody shows them."""
    for block in blocks(part):
        text = block.value.get("text")
        if block.value.get("type") == "text" and is_text(text) and text.strip():
            yield Text(block.where, text)


def _check_apart(compared: list[Text], notes: Notes) -> None:
    for index, later in enumerate(compared):
        for earlier in compared[:index]:
            line = notes.spots[earlier.where].line
            if later.text.strip() == earlier.text.strip():
                notes.note(later.where, f"the same text stands in line {line}; make the two differ")
                break
            if later.text.strip() in earlier.text or earlier.text.strip() in later.text:
                message = f"this text and that in line {line} are part of one another; make them differ"
                notes.note(later.where, message)
                break


def _check_not_elsewhere(compared: list[Text], others: list[Text], notes: Notes) -> None:
    for text in compared:
        for other in others:
            if text.text.strip() in other.text:
                line = notes.spots[other.where].line if other.where in notes.spots else 1
                notes.note(text.where, f"this text is part of that in line {line}; make them differ")
                break


def _check_repeated(turn: Part, notes: Notes) -> None:
    for step in steps(turn):
        if step.value.get("repeat", 1) == 1:
            continue
        for index, block in enumerate((step.value.get("reply") or {}).get("content", [])):
            if block and block.get("type") == "text" and str(block.get("text")).strip():
                message = "the text of a repeated step cannot be told from its repetition; leave it out"
                notes.note((*step.where, "reply", "content", index), message)


def _check_answer(turn: Part, notes: Notes) -> None:
    expect = turn.value.get("expect") or {}
    answer = expect.get("answer")
    if answer is None or None in answer or not notes.is_sound((*turn.where, "script")):
        return
    reply = answering_reply(turn, expect.get("requests"))
    written = [] if reply is None else [text.text for text in _texts_of(reply)]
    if answer != written:
        message = f"the text blocks of the last reply are {written}, not {answer}; make them equal"
        notes.note((*turn.where, "expect", "answer"), message)


def _texts_of(reply: Part) -> Iterator[Text]:
    # A reply is a script of one step to the walk over blocks.
    return reply_texts(Part(reply.where[:-3], {"script": [{"reply": reply.value}]}))


def _check_shown(turn: Part, notes: Notes) -> None:
    shown = (turn.value.get("expect") or {}).get("shown")
    if not shown or not notes.is_sound((*turn.where, "script")):
        return
    written = [text.text for text in reply_texts(turn)]
    for index, text in enumerate(shown):
        if text is not None and text not in written:
            hint = nearest(text, written, listed=0)
            where = (*turn.where, "expect", "shown", index)
            notes.note(where, f"no reply of this turn has the text `{text}`{hint}")


def _other_texts(values: dict[str, Any]) -> Iterator[Text]:
    """Texts a loop may show that are no reply: prompts and what tools return."""
    prompt = (values.get("task") or {}).get("prompt")
    if is_text(prompt):
        yield Text(("task", "prompt"), prompt)
    for turn in turns_of(values):
        if turn.where and is_text(turn.value.get("prompt")):
            yield Text((*turn.where, "prompt"), turn.value["prompt"])
        for block in blocks(turn):
            if str(block.value.get("type")).endswith("_result"):
                yield from (Text(block.where, text) for text in all_texts(block.value.get("content")))
    for name, tool in (values.get("tools") or {}).items():
        for key in ("result", "raises"):
            yield from (Text(("tools", name, key), text) for text in all_texts(tool.get(key)))
        for index, answer in enumerate(tool.get("answers") or []):
            where = ("tools", name, "answers", index)
            yield from (
                Text(where, text)
                for key in ("result", "raises")
                for text in all_texts((answer or {}).get(key))
            )
