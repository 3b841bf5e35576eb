"""Where a loop's process can be killed, as scenarios name it, and a scenario for each of several points."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

import msgspec

from .model import Crash, Scenario, TurnScript

Kind: TypeAlias = Literal["request", "answer", "tool", "usage", "done", "moment"]
HINT: Final = (
    "write `request N`, `answer N`, `answer N kept`, `tool NAME`, `tool NAME ended`, `tool NAME kept`, "
    "`usage`, `done` or `moment N`"
)
_POINT: Final = re.compile(
    r"(?P<fixed>usage|done)|moment (?P<moment>[1-9][0-9]*)"
    r"|request (?P<request>[1-9][0-9]*)|answer (?P<answer>[1-9][0-9]*)(?P<stored> kept)?"
    r"|tool (?P<tool>[a-zA-Z0-9_-]+)(?: (?P<state>ended|kept))?"
)


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One point of a turn after which its process is killed."""

    kind: Kind
    number: int = 1
    """Of a request, an answer or a recorded event, counted in the turn."""
    tool: str = ""
    ended: bool = False
    """The tool has returned or raised."""
    kept: bool = False
    """And a checkpoint was written after that."""


def parse_moment(text: str) -> Moment | None:
    """The moment `text` names; None where it names none."""
    found = _POINT.fullmatch(text)
    if found is None:
        return None
    if found["tool"]:
        kept = found["state"] == "kept"
        return Moment(kind="tool", tool=found["tool"], ended=bool(found["state"]), kept=kept)
    if found["answer"]:
        return Moment(kind="answer", number=int(found["answer"]), kept=bool(found["stored"]))
    if found["request"]:
        return Moment(kind="request", number=int(found["request"]))
    if found["moment"]:
        return Moment(kind="moment", number=int(found["moment"]))
    return Moment(kind="usage" if found["fixed"] == "usage" else "done")


def each_crash(scenario: Scenario) -> list[Scenario]:
    """The scenario, or one for each point of its list; those are whole and streamed by turns."""
    for index, turn in enumerate(scenario.turns):
        if turn.crash is not None and not isinstance(turn.crash.after, str):
            return [
                _at(scenario, index, turn, turn.crash, number, after)
                for number, after in enumerate(turn.crash.after)
            ]
    return [scenario]


def _at(scenario: Scenario, index: int, turn: TurnScript, crash: Crash, number: int, after: str) -> Scenario:
    turns = list(scenario.turns)
    turns[index] = msgspec.structs.replace(turn, crash=msgspec.structs.replace(crash, after=after))
    streams = scenario.streams
    spared = _cannot_apply(parse_moment(after))
    if streams == "both":
        streams = "only" if number % 2 else "never"
    name = after.replace(" ", "-").replace("_", "-").lower()
    return msgspec.structs.replace(
        scenario,
        id=f"{scenario.id}-after-{name}",
        title=f"{scenario.title} (killed after {after})",
        clauses=[clause for clause in scenario.clauses if clause not in spared],
        turns=turns,
        streams=streams,
    )


def _cannot_apply(moment: Moment | None) -> tuple[str, ...]:
    """Clauses that are about what is remembered, where nothing is yet that they could be about."""
    if moment is None or moment.tool or moment.number > 1 or moment.kind in ("usage", "done"):
        return ()
    return ("RESUME-2",) if moment.kept else ("RESUME-1", "RESUME-2")
