"""The probe of a service: what its finished answers look like, and whether it minds that its client hung up.

It is handed no limits, so none is looked for: those it has are declared.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from . import display
from .arrange import arrange
from .beside import Play, first_run, notes_of
from .case import Case
from .evidence import FINAL, TurnView
from .history import Answered, AnyEvent, Ended
from .looks import Mark, set_apart
from .loops.driver import Driver
from .probe import Probe, cannot_be_driven, hooks_used, notes, replies, startup, variants
from .probe_scripts import (
    CALL,
    CANCEL,
    HELLO,
    PAUSED,
    RESUMED_CANCEL,
    scenario_of,
    step_of,
)
from .scenario.model import Reply, Step

_LONG = "This is a longer answer of the probe: it has more words than the first, and ends all the same."
_PARTS = [
    {"type": "text", "text": "The first part of an answer."},
    {"type": "text", "text": "And the second."},
]
_THOUGHT = {"type": "thinking", "thinking": "What do they want to know?"}
_WANTED = "see what it prints, and give with --body and --header what it wants"
_ANYWHERE = "write text where the body is the answer, or leave --answer out"
_USED = {"input_tokens": 321, "output_tokens": 123}


def _answering(*steps: Step) -> list[Step]:
    return [*steps, Step(reply=Reply(content=[_THOUGHT, *_PARTS], usage=_USED))]


_PREAMBLE = {"type": "text", "text": "Let me look."}
LONG = scenario_of("long", [Step(reply=Reply(content=[{"type": "text", "text": _LONG}], usage=_USED))])
CALLING = scenario_of("calling", _answering(step_of("tool_use", [_PREAMBLE, *CALL])))
RESUMING = scenario_of("resuming", _answering(step_of("pause_turn", PAUSED)))
EMPTY = scenario_of("empty", [step_of("end_turn", [])])


async def explore_client(play: Play, driver: Driver, url: str) -> Probe:
    """Run the probe's scripts against a service. `driver` is its client, `url` the provider's."""
    first, play, ties = await first_run(play)
    if problem := cannot_be_driven(first, driver, url):
        return Probe(problem=problem)
    if problem := _looked_elsewhere(first):
        return Probe(problem=problem)
    long = await play(Case(LONG, "sse"))
    if problem := no_answers(first, long):
        return Probe(problem=problem)
    calling = await play(Case(CALLING, "json"))
    resuming = await play(Case(RESUMING, "json"))
    empty = await play(Case(EMPTY, "json"))

    exposes = set(driver.declaration.exposes) | set(driver.declaration.caps)
    for run in (first, long, calling, resuming):
        exposes.update(hooks_used(run, driver.declaration))
    exposes.discard("tools")  # its own are run out of our sight, also where they are called like the probe's
    cancels = CANCEL if replies(calling) > 1 else RESUMED_CANCEL if replies(resuming) > 1 else None
    if cancels is not None and _let_go(await play(Case(cancels, "json"))):
        exposes.add("cancel")
    finished, phrases = _finished(first, long, calling, resuming)
    if finished and (bare := _turn(empty)) and (bare.ended and bare.ended.look) and bare.last_reply:
        # Where nothing was said, less is to be seen; what is more is an error of its own.
        finished += [bare.ended.look] if not _adds(bare.ended.look, finished) else []
    both = variants(first, long)
    return Probe(
        exposes=sorted(exposes),
        variants=both,
        startup=round(startup(long), 3),
        finished=finished,
        phrases=phrases,
        ties=ties,
        notes=[*notes(both), *notes_of(ties), *_where(first)],
    )


def _finished(*runs: Sequence[AnyEvent]) -> tuple[list[list[Mark]], list[str]]:
    """The looks of those runs that came to a proper end, and what was added to their texts."""
    looks: list[list[Mark]] = []
    phrases: list[str] = []
    for events in runs:
        turn = _turn(events)
        last = turn.last_reply if turn else None
        if turn is None or last is None or turn.ended is None or turn.ended.look is None:
            continue
        texts = [display.squeezed(text) for text in last.texts]
        shown = turn.shown
        told = shown is None or all(text in display.joined(shown) for text in texts)
        if last is turn.last and last.stop_reason in FINAL and told:
            looks.append(list(turn.ended.look))
            phrases += display.own_phrases(shown or [], turn.known_texts())
    # What only some answers say may be a remark on how they ended.
    said = [phrase for phrase in dict.fromkeys(phrases) if phrases.count(phrase) > 1]
    return looks, said


def _turn(events: Sequence[AnyEvent]) -> TurnView | None:
    run = arrange(events)
    return run.turns[0] if run.turns else None


def _adds(look: Sequence[Mark], finished: list[list[Mark]]) -> bool:
    return any(not difference.startswith("no ") for difference in set_apart(look, finished))


def _let_go(events: Sequence[AnyEvent]) -> bool:
    """Whether the service asked nothing more once its client had hung up."""
    ended = any(isinstance(event, Ended) for event in events)
    over = any(isinstance(event, Answered) and event.kind in ("over", "rejected") for event in events)
    return ended and not over and replies(events) <= 2


def _where(events: Sequence[AnyEvent]) -> list[str]:
    """Where the answer is, for who has not said so."""
    ended = next((event for event in events if isinstance(event, Ended)), None)
    if ended is None or ended.look is None or ended.shown is not None:
        return []
    told = "nothing says where an answer has its text, so what users are told is not judged: add --answer"
    return [f"{told} {_place_of_text(ended.look) or 'text, json:PATH or sse:PATH'}"]


def _looked_elsewhere(events: Sequence[AnyEvent]) -> str:
    """That `--answer` names a place without a text, and the answer is in another: no fault of the service."""
    ended = next((event for event in events if isinstance(event, Ended)), None)
    if ended is None or ended.look is None or ended.shown is None:
        return ""
    if display.joined(display.of_this_turn(ended.shown, [])) or not (place := _place_of_text(ended.look)):
        return ""
    return f"--answer names a place that holds no text; the answer is at another: --answer '{place}'"


def no_answers(*runs: Sequence[AnyEvent]) -> str:
    """That the service never answers, although the model did: there is nothing to tell other ends from."""
    told = [
        event for events in runs for event in events if isinstance(event, Ended) and event.look is not None
    ]
    looks = [dict(event.look or ()) for event in told]
    if len(looks) < len(runs):
        return ""
    last = looks[-1]
    status, end, kind = last["status"], last["end"], last.get("type", "")
    if all(look["status"] == "none" for look in looks):
        return f"what it answers is no answer of HTTP's: {end}; look at it with curl -v"
    if all(look["status"] >= "400" for look in looks):
        return f"it answers with {status}, although the model's replies were whole: {_WANTED}"
    if any(event.shown is None or display.joined(display.of_this_turn(event.shown, [])) for event in told):
        return ""
    what = f"{status}, {kind or 'of no type'}{', not JSON' if 'body' in last else ''}"
    return f"--answer names a place that holds no text, and no other field holds it ({what}): {_ANYWHERE}"


def _place_of_text(look: Sequence[Mark]) -> str:
    """Where what the model said stands, as `--answer` names it; empty where nobody can tell."""
    [block] = HELLO.reply.content if HELLO.reply else []
    streams = ("type", "text/event-stream") in look
    pieces: dict[str, str] = {}
    for place, value in look:
        if place.startswith("$") and value.startswith('"'):
            pieces[place] = pieces.get(place, "") + str(msgspec.json.decode(value, strict=False))
    found = next((place for place, text in pieces.items() if text == block["text"]), None)
    return f"{'sse' if streams else 'json'}:{found}" if found else ""
