"""SHOW: what the user sees of a turn."""

from __future__ import annotations

from collections.abc import Iterator

from .. import display
from ..evidence import FINAL, Exchange, Run, TurnView
from ..wire.same import blocks, brief, is_blank
from .base import Evidence, Finding, broken, check, count, held, request
from .failing import requests, same_conversation

_TELLING = 12
"""Characters of a text that are no chance when they turn up where nothing whole begins with them."""


@check("SHOW-1")
def every_text_of_the_last_reply_is_shown(run: Run) -> Iterator[Finding]:
    """All of them, in the order in which they came."""
    for turn, final in _answers(run):
        shown = display.joined(turn.shown or [])
        missing = display.missing_in_order(final.texts, shown)
        if missing is None:
            yield held(_told_by(turn), turn=turn, exchange=final)
            continue
        where = "out of order" if display.squeezed(missing) in shown else "not at all"
        yield broken(
            expected=f"{count(len(final.texts), 'text block')} of the reply to {request(final)}, in order.",
            happened=f"A text of the last reply was shown {where}: {brief(missing)} "
            f"(shown: {brief(shown) or 'nothing'})",
            evidence=_told_by(turn),
            turn=turn,
            exchange=final,
        )


@check("SHOW-2")
def a_reply_without_text_adds_no_message(run: Run) -> Iterator[Finding]:
    """Nothing blank is shown where a reply had nothing to read."""
    for turn in run.turns:
        # A function that returns a string has no other way to say that there is nothing to show.
        bubbles = turn.ended is not None and turn.ended.returned != "text"
        silent = next((one for one in turn.rounds if one.stop_reason and not one.texts), None)
        if turn.shown is None or silent is None or not bubbles:
            continue
        if any(_is_blank(one) for one in turn.shown):
            yield broken(
                expected=f"No message for the reply to {request(silent)}, which has no text.",
                happened=f"Of {count(len(turn.shown), 'message')} shown, one is blank.",
                evidence=_told_by(turn),
                turn=turn,
                exchange=silent,
            )
        else:
            yield held(_told_by(turn), turn=turn, exchange=silent)


@check("SHOW-3")
def text_is_shown_once(run: Run) -> Iterator[Finding]:
    """No text of the model's stands there more often than it was received."""
    said = ""
    for turn in run.turns:
        # A text may be part of another, and a tool or the user may have said it as well.
        said += display.squeezed(" ".join([turn.prompt, *_texts_of_tools(turn)])) + " "
        texts = [display.squeezed(text) for one in turn.exchanges for text in one.texts]
        said += " ".join(texts) + " "
        if not turn.shown or not texts:
            continue
        shown = display.joined(turn.shown)
        twice = next((text for text in texts if shown.count(text) > said.count(text)), None)
        if twice is None:
            yield _half_and_whole(turn) or held(_told_by(turn), turn=turn)
        else:
            yield broken(
                expected=f"Shown once: {brief(twice)}",
                happened=f"This was shown {shown.count(twice)} times: {brief(twice)}",
                evidence=_told_by(turn),
                turn=turn,
            )


def _half_and_whole(turn: TurnView) -> Finding | None:
    """What came of a stream that broke off, left standing beside the reply that took its place."""
    shown = [one for one in turn.shown or [] if not one.is_error]
    # Words of the loop's own between the two may say what the first one was.
    if turn.status not in (None, "completed") or display.own_words(shown, turn.known_texts()):
        return None
    whole = [text for one in requests(turn) if one.whole for text in one.texts]
    said = display.squeezed(" ".join([turn.prompt, *_texts_of_tools(turn), *whole]))
    seen = display.joined(shown)
    for lost, instead in _replaced(turn):
        starts = [display.squeezed(text)[:_TELLING] for text in lost.texts]
        left = [one for one in starts if len(one) == _TELLING and seen.count(one) > said.count(one)]
        if left:
            return broken(
                expected=f"Only the reply to {request(instead)}, which took the place of the one to "
                f"{request(lost)}, which broke off.",
                happened=f"The part that came before the break is shown as well: {brief(seen)}",
                evidence=_told_by(turn),
                exchange=instead,
                level="SHOULD" if any(_is_apart(one, left[0], instead) for one in shown) else None,
            )
    return None


def _replaced(turn: TurnView) -> Iterator[tuple[Exchange, Exchange]]:
    """Each stream that broke off, with the whole reply to the same request that came after it."""
    attempts = requests(turn)
    for lost in (one for one in attempts if one.lost):
        later = [one for one in attempts if one.number > lost.number and one.whole]
        instead = next((one for one in later if same_conversation(lost, one)), None)
        if instead is not None:
            yield lost, instead


def _is_apart(one: display.Shown, start: str, reply: Exchange) -> bool:
    """Whether a message has what begins so, and nothing of the reply."""
    words = display.squeezed(one.text)
    return start in words and not any(display.squeezed(text) in words for text in reply.texts)


@check("SHOW-4")
def work_in_progress_is_visible(run: Run) -> Iterator[Finding]:
    """Between a reply that calls a tool and the next request, `activity` says something."""
    if not any("activity" in one.state for turn in run.turns for one in turn.publishes):
        return
    for turn in run.turns:
        for one in turn.rounds:
            reaches = one.stop_reason is not None and (one.calls or one.server_calls)
            if not reaches or one.next is None:
                continue
            if _activity_between(turn, one, one.next):
                yield held("hook", exchange=one)
            else:
                name = str((one.calls or one.server_calls)[0].get("name"))
                yield broken(
                    expected=f"After the reply to {request(one)}, which calls {name}, an `activity` in the "
                    f"published state.",
                    happened=f"`activity` stayed empty until {request(one.next)}.",
                    evidence="hook",
                    exchange=one,
                )


@check("SHOW-6")
def the_answer_is_the_last_reply(run: Run) -> Iterator[Finding]:
    """The last thing shown of what was received is the last reply's text."""
    for turn, final in _answers(run):
        shown = display.joined(turn.shown or [])
        place = max(shown.rfind(display.squeezed(text)) for text in final.texts)
        others = [text for one in turn.rounds if one is not final for text in one.texts]
        others += _texts_of_tools(turn)
        own = display.squeezed(" ".join(final.texts))
        later = next((text for text in others if _stands_after(text, shown, place, own)), None)
        if later is None and (place >= 0 or not shown):
            if place >= 0:
                yield held(_told_by(turn), turn=turn, exchange=final)
            continue
        yield broken(
            expected=f"The answer is the text of the reply to {request(final)}: {brief(final.texts[-1])}",
            happened=f"What was shown {'ends with' if place >= 0 else 'instead is'}: {brief(later or shown)}",
            evidence=_told_by(turn),
            turn=turn,
            exchange=final,
        )


def _answers(run: Run) -> Iterator[tuple[TurnView, Exchange]]:
    """The turns that came to a proper end with text, where the loop lets us see what it showed."""
    for turn in run.turns:
        last = turn.last
        if turn.ended is None or turn.shown is None or turn.cancels or last is None:
            continue
        # A turn that ran out of time, or whose tool failed loudly, may have thrown its answer away. So may
        # one that takes a reply which calls a tool, and yet is the last, for none.
        thrown_away = turn.status in ("capped", "cancelled") or (last.calls and turn.status == "failed")
        if last.stop_reason in FINAL and last.texts and not thrown_away and not turn.ended_by_hook:
            yield turn, last


def _told_by(turn: TurnView) -> Evidence:
    return "outcome" if turn.ended and turn.ended.shown is not None else "hook"


def _is_blank(shown: display.Shown) -> bool:
    """A message without anything to see: no text, no picture, no card."""
    if shown.text.strip():
        return False
    return all(block == "" or is_blank(block) for block in blocks(shown.content))


def _texts_of_tools(turn: TurnView) -> list[str]:
    return [
        text
        for tool in turn.tools
        if tool.ended
        for text in display.texts_of(tool.ended.result if tool.ended.result is not None else tool.ended.error)
    ]


def _activity_between(turn: TurnView, one: Exchange, later: Exchange) -> bool:
    """Whether `activity` was set at any time from the reply to the next request."""
    begin = one.answer.at if one.answer else one.seen.at
    before = [state for state in turn.publishes if state.at < begin]
    between = [state for state in turn.publishes if begin <= state.at <= later.first_at]
    standing = before[-1:] if not between else []
    return any(state.state.get("activity") for state in (*standing, *between))


def _stands_after(text: str, shown: str, place: int, own: str) -> bool:
    """Whether an earlier text is shown behind the answer, or in its place."""
    wanted = display.squeezed(text)
    return bool(wanted) and wanted not in own and shown.rfind(wanted) > place
