"""CLEAN-7: what is alive after each of some equal turns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ..evidence import Run, TurnView
from ..history import Census
from ..wire.same import brief
from .base import Finding, broken, check, held

POINTS = 3
"""Counts it takes to say that something grows: a pool is filled once, a leak goes on."""
_WORKER = re.compile(r"_[0-9]+$")


@check("CLEAN-7")
def nothing_grows_from_turn_to_turn(run: Run) -> Iterator[Finding]:
    """Judged over the last turns of a conversation of equal ones."""
    turns = run.turns[-POINTS:]
    if len(turns) < POINTS or len({_shape(turn) for turn in turns}) > 1:
        return
    if not all(turn.census and turn.ended for turn in turns):
        return
    counts = [_alive(turn.census[0]) for turn in turns]
    for kind in counts[0]:
        sizes = [len(count[kind]) for count in counts]
        if all(earlier < later for earlier, later in pairwise(sizes)):
            yield broken(
                expected=f"No more {kind} after the third of three equal turns than after the first.",
                happened=f"There were {', then '.join(map(str, sizes))}{_which(counts[-1][kind])}.",
                evidence="hook",
                turn=turns[-1],
            )
            return
    yield held("hook", turn=turns[-1])


def _alive(census: Census) -> dict[str, list[str]]:
    return {
        "threads": _threads(census.threads),
        "tasks": census.tasks,
        "child processes": census.children,
        "temporary files": census.files,
        "sockets": [""] * census.sockets,
    }


def _threads(names: list[str]) -> list[str]:
    """An executor counts once, however many workers it has; a new one each turn counts each time."""
    executors = {_WORKER.sub("", name) for name in names if _WORKER.search(name)}
    return [name for name in names if not _WORKER.search(name)] + sorted(executors)


def _which(names: list[str]) -> str:
    told = sorted({name for name in names if name})
    return f": {brief(told)}" if told else ""


def _shape(turn: TurnView) -> Any:
    """What makes turns equal: the kinds of the steps, the limits, the cancellation."""
    script = turn.script
    if script is None:
        return turn.index
    steps = [
        (step.repeat, step.reply and (step.reply.stop_reason, len(step.reply.content)))
        for step in script.script
    ]
    return repr((steps, script.limits, script.cancel))
