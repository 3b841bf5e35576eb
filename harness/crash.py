"""A turn whose process was killed and which was played again: presented as one turn.

What the dead process had done is part of the turn as far as a checkpoint remembers it. The rest is lost:
a reply that no checkpoint was written after is a broken answer, and a tool, a record of usage or a publish
with `done` that none was written after is taken out, since no new process can know of it. Where there was no
checkpoint, the turn is what the new process did.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .evidence import TurnView
from .exchange import Exchange, ToolRun
from .history import Broken, Crashed, Published, StoreSet, TurnBegan, UsageRecorded
from .keys import is_key


@dataclass(eq=False)
class Crash:
    """What became of a turn whose process was killed."""

    event: Crashed
    rerun: TurnBegan | None = None
    """The turn began again; None where it never did."""
    kept_at: float | None = None
    """Seconds at which the last checkpoint was written that was there at the end; None: there was none."""
    written: list[float] = field(default_factory=list)
    """Seconds at which the dead process wrote a checkpoint, also one it removed later."""
    exchanges: list[Exchange] = field(default_factory=list)
    """Requests of the dead process."""
    tools: list[ToolRun] = field(default_factory=list)
    """Tools the dead process had started."""
    lost_tools: list[ToolRun] = field(default_factory=list)
    """Those of them that no checkpoint remembers: they may have run, wholly or in part."""

    @property
    def at(self) -> float:
        """Seconds at which the process died."""
        return self.event.at

    @property
    def kept(self) -> list[Exchange]:
        """Answered requests whose reply a checkpoint was written after."""
        return [one for one in self.exchanges if one.whole]

    def remembered(self, at: float) -> bool:
        """Whether a checkpoint was written after this moment."""
        return self.kept_at is not None and at < self.kept_at


def settle(turn: TurnView) -> None:
    """Take out of the turn what was lost when its process was killed."""
    crash = turn.crash
    if crash is None:
        return
    writes = _writes(turn, crash)
    there = [one.at for one in writes if one.key in crash.event.store_keys]
    crash.written, crash.kept_at = [one.at for one in writes], there[-1] if there else None
    crash.exchanges = [one for one in turn.exchanges if one.seen.at <= crash.at]
    crash.tools = [run for run in turn.tools if run.started.at <= crash.at]
    crash.lost_tools = [run for run in crash.tools if run.ended is None or not crash.remembered(run.ended.at)]
    for one in crash.exchanges:
        if one.delivered is None or not crash.remembered(one.delivered.at):
            one.broken = one.broken or Broken(request=one.number, at=crash.at, turn=turn.index, by="crash")
    turn.tools = [run for run in turn.tools if run not in crash.lost_tools]
    turn.usages = [one for one in turn.usages if _stays(one, crash)]
    turn.publishes = [one for one in turn.publishes if not one.done or _stays(one, crash)]
    if crash.kept_at is None and crash.rerun is not None:
        _begin_anew(turn, crash)


def _begin_anew(turn: TurnView, crash: Crash) -> None:
    """Nothing was left for the new process to go on with: what the dead one did is no part of its turn."""
    turn.exchanges = [one for one in turn.exchanges if one.seen.at > crash.at]
    turn.publishes = [one for one in turn.publishes if one.at > crash.at]
    turn.reports = [one for one in turn.reports if one.at > crash.at]
    turn.store = [one for one in turn.store if one.at > crash.at]
    turn.side = [one for one in turn.side if one.seen.at > crash.at]
    if crash.rerun is not None:
        turn.began = crash.rerun


def _stays(event: UsageRecorded | Published, crash: Crash) -> bool:
    return event.at > crash.at or crash.remembered(event.at)


def _writes(turn: TurnView, crash: Crash) -> list[StoreSet]:
    """The checkpoints the dead process wrote."""
    mine, declared = turn.began.conversation, turn.run.declaration
    sets = [one for one in turn.store if isinstance(one, StoreSet) and one.at <= crash.at]
    return [one for one in sets if is_key("checkpoint", one.key, mine, declared)]
